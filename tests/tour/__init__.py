"""Tests of `examples/tour`."""
