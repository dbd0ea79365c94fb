"""Which matcher runs a plan, and why not the others."""
