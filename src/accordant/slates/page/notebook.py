"""Slates in a cell of a notebook: the first lists."""

from __future__ import annotations

from accordant.faces import representations
from accordant.naming import counted
from accordant.report.labels import shortened
from accordant.report.notebook.snippet import MOST_COLUMNS, MOST_ROWS, Shown, Table, cut, left_out, snippet
from accordant.report.scale import percent
from accordant.slates.slates import Slates


@representations.register("Slates")
def slates(found: Slates) -> str:
    """Return the lists of the first users, the first place first."""
    n, places = min(MOST_ROWS, found.n_users), min(MOST_COLUMNS, found.k)
    rows = tuple(
        (str(user), *(names + ("",) * (places - len(names))))
        for user in range(n)
        for names in [cut(found.names(user), places)]
    )
    more = left_out(("lists", n, found.n_users), ("places", places, found.k))
    lead = []
    if found.n_users:
        lead.append(f"A tie was broken in {percent(float(found.tied.mean()))} of lists.")
    raised = {name: int(flag.sum()) for name, flag in found.flags.items() if flag.any()}
    lead += [f"{name.replace('_', ' ')}: {counted(times, 'list')}." for name, times in raised.items()]
    head = ("User", *(f"Place {place}" for place in range(1, places + 1)))
    table = Table(head, rows, "", more, numbers=False)
    title = f"{shortened(found.rule)}: {counted(found.n_users, 'list')} of up to {counted(found.k, 'item')}"
    return snippet(Shown(title, tuple(lead), (table,)))
