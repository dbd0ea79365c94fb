"""Row patterns: SQL:2016 MATCH_RECOGNIZE. A plan, four matchers, and the choice among them."""
