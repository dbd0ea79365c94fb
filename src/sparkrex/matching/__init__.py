"""What modes share about matches: the contract of matchers, reading, aggregation, output."""
