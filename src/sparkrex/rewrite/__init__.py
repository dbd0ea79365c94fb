"""Rewritings of segment searches, one rule a module, each with a sketch of its proof."""
