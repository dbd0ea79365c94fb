"""Random windows with row patterns over random small tables: the engine must answer as the oracle does."""
