"""Optimized Pattern Search (OPS): Knuth-Morris-Pratt for arbitrary conditions and possessive stars."""
