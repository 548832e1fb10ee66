"""Choices besides the weights: how metrics are normalised, and who else is in the comparison."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.naming import listed
from accordant.report.reading import Json
from accordant.report.scale import number
from accordant.report.scrutiny.wording import counted

NORMALISATIONS = {
    "natural": "each metric on its own range",
    "relative": "worst candidate 0, best candidate 1",
    "reference": "as the published code does it",
    "rank": "share of the other candidates that are worse",
    "zscore": "standard scores over the candidates",
}


@dataclass(frozen=True)
class Normalised:
    """The winner under one normalisation.

    Attributes
    ----------
    name, meaning
        Which one, and in words.
    chosen, same
        Whether it is the one of this run; whether one of its winners wins there too.
    winners, lead
        Who wins, and by how much over the first that does not; a dash if all win.
    order
        All candidates in order of their score.
    """

    name: str
    meaning: str
    chosen: bool
    same: bool
    winners: tuple[str, ...]
    lead: str
    order: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """What the part says: normalisations, and sentences on candidates that are left out."""

    normalisations: tuple[Normalised, ...]
    removals: tuple[str, ...]
    reversals: tuple[str, ...]
    summary: str


def choices(found: Json) -> Choices:
    """Return what the record says about other choices."""
    own = next(each for each in found["normalisations"] if each["normalisation"] == found["normalisation"])
    winners = set(own["winners"])
    normalisations = tuple(
        Normalised(
            name=each["normalisation"],
            meaning=NORMALISATIONS.get(each["normalisation"], ""),
            chosen=each["normalisation"] == found["normalisation"],
            same=bool(winners & set(each["winners"])),
            winners=tuple(each["winners"]),
            lead="–" if each["lead"] is None else number(each["lead"]),
            order=tuple(each["order"]),
        )
        for each in found["normalisations"]
    )
    reversals = tuple(
        f"{each['ahead']} is ahead of {each['behind']} by {number(each['lead_before'])}; without {each['removed']} "
        f"it is behind by {number(-each['lead_after'])}."
        for each in found["reversals"]
    )
    return Choices(normalisations, tuple(_removals(found)), reversals, _summary(found))


def _summary(found: Json) -> str:
    n, pairs = len(found["reversals"]), found["pairs"]
    if not pairs:
        return "There is no pair of ranked candidates whose order could change."
    if not n:
        return f"Leaving out any one candidate changes the order of none of {counted(pairs, 'pair')} of others."
    return f"Leaving out one candidate turns round {n} of {counted(pairs, 'pair')} of others (rank reversal)."


def _removals(found: Json) -> list[str]:
    """Return who wins if candidates are left out."""
    said = [
        f"Without {each['removed'][0]}, {listed(each['winners'])} {_wins(each)} although the former winner is still in."
        for each in found["without"]
        if each["changed"]
    ]
    if found["baseline_subsets"]:
        said.append(_baselines(found))
    without = found["without_baselines"]
    if without is not None and without["winners"]:
        said.append(f"Without any baseline {listed(without['winners'])} {_wins(without)}.")
    return said


def _baselines(found: Json) -> str:
    """Say how often leaving out baselines brings another winner, and the smallest set that does."""
    sets, smallest = counted(found["baseline_subsets"], "set"), found["smallest_change"]
    if smallest is None:
        return f"None of {sets} of baselines that can be left out brings another winner."
    return (
        f"Of {sets} of baselines that can be left out, {found['baseline_changes']} brought another winner; without "
        f"{listed(smallest['removed'])}, a smallest one, {listed(smallest['winners'])} {_wins(smallest)}."
    )


def _wins(each: Json) -> str:
    return "wins" if len(each["winners"]) == 1 else "win"
