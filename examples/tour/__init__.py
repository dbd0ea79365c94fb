"""`make demo`: a tour of all ways to ask, on Spark, over generated data in which the answers were planted.

    python -m examples.tour [--memory] [--out out]

Each stop is a module with its data, its query, and what must come out: `rows`, `windows`, `segments`, `events`,
`trends`, `sqlts`, `workload`, `stream`. `stop` says what a stop is, `planting` helps to make data, `hosts` runs queries
on Spark or in memory, `page` writes what was found into one HTML file. The exit code is 0 if every stop found what was
planted and nothing else.
"""
