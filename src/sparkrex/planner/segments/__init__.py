"""Plans for segment search: logical trees with windows, physical alternatives, statistics and cost."""
