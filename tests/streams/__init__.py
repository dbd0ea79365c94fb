"""Streams without Spark."""
