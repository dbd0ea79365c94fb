"""Tests of the languages."""
