"""The benchmark of segment search: the 11 templates of the T-ReX paper, plans, baselines, figures."""
