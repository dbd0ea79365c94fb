"""Pictures: the rows of a query with its matches on them, as SVG, as a page that can be zoomed, and as PNG.

What is drawn and how are apart. `picture` has what is drawn, as frozen values: `from_query` and `from_result` make it,
by the columns that `columns` chooses and with the points that `downsampling` leaves. `svg` and `html` draw it; `ticks`,
`palette` and `layout` know nothing of queries. `plot` is what users are given; `changes` compares two queries, and
`regions` gives matches to other tools. It may import the pipeline, queries, and what modes share; no mode.
"""
