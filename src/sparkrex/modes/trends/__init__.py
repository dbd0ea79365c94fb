"""Trend aggregates (COGRA): counts and sums over all trends of a pattern, without building a trend."""
