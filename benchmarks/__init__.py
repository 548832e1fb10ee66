"""Benchmarks: every file states its peer and the work, and prints ratios measured in one run."""
