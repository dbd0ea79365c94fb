"""Columns against plain Python."""
