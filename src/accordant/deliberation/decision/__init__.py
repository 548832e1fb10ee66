"""Debating the decision of one context of a finished run, or who of several rows gets an action that is scarce.

options.py          what a user may say
claims.py           E as a scenario: actions, or rows, are the claimants
opened_decision.py  what is found in a run before anybody speaks, and who does
section.py          the debate, and what stands beside it
result.py           the typed section that is added to the run
terminal.py         what the command does and prints

contrast.py          what is at stake between the decision and another action: two knowledge bases, with words
dialogue.py          stakeholders ask why the run decides as it does
dialogue_result.py   the typed section of that
dialogue_terminal.py what the command does and prints, and how a person asks
"""
