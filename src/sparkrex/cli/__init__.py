"""The `rex` command: `rex run`, `rex explain`, `rex warmup`, `rex version`.

Presentation only: it reads arguments and files, calls the public functions of the package, writes the result and says
how it went. It uses the package's public names, pyarrow for files, and, in `session.py` alone, pyspark. Neither pyspark
nor numba is loaded before a query needs it.
"""
