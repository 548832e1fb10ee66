"""Bargaining solutions: Φ weighs what stakeholders gain over the disagreement point d."""
