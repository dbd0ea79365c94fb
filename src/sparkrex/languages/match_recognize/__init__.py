"""MATCH_RECOGNIZE from text to a clause and a row pattern, for rows and for segments."""
