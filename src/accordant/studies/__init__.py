"""Studies: one case repeated over seeds, sizes, models and rewards, with intervals over seeds.

declaration.py  what a study file says
cells.py        the runs that it asks for: seeds × rows × variants
checks.py       what is refused before anything is learned
execution.py    carrying runs out, each once
comparison.py   means over seeds, and differences that are read together
effects.py      what actions change about a continuous outcome, by group
statements.py   whether published statements come out
result.py       the typed result; summary.py makes it, and its table
page.py         its page
folder.py       all of it: a folder that can be continued
terminal.py     what the command prints
"""
