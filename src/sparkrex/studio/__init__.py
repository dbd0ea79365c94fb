"""`rex studio`: a page in the browser on which queries are written over files, their matches drawn while one types.

The server (`app`, `serving`) answers this machine only: `access` says who may ask, `limits` how much, `asked` what. It
runs no query itself. `searcher` starts a process of its own for that (`worker`, `searches`), in which DuckDB opens no
file, and which is interrupted when an answer is no longer wanted. `descriptions`, `examples` and `as_python` are what
the page shows of tables and queries. `page/` is what the browser loads, built by `make studio` from `studio/`.
"""
