"""`TimeBased`: settlement rules whose agents give way with time alone, by bands 1 − t^e."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.agents.concession import Concession, concessions
from accordant.deliberation.settlement.bands import FirstCommon
from accordant.deliberation.settlement.settlement import Settlement, Table
from accordant.errors import InputError


@dataclass(frozen=True)
class TimeBased(Settlement):
    """A rule that reads the exponents of concessions; any other concession is refused."""

    def check(self, names: Sequence[str], conceding: Sequence[Concession]) -> None:
        """Refuse concessions that do not depend on time alone."""
        exponents_of(self.name, names, conceding)


def checked_steps(steps: int) -> None:
    """Raise InputError unless steps are a whole number of at least 1."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise InputError(f"steps are {steps!r}; allowed: a whole number, at least 1")


def told(table: Table, found: FirstCommon) -> dict[str, object]:
    """Return what a time-based rule says in a record."""
    return {
        "bands": {name: float(band) for name, band in zip(table.names, found.bands, strict=True)},
        "common": int(np.count_nonzero(found.acceptable)),
    }


def exponents_of(rule: str, names: Sequence[str], conceding: Sequence[Concession]) -> tuple[float, ...]:
    """Return the exponent of each concession.

    Raises
    ------
    InputError
        If one has none: its target is no function of time alone of the form 1 − t^e.
    """
    exponents = []
    for name, concession in zip(names, conceding, strict=True):
        exponent = concession.exponent
        if exponent is None:
            raise InputError(
                f"settlement rule {rule!r} needs concessions of the form 1 − t^e; agent {name!r} concedes by "
                f"{concession.name!r}; allowed: {', '.join(with_exponent())}, or the rule 'alternating_offers'"
            )
        exponents.append(exponent)
    return tuple(exponents)


def with_exponent() -> tuple[str, ...]:
    """Return the names of registered concession strategies that have an exponent."""
    return tuple(name for name in concessions.names() if concessions.create(name).exponent is not None)
