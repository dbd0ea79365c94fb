"""The `nfab` matcher: event queries by an automaton with a shared buffer of matches. May import what `physical` may."""
