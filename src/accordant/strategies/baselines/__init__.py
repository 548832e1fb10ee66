"""Baselines and references: what every strategy must be compared with."""
