"""Tests of files that workers read: what needs no Spark."""
