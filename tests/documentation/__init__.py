"""The documentation as a test: examples of pages are run, and the page of errors is written from real errors."""
