"""Studies: one case repeated over seeds, sizes, models and rewards, with intervals over seeds.

declaration.py  what a study file says
cells.py        the runs that it asks for: seeds × rows × variants
execution.py    carrying cells out, each once, into a folder that can be continued
comparison.py   means over seeds, and differences that are read together
statements.py   whether published statements come out
result.py       the typed result
page.py         its page
terminal.py     what the command prints
"""
