"""The matcher whose time is linear in rows whatever the pattern: conditions that rows alone decide."""
