"""Pictures by matplotlib, in the colours, marks, order and names of reports.

Matplotlib is the extra ``plot``; it is imported when something is drawn.
"""
