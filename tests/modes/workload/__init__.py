"""Workloads of event patterns."""
