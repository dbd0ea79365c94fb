"""Hosts: who runs the SQL around the patterns and evaluates row-local expressions. `host.py` is the protocol."""
