"""The `rex` command. `main.py` lists its commands; each is defined where it is carried out.

Presentation only: it reads arguments and files, calls the public functions of the package, writes the result and says
how it went. It uses the package's public names, pyarrow for files, and pyspark in `session.py`, `spark_output.py` and,
for streams, `run_stream.py`, `stream_sources.py` and `batches.py`. Neither pyspark nor numba is loaded before a query
needs it.
"""
