"""Row patterns in windows (feature R020): every row has a match of its own, searched in the frame that begins there.

`plan` and `analyze` say what is meant, `frames` which rows a search may see, `attempts` searches from the rows that are
tried, `reader` and `functions` read the values of calls, `engine` puts it together. Patterns, conditions and kernels
are those of `modes.rows`.
"""
