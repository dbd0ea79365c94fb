"""On Spark: golden cases, ordering, batch behaviour, Connect. All tests share one session and need a JVM."""
