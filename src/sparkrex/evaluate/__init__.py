"""Conditions over rows, for all modes: truth bitmaps over blocks of arrays, and bytecode for what reads the match."""
