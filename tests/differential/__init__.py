"""The same question asked twice: each case through the engine and through the oracle, in chunks and whole."""
