"""The algebra: patterns, expressions and plans as immutable trees, and walks over them. Imports the foundation only."""
