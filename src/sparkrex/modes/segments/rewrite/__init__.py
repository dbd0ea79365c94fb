"""Rules over segment searches and over logical plans: `rules` lists them, `driver` applies them and keeps the steps."""
