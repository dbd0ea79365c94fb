"""Row patterns in WINDOW (feature R020): an oracle by definition, random queries, and the engine held to both."""
