"""Deliberate faults put into the engine; the suites must catch every one."""
