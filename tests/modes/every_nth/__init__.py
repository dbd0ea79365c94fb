"""A mode and a language of their own, in a folder outside the package: `t EVERY_NTH (3 PARTITION BY k ORDER BY ts)`.

The result is every n-th row of each partition, in order. What is here is all that such a mode needs.
"""
