"""The matcher of event queries: NFAb automata, a shared match buffer, merged runs."""
