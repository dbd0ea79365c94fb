"""Conditions over rows."""
