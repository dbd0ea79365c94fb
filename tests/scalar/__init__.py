"""Expressions and how they are written."""
