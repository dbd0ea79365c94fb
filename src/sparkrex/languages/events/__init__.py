"""What the languages of event streams share: clauses, what is said of the stream, sizes of windows, references."""
