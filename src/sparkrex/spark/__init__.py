"""Spark: the host, the batch pipeline, the worker. The only folder that imports pyspark.

A relation becomes: project in Spark, repartition by key, `mapInArrow`, select in Spark. The rest is the engine's.
"""
