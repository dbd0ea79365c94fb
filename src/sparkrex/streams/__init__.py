"""Streams without Spark: what one bucket of keys does with the rows of a batch, as a function of its state.

`packing` puts rows into blobs, `operator` is the function, and the rest is what it is made of: the state's `head`, the
`order` of rows, `groups` of slots with their keys; `looking` shows a state without its query. It knows protocols, no
mode, and nothing of PySpark.
"""
