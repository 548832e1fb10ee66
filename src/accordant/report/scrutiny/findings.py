"""All sections on the scrutiny of a run; none for a record that was written without it."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import Reading
from accordant.report.scrutiny.confounding import Confounding, confounding
from accordant.report.scrutiny.deciders import Deciders, deciders
from accordant.report.scrutiny.disputes import Disputes, disputes
from accordant.report.scrutiny.trust import Trust, trust
from accordant.report.scrutiny.weight_regions import Weighed, weighed


@dataclass(frozen=True)
class Findings:
    """What each section says.

    Attributes
    ----------
    trust, deciders, disputes
        Always there.
    confounding
        What hidden reasons could change; None where the rewards of all actions are known.
    weighed, unweighed
        What stands behind the winner, or why nothing does: then the first is None.
    """

    trust: Trust
    deciders: Deciders
    weighed: Weighed | None
    unweighed: str
    disputes: Disputes
    confounding: Confounding | None


def findings(reading: Reading) -> Findings | None:
    """Return what the scrutiny of a run found; None if the record has none."""
    if not reading.record.scrutiny:
        return None
    scrutiny = reading.scrutiny
    return Findings(
        trust=trust(reading),
        deciders=deciders(reading),
        weighed=None if scrutiny.weights is None else weighed(reading),
        unweighed=scrutiny.unweighed,
        disputes=disputes(reading),
        confounding=confounding(reading),
    )
