"""Segment search: T-ReX's physical operators over batches of search spaces."""
