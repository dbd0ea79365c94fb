"""Tests of the public functions themselves: what they pass on, and what they say when something goes wrong."""
