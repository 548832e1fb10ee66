"""What families of measures are called, and what to do about an alarm in each."""

from __future__ import annotations

from collections.abc import Iterable

from accordant.monitoring.result import Family, Measure

TITLES: dict[Family, str] = {
    "contexts": "contexts",
    "decisions": "decisions",
    "handling": "unusual or referred",
    "calibration": "calibration of f",
    "rewards": "rewards against promises",
}
MEANINGS: dict[Family, str] = {
    "contexts": "Is each feature distributed as in the training rows?",
    "decisions": "Is each action taken as often as on the untouched rows of the run?",
    "handling": "Are as many contexts unlike the training rows, and as many decisions left to a person?",
    "calibration": "Do outcomes follow as often as f says, in low, middling and high probabilities?",
    "rewards": "Does each stakeholder get what E promised for the action taken?",
}
ADVICE: dict[Family, str] = {
    "contexts": (
        "Look at what changed in how people come, or how data are recorded. If the change is real and outcomes are "
        "there, make a new run with recent rows; until then read what calibration and rewards say."
    ),
    "decisions": (
        "Compare with the alarms on contexts: if people changed, decisions follow. If not, check which run decides."
    ),
    "handling": (
        "Look at the remarks in the log: new categories and missing values point to a change in how data are recorded."
    ),
    "calibration": (
        "Outcomes no longer follow as predicted: make a new run with recent rows, and let a person decide meanwhile."
    ),
    "rewards": (
        "A promise is not kept: tell the stakeholder, and decide with the others whether to go on, to let a person "
        "decide, or to make a new run with recent rows."
    ),
}
LARGEST_WRITTEN = 3.0  # powers of ten; larger evidence is written as one


def families(measures: Iterable[Measure]) -> dict[Family, list[Measure]]:
    """Return measures by family, in the order in which they are told; families without any are left out."""
    by_family: dict[Family, list[Measure]] = {family: [] for family in TITLES}
    for measure in measures:
        by_family[measure.family].append(measure)
    return {family: members for family, members in by_family.items() if members}


def strongest(measures: Iterable[Measure]) -> Measure:
    """Return the measure with most evidence of those with an alarm, or of all."""
    return max(measures, key=lambda measure: (measure.alarm is not None, measure.highest or 0.0))


def evidence_words(power: float | None) -> str:
    """Return evidence as a number, or as a power of ten where it is large."""
    power = power or 0.0
    if power >= LARGEST_WRITTEN:
        return f"10^{power:.0f}"
    value = 10.0**power
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 0.1 else "below 0.1"
