"""From a search to the cheapest operators: logical plans, samples, estimates, dynamic programming, rule planners."""
