"""Measurements. A workload carries its expected answer: a fast wrong answer is a failure."""
