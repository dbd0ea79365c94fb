"""Workloads of event patterns, after Kolchinsky and Schuster: many patterns, one plan that shares sub-patterns."""
