"""Compromise functions: a score Φ on the expected rewards of each action, and a selection Ψ.

One rule, one file: on top the score as a pure array function, below it the registered rule.
Formulas: Vineis, Perelli, Tolomei (2025), "Beyond Predictions", list of compromise functions.
"""
