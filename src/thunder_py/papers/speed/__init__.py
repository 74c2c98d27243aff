"""Run times and operation counts of the Thunder article."""
