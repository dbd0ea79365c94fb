"""Tests of modes as such: that the tables and protocols are all a mode needs."""
