"""What was declared beforehand, objectives and the criteria of the scope card, beside what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import Json
from accordant.report.scale import number
from accordant.slates.page.reading import RuleLine, SlatedReading

STANDINGS = {"met": "circle", "not met": "open-circle", "not defined": "cross", "no threshold": "cross"}
AIMS = {"max": "more", "min": "less"}
BOUNDS = {"max": "at least", "min": "at most", "zero": "at most in size"}


@dataclass(frozen=True)
class Wish:
    """One objective of one value.

    Attributes
    ----------
    value, metric, parameters, aim, weight, floor, because
        As declared; `aim` says whether more or less is wished for.
    results
        For each rule: the mean in words, and whether the floor is met in the mean ("" without a floor).
    """

    value: str
    metric: str
    parameters: str
    aim: str
    weight: float
    floor: float | None
    because: str
    results: tuple[tuple[str, str], ...]


def wishes(reading: SlatedReading, lines: Sequence[RuleLine]) -> list[tuple[Json, tuple[Wish, ...]]]:
    """Return stakeholders that declare objectives, each with what came out for some rules."""
    found = []
    for each in reading.stakeholders:
        stated = [(value["value"], one) for value in each["values"] for one in value["objectives"]]
        own = [[one for one in line.rule["attainments"] if one["stakeholder"] == each["name"]] for line in lines]
        if stated:
            found.append((each, tuple(_wish(*pair, [row[k] for row in own]) for k, pair in enumerate(stated))))
    return found


def _wish(value: str, stated: Json, results: Sequence[Json]) -> Wish:
    parameters = ", ".join(f"{key} = {each}" for key, each in stated["parameters"].items())
    told = tuple((number(each["mean"]), _floor_word(each)) for each in results)
    return Wish(
        value, stated["metric"], parameters, AIMS[stated["direction"]], stated["weight"],
        stated["floor"], stated["because"], told,
    )  # fmt: skip


def _floor_word(result: Json) -> str:
    if result["floor"] is None:
        return ""
    return "not defined" if result["met"] is None else "met" if result["met"] else "not met"


@dataclass(frozen=True)
class Judged:
    """A criterion of the card: metric, parameters, bound in words, who chose it and why."""

    metric: str
    parameters: str
    bound: str
    chosen_by: str
    rationale: str


def criteria(reading: SlatedReading) -> list[Judged]:
    """Return the criteria of the card; none without a card or verdicts."""
    card, verdicts = reading.content["scope"], reading.content["verdicts"]
    if card is None or not verdicts:
        return []
    goals = [each["goal"] for each in next(iter(verdicts.values()))]
    return [
        Judged(
            each["metric"], ", ".join(f"{key} = {value}" for key, value in each["params"].items()),
            "no threshold" if each["threshold"] is None else f"{BOUNDS[goal]} {number(each['threshold'])}",
            each["chosen_by"] or "nobody named", each["rationale"],
        )
        for each, goal in zip(card["criteria"], goals, strict=True)
    ]  # fmt: skip


def standing(verdict: Json) -> str:
    """Return met, not met, not defined or no threshold."""
    if verdict["value"] is None:
        return "not defined"
    return "no threshold" if verdict["met"] is None else "met" if verdict["met"] else "not met"


def tally(verdicts: Sequence[Json]) -> str:
    """Return how many criteria a rule meets."""
    met = sum(standing(each) == "met" for each in verdicts)
    return f"{met} of {len(verdicts)} met"
