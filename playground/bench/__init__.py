"""Benchmarks whose printed figures go into docs/LOG.md. Machines are noisy: they compare pairs and report ratios."""
