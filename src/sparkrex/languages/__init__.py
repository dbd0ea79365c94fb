"""Query languages that more than one mode answers. A language of one mode only stands in the folder of its mode."""
