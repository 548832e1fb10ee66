"""Simulated worlds of known truth, by which everything that reports uncertainty is judged."""
