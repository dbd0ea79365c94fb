"""Segment search, after the T-ReX paper: segment variables, And, Not, ALL MATCHES."""
