"""Streams on Spark, a thin layer around `sparkrex.streams`, which decides everything and knows no Spark.

A relation over a stream becomes: the projection of batch with a hash of the keys, `mapInArrow` that packs rows into
blobs by bucket (`packing`), `transformWithState` over buckets (`processor`), `observe` (`metrics`), `mapInArrow` that
unpacks. `relation` puts these together; `watermark`, `keys`, `around` and `requirements` refuse what cannot work before
a query starts; `checkpoint` reads the state of a query that has stopped.
"""
