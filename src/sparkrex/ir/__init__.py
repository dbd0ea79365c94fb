"""The algebra: patterns, expressions and plans as immutable trees. Imports the foundation only."""
