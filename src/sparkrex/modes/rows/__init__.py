"""Row patterns: SQL:2016 MATCH_RECOGNIZE. A plan, three matchers, and the choice among them."""
