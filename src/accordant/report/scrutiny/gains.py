"""Who gains by misreporting alone, as the report writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accordant.report.scale import number, percent
from accordant.report.scrutiny.wording import known

Json = dict[str, Any]


@dataclass(frozen=True)
class Gain:
    """What one stakeholder can gain alone: in which share of decisions, and how much on average."""

    stakeholder: str
    share: str
    mean: str


def gains(compared: Json) -> tuple[Gain, ...]:
    """Return the gains under one strategy; none if the record does not say."""
    return tuple(
        Gain(
            each["stakeholder"],
            _between(each["manipulable"], percent),
            _between(each["mean_gain"], lambda value: number(value, 3)),
        )
        for each in compared.get("manipulable", [])
    )


def _between(ends: Json, written: Any) -> str:
    low, high = known(ends["low"]), known(ends["high"])
    if low is None or high is None:
        return "–"
    least, most = written(low), written(high)
    return least if least == most else f"{least} to {most}"
