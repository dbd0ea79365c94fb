"""Arrow columns and what matchers read of them: order, partitions, shifted reads, codes. Imports the foundation."""
