"""The algebra: expressions and how they are written."""
