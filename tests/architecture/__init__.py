"""Tests of the shape of the code rather than of what it computes: imports, the public list, pickling, error codes."""
