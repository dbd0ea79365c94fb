"""Rules over segment searches and over logical plans, one module each; `driver` keeps every step for EXPLAIN."""
