"""Tests of the face of workloads: sources of patterns, what is found, runs whose patterns change."""
