"""Hosts: who runs the SQL around the patterns and evaluates row-local expressions. `host.py` is the
protocol; a module per host implements it. Imports the foundation and `ir`.
"""
