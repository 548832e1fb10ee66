"""Debating the decision of one context of a finished run, or who of several rows gets an action that is scarce.

options.py      what a user may say
claims.py       E as a scenario: actions, or rows, are the claimants
opening.py      what is found in a run before anybody speaks, and who does
section.py      the debate, and what stands beside it
result.py       the typed section that is added to the run
terminal.py     what the command does and prints
"""
