"""The operators of segment search, and the conditions that they ask of many segments at once."""
