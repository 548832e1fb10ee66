"""Who spoke for whom: how faithful rankings were to what was declared, and how many of them did not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, count, number, percent
from accordant.slates.page.facts import told
from accordant.slates.page.reading import SlatedReading

MODEL = "language model"  # kind of ranker that a rule may stand in for
TOLD = ("name", "kind", "about")  # what stands by itself; the rest are settings
INSTEAD = {
    "silence": "the stakeholder has no say for that request, unless nobody else is left to have one",
    "declared": "what the stakeholder declared counts",
}  # what becomes of a ranking that does not count


@dataclass(frozen=True)
class Said:
    """One voice, in words.

    Attributes
    ----------
    stakeholder, name, kind, about
        For whom, and who ranked.
    asked
        Requests for which it was asked.
    share, tau
        Mean fidelity: agreement with what was declared over the largest attainable one, and the agreement itself.
    lost
        Share of rankings that did not count, and below it what became of them.
    stood_in
        How many rankings a rule made in place of a language model; empty for others.
    settings
        What else the record says of the ranker.
    usage
        What was spent: name and value.
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
class Voices:
    """Everybody who spoke.

    Attributes
    ----------
    said
        One for each stakeholder that was spoken for.
    others
        Stakeholders who reported what they declared.
    threshold, instead
        Of the gate, in words.
    never
        How many rankings were asked of language models, if a rule stood in for all of them; None otherwise.
    stood_in
        How many rankings of language models a rule made, in words; empty if none.
    """

    said: tuple[Said, ...]
    others: tuple[str, ...]
    threshold: str
    instead: str
    never: str | None
    stood_in: str


def voices(reading: SlatedReading) -> Voices | None:
    """Return who spoke for whom; None if nobody did."""
    found: Sequence[Json] = reading.content.get("voices") or ()
    if not found:
        return None
    spoken_for = {each["stakeholder"] for each in found}
    models = [each for each in found if each["ranker"]["kind"] == MODEL]
    asked, stood_in = sum(each["asked"] for each in models), sum(each["fallbacks"] for each in models)
    return Voices(
        tuple(_said(each) for each in found),
        tuple(each["name"] for each in reading.stakeholders if each["name"] not in spoken_for),
        number(found[0]["threshold"], 2), INSTEAD[found[0]["instead"]], count(asked) if 0 < asked == stood_in else None,
        f"in {count(stood_in)} of {count(asked)} rankings" if stood_in else "",
    )  # fmt: skip


def _said(voice: Json) -> Said:
    ranker = voice["ranker"]
    settings = [f"{key} {_named(value)}" for key, value in ranker.items() if key not in TOLD and value is not None]
    stood_in = f"{count(voice['fallbacks'])} of {count(voice['asked'])}" if ranker["kind"] == MODEL else ""
    return Said(
        voice["stakeholder"], ranker["name"], ranker["kind"], ranker["about"], count(voice["asked"]),
        number(voice["mean_share"]), number(voice["mean_tau"]), _lost(voice), stood_in, ", ".join(settings),
        tuple((key.replace("_", " "), told(value)) for key, value in voice["usage"].items()),
    )  # fmt: skip


def _named(setting: object) -> str:
    """Return a setting in words; another ranker, which stands in, by its name."""
    return str(setting["name"]) if isinstance(setting, dict) and "name" in setting else told(setting)


def _lost(voice: Json) -> tuple[str, ...]:
    """Return the share of rankings that did not count, of how many, and what became of them."""
    asked, failed = voice["asked"], voice["asked"] - voice["passed"]
    if not asked:
        return (NOT_DEFINED,)
    declared = failed - voice["silenced"]
    parts = [
        f"{count(failed)} of {count(asked)}",
        f"{count(voice['silenced'])} without a say" if voice["silenced"] else "",
        f"{count(declared)} as declared" if declared else "",
        f"{count(voice['empty'])} ranked nothing" if voice["empty"] else "",
    ]
    return (percent(failed / asked), *filter(None, parts))
