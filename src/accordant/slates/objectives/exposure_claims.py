"""Claims to attention: what share of it an item or provider should have, and how far behind that it is.

    claim(p)   the share of attention that p should have; claims sum to 1
    got(p)     the share of attention that p had so far
    behind     claim / (claim + got)                                        [ours]

`behind` is 1 for whoever had nothing, ½ for whoever had its claim, 1/3 for whoever had twice its claim. It needs no
scale, and unlike min(1, got / claim), the proportional measure of SCRUF-D, it tells those beyond their claim apart.
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue

EVEN = 0.5  # before anybody had attention nobody is ahead or behind


def check_power(power: float) -> None:
    """Stop unless a power is finite and at least 0.

    Raises
    ------
    InputError
        If it is not.
    """
    if not 0 <= power < np.inf:
        raise InputError(f"power is {power}; allowed: a number of at least 0")


def item_claims(catalogue: Catalogue, power: float) -> Values:
    """Return popularity^power of open items over its sum, shape (item,); 0 for closed ones, which are never shown.

    A power of 0 claims the same for all open items; so does a catalogue in which no open item was ever consumed.
    """
    wanted = np.where(catalogue.open, catalogue.popularity**power, 0.0)
    return shares(wanted) if wanted.sum() > 0 else shares(catalogue.open.astype(np.float64))


def shares(amounts: Values) -> Values:
    """Return amounts over their sum; 0 for all if there is nothing to share."""
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros_like(amounts)


def behind(claims: Values, attention: Values) -> Values:
    """Return claim / (claim + got), shape of the arguments.

    Parameters
    ----------
    claims
        Shares that should be; a claim of 0 is behind by 0.
    attention
        Amounts that were, at least 0; if all are 0, everybody is even.
    """
    if attention.sum() <= 0:
        return np.full(len(claims), EVEN)
    both = claims + shares(attention)
    return np.divide(claims, both, out=np.zeros_like(both), where=both > 0)
