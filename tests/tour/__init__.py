"""Tests of `examples/tour`, the tour of `make demo`. Its run on Spark is in `tests/spark/test_tour.py`."""
