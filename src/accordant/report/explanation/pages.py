"""What an explanation page says, as texts: cells of tables, in the order in which they are read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from accordant.explanation.counterfactual_sentences import contexts_given, no_weights
from accordant.explanation.sentences import BASES
from accordant.explanation.value_text import decimals_for, shown
from accordant.report.scale import MINUS, MOST_DECIMALS, NOT_DEFINED, decimals, number, percent

Json = dict[str, Any]

EVERYBODY = "everybody together"
QUESTIONS = {
    "dropped": "if not there",
    "neutralised": "without a preference",
    "doubled": "with twice the weight",
    "halved": "with half the weight",
}


@dataclass(frozen=True)
class Move:
    """How far somebody's expected rewards may move: who, up to where, what can win then, how it is known."""

    who: str
    up_to: str
    then: str
    known: str


def measured(explained: Json) -> list[str] | None:
    """Return what the rule compares, of every action; None where its scores have no meaning beside each other."""
    found = explained["measure"]
    if found is None:
        return None
    digits = decimals(found["values"])
    return ["–" if each is None else number(each, digits) for each in found["values"]]


def usual(trait: Json) -> str:
    """Return how usual a value is among training rows."""
    if trait["below"] is None:
        return f"{percent(trait['same'])} have the same"
    return f"{percent(trait['below'])} have less, {percent(trait['same'])} the same"


def forecast_rows(explained: Json) -> list[tuple[str, list[str]]]:
    """Return each action with the cells of its forecast; one row for all if the forecast does not depend on them."""
    found = explained["person"]["forecast"]
    actions = explained["actions"] if found["depends_on_action"] else ["whatever is done"]
    if found["means"] is None:
        rows = found["probabilities"] or []
        return [(action, [percent(share) for share in shares]) for action, shares in zip(actions, rows, strict=False)]
    digits = decimals(found["means"])
    ends = [found[name] or [None] * len(found["means"]) for name in ("low", "high")]
    return [
        (action, [number(mean, digits), "–" if low is None else f"{number(low, digits)} to {number(high, digits)}"])
        for action, mean, low, high in zip(actions, found["means"], *ends, strict=False)
    ]


def basis(explained: Json) -> str:
    """Return what the probabilities of a forecast are."""
    return BASES[explained["person"]["forecast"]["basis"]]


def forecast_head(explained: Json) -> list[str]:
    """Return the headings of these cells."""
    found = explained["person"]["forecast"]
    if found["means"] is None:
        return list(found["outcomes"])
    unit = f", {found['unit']}" if found["unit"] else ""
    share = "" if found["level"] is None else f"{percent(found['level'])} of outcomes"
    return [f"{found['name']}{unit}: mean", share or "range"]


def gain(value: float) -> str:
    """Return a gain or loss with its sign."""
    text = number(value)
    return text if text.startswith(MINUS) or text == number(0.0) else f"+{text}"


def moves(explained: Json) -> list[Move]:
    """Return how far E may move, for everybody together and for each stakeholder."""
    return [_move(each) for each in explained["misreports"]]


def _move(each: Json) -> Move:
    who = each["who"] or EVERYBODY
    then = each["action"] or "–"
    if each["never"]:
        return Move(who, "any change", "–", "exact")
    if each["safe"] is None:
        return Move(who, NOT_DEFINED, "–", each["method"])
    at = None if each["changed_at"] is None else shown(each["changed_at"], ROUND_CEILING)
    up_to = shown(each["safe"], ROUND_FLOOR)
    if each["at_once"]:
        return Move(who, "0", then, "exact: however little they change")
    if each["exact"]:
        return Move(who, up_to, then, "exact")
    if each["safe"] == 0:
        return Move(who, "–", then, "nothing certified" + (f"; a change is known at {at}" if at else ""))
    return Move(who, up_to, then, "certified" + (f"; a change is known at {at}" if at else "; no change is known"))


def weight_digits(explained: Json) -> int:
    """Return the decimals that tell new shares of weight from those as they are, and from none and all; 8 at most."""
    found = explained["weights"]["found"]
    ends = [gap for each in found if each["who"] for share in each["shares"] for gap in (share, 1.0 - share)]
    return min(MOST_DECIMALS, decimals_for(*(each["moved"] for each in found), *ends))


def without_weights(explained: Json) -> str:
    """Return words for weights that were looked for and not found."""
    return no_weights(explained["weights"]["method"], proven=explained["weights"]["proven"])


def weight_rows(explained: Json) -> list[tuple[str, list[str], str, str]]:
    """Return direction, new shares by stakeholder, share moved, and the action then."""
    digits = weight_digits(explained)
    found = []
    for each in explained["weights"]["found"]:
        name = "smallest shift" if each["direction"] == "shift" else f"{each['direction']} for {each['who']}"
        shares = [number(share, digits) for share in each["shares"]]
        found.append((name, shares, shown(each["moved"], ROUND_CEILING), each["action"]))
    return found


def looked_among(found: Json) -> str:
    """Return words for the contexts among which others were looked for."""
    return contexts_given(found["observed"])


def pivotal_cells(each: Json, decision: str) -> list[tuple[str, bool]]:
    """Return the action under every question to one stakeholder, and whether it is another one."""
    cells = []
    for question in QUESTIONS:
        action = each["actions"][question]
        cells.append(("–", False) if action is None else ("the same", False) if action == decision else (action, True))
    return cells


def pivotal_reasons(explained: Json) -> list[str]:
    """Return why some questions mean nothing, each once."""
    found = [why for each in explained["pivotal"] for why in each["reasons"].values()]
    return list(dict.fromkeys(found))


def feature_value(value: float | str | None) -> str:
    """Return a value of a feature."""
    if value is None or value == "":
        return "missing"
    if isinstance(value, str):
        return value
    return number(value, 0) if float(value).is_integer() else f"{value:.4g}".replace("-", MINUS)


def share(value: float | None) -> str:
    """Return a share with three decimals; a dash if there is none."""
    return "–" if value is None else number(value)
