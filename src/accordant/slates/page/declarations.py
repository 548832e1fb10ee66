"""What was declared beforehand, objectives and the criteria of the scope card, beside what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, count, number, percent
from accordant.slates.page.reading import RuleLine, SlateReading, in_words
from accordant.slates.result import AttainmentResult, ProxyResult

STANDINGS = {"met": "circle", "not met": "open-circle", "not defined": "cross", "no threshold": "cross"}
AIMS = {"max": "more", "min": "less"}
BOUNDS = {"max": "at least", "min": "at most", "zero": "at most in size"}
MODEL = "language model"  # kind of ranker that a rule may stand in for
TOLD = ("name", "kind", "about")  # what stands by itself; the rest are settings
INSTEAD = {
    "silence": "the stakeholder has no say for that request, unless nobody else is left to have one",
    "declared": "what the stakeholder declared counts",
}  # what becomes of a ranking that does not count


@dataclass(frozen=True)
class ObjectiveRow:
    """One objective of one value as declared; `aim` says whether more or less is wished for.

    `results` holds for each rule the mean in words, and whether the floor is met in the mean ("" without a floor).
    """

    value: str
    metric: str
    parameters: str
    aim: str
    weight: float
    floor: float | None
    because: str
    results: tuple[tuple[str, str], ...]


def objective_rows(reading: SlateReading, lines: Sequence[RuleLine]) -> list[tuple[Json, tuple[ObjectiveRow, ...]]]:
    """Return stakeholders that declare objectives, each with what came out for some rules."""
    rows = []
    for stakeholder in reading.stakeholders:
        stated = [(value["value"], one) for value in stakeholder["values"] for one in value["objectives"]]
        own = [[one for one in line.rule.attainments if one.stakeholder == stakeholder["name"]] for line in lines]
        if stated:
            rows.append(
                (stakeholder, tuple(_objective_row(*pair, [row[k] for row in own]) for k, pair in enumerate(stated)))
            )
    return rows


def _objective_row(value: str, stated: Json, results: Sequence[AttainmentResult]) -> ObjectiveRow:
    parameters = ", ".join(f"{key} = {setting}" for key, setting in stated["parameters"].items())
    told = tuple((number(attainment.mean), _floor_word(attainment)) for attainment in results)
    return ObjectiveRow(
        value, stated["metric"], parameters, AIMS[stated["direction"]], stated["weight"],
        stated["floor"], stated["because"], told,
    )  # fmt: skip


def _floor_word(result: AttainmentResult) -> str:
    if result.floor is None:
        return ""
    return "not defined" if result.met is None else "met" if result.met else "not met"


@dataclass(frozen=True)
class CriterionRow:
    """A criterion of the card: metric, parameters, bound in words, who chose it and why."""

    metric: str
    parameters: str
    bound: str
    chosen_by: str
    rationale: str


def criteria(reading: SlateReading) -> list[CriterionRow]:
    """Return the criteria of the card; none without a card or verdicts."""
    card, verdicts = reading.result.scope, reading.result.verdicts
    if card is None or not verdicts:
        return []
    goals = [verdict["goal"] for verdict in next(iter(verdicts.values()))]
    return [
        CriterionRow(
            criterion["metric"], ", ".join(f"{key} = {value}" for key, value in criterion["params"].items()),
            "no threshold" if criterion["threshold"] is None else f"{BOUNDS[goal]} {number(criterion['threshold'])}",
            criterion["chosen_by"] or "nobody named", criterion["rationale"],
        )
        for criterion, goal in zip(card["criteria"], goals, strict=True)
    ]  # fmt: skip


def standing(verdict: Json) -> str:
    """Return met, not met, not defined or no threshold."""
    if verdict["value"] is None:
        return "not defined"
    return "no threshold" if verdict["met"] is None else "met" if verdict["met"] else "not met"


def tally(verdicts: Sequence[Json]) -> str:
    """Return how many criteria a rule meets."""
    met = sum(standing(verdict) == "met" for verdict in verdicts)
    return f"{met} of {len(verdicts)} met"


@dataclass(frozen=True)
class ProxyRow:
    """What one proxy said, in words: for whom, who ranked, and for how many requests it was asked.

    `share` and `tau` are the mean agreement with what was declared, over the largest attainable one and by itself.
    `lost` is the share of rankings that did not count, and what became of them; `stood_in` how many a rule made in
    place of a language model; `settings` and `usage` what else the record says of the ranker, and what was spent.
    """

    stakeholder: str
    name: str
    kind: str
    about: str
    asked: str
    share: str
    tau: str
    lost: tuple[str, ...]
    stood_in: str
    settings: str
    usage: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ProxyTable:
    """All proxies, and the stakeholders who reported what they declared, `others`; the gate in words.

    `never` is how many rankings were asked of language models if a rule stood in for all of them, else None; `stood_in`
    says in how many it did.
    """

    rows: tuple[ProxyRow, ...]
    others: tuple[str, ...]
    threshold: str
    instead: str
    never: str | None
    stood_in: str


def proxies(reading: SlateReading) -> ProxyTable | None:
    """Return who spoke for whom; None if nobody did."""
    voices = reading.result.voices
    if not voices:
        return None
    spoken_for = {voice.stakeholder for voice in voices}
    models = [voice for voice in voices if voice.ranker["kind"] == MODEL]
    asked, stood_in = sum(model.asked for model in models), sum(model.fallbacks for model in models)
    return ProxyTable(
        tuple(_proxy_row(voice) for voice in voices),
        tuple(stakeholder["name"] for stakeholder in reading.stakeholders if stakeholder["name"] not in spoken_for),
        number(voices[0].threshold, 2), INSTEAD[voices[0].instead], count(asked) if 0 < asked == stood_in else None,
        f"in {count(stood_in)} of {count(asked)} rankings" if stood_in else "",
    )  # fmt: skip


def _proxy_row(voice: ProxyResult) -> ProxyRow:
    ranker = voice.ranker
    settings = [f"{key} {_named(value)}" for key, value in ranker.items() if key not in TOLD and value is not None]
    stood_in = f"{count(voice.fallbacks)} of {count(voice.asked)}" if ranker["kind"] == MODEL else ""
    return ProxyRow(
        voice.stakeholder, ranker["name"], ranker["kind"], ranker["about"], count(voice.asked),
        number(voice.mean_share), number(voice.mean_tau), _lost(voice), stood_in, ", ".join(settings),
        tuple((key.replace("_", " "), in_words(value)) for key, value in voice.usage.items()),
    )  # fmt: skip


def _named(setting: object) -> str:
    """Return a setting in words; another ranker, which stands in, by its name."""
    return str(setting["name"]) if isinstance(setting, dict) and "name" in setting else in_words(setting)


def _lost(voice: ProxyResult) -> tuple[str, ...]:
    """Return the share of rankings that did not count, of how many, and what became of them."""
    asked, failed = voice.asked, voice.asked - voice.passed
    if not asked:
        return (NOT_DEFINED,)
    declared = failed - voice.silenced
    parts = [
        f"{count(failed)} of {count(asked)}",
        f"{count(voice.silenced)} without a say" if voice.silenced else "",
        f"{count(declared)} as declared" if declared else "",
        f"{count(voice.empty)} ranked nothing" if voice.empty else "",
    ]
    return (percent(failed / asked), *filter(None, parts))
