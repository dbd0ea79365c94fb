"""Tests of `rex studio`: who may ask, what is answered, and the page in a browser."""
