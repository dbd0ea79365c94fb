"""Random MATCH_RECOGNIZE queries over random small tables: the engine must answer as the oracle does."""
