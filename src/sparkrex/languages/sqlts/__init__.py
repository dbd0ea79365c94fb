"""SQL-TS: row patterns in FROM, `SEQUENCE BY key AS (X, *Y, Z)`, with their conditions in WHERE. A query is translated
to MATCH_RECOGNIZE, token by token, so that what is printed is what is run."""
