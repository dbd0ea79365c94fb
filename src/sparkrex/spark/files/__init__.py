"""Parquet files named by path on Spark: read in the workers, where that is proven to give what Spark's reader gives.

`opening` gives a path the meaning of `spark.read`. `choosing` decides between that and the fast way: files are listed
by Spark (`listing`), types proven from their footers (`footers`), the input and what Spark would project understood as
expressions that workers evaluate as Spark does (`simple_input`, `row_sql`, `row_language`), partition folders read
(`folders`), row groups pruned (`statistics`) and shared out (`units`). `reading` and `arriving` run in the workers.
"""
