"""Programs that show SparkRex at work; they use the public names only."""
