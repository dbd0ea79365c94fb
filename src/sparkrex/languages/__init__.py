"""Query languages that more than one mode answers, and what languages share; others are in the folders of modes."""
