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
    measure = explained["measure"]
    if measure is None:
        return None
    digits = decimals(measure["values"])
    return ["–" if value is None else number(value, digits) for value in measure["values"]]


def usual(trait: Json) -> str:
    """Return how usual a value is among training rows."""
    if trait["below"] is None:
        return f"{percent(trait['same'])} have the same"
    return f"{percent(trait['below'])} have less, {percent(trait['same'])} the same"


def forecast_rows(explained: Json) -> list[tuple[str, list[str]]]:
    """Return each action with the cells of its forecast; one row for all if the forecast does not depend on them."""
    forecast = explained["person"]["forecast"]
    actions = explained["actions"] if forecast["depends_on_action"] else ["whatever is done"]
    if forecast["means"] is None:
        rows = forecast["probabilities"] or []
        return [(action, [percent(share) for share in shares]) for action, shares in zip(actions, rows, strict=False)]
    digits = decimals(forecast["means"])
    ends = [forecast[name] or [None] * len(forecast["means"]) for name in ("low", "high")]
    return [
        (action, [number(mean, digits), "–" if low is None else f"{number(low, digits)} to {number(high, digits)}"])
        for action, mean, low, high in zip(actions, forecast["means"], *ends, strict=False)
    ]


def basis(explained: Json) -> str:
    """Return what the probabilities of a forecast are."""
    return BASES[explained["person"]["forecast"]["basis"]]


def forecast_head(explained: Json) -> list[str]:
    """Return the headings of these cells."""
    forecast = explained["person"]["forecast"]
    if forecast["means"] is None:
        return list(forecast["outcomes"])
    unit = f", {forecast['unit']}" if forecast["unit"] else ""
    share = "" if forecast["level"] is None else f"{percent(forecast['level'])} of outcomes"
    return [f"{forecast['name']}{unit}: mean", share or "range"]


def gain(value: float) -> str:
    """Return a gain or loss with its sign."""
    text = number(value)
    return text if text.startswith(MINUS) or text == number(0.0) else f"+{text}"


def moves(explained: Json) -> list[Move]:
    """Return how far E may move, for everybody together and for each stakeholder."""
    return [_move(misreport) for misreport in explained["misreports"]]


def _move(misreport: Json) -> Move:
    who = misreport["who"] or EVERYBODY
    then = misreport["action"] or "–"
    if misreport["never"]:
        return Move(who, "any change", "–", "exact")
    if misreport["safe"] is None:
        return Move(who, NOT_DEFINED, "–", misreport["method"])
    at = None if misreport["changed_at"] is None else shown(misreport["changed_at"], ROUND_CEILING)
    up_to = shown(misreport["safe"], ROUND_FLOOR)
    if misreport["at_once"]:
        return Move(who, "0", then, "exact: however little they change")
    if misreport["exact"]:
        return Move(who, up_to, then, "exact")
    if misreport["safe"] == 0:
        return Move(who, "–", then, "nothing certified" + (f"; a change is known at {at}" if at else ""))
    return Move(who, up_to, then, "certified" + (f"; a change is known at {at}" if at else "; no change is known"))


def weight_digits(explained: Json) -> int:
    """Return the decimals that tell new shares of weight from those as they are, and from none and all; 8 at most."""
    changes = explained["weights"]["found"]
    ends = [gap for change in changes if change["who"] for share in change["shares"] for gap in (share, 1.0 - share)]
    return min(MOST_DECIMALS, decimals_for(*(change["moved"] for change in changes), *ends))


def without_weights(explained: Json) -> str:
    """Return words for weights that were looked for and not found."""
    return no_weights(explained["weights"]["method"], proven=explained["weights"]["proven"])


def weight_rows(explained: Json) -> list[tuple[str, list[str], str, str]]:
    """Return direction, new shares by stakeholder, share moved, and the action then."""
    digits = weight_digits(explained)
    rows = []
    for change in explained["weights"]["found"]:
        name = "smallest shift" if change["direction"] == "shift" else f"{change['direction']} for {change['who']}"
        shares = [number(share, digits) for share in change["shares"]]
        rows.append((name, shares, shown(change["moved"], ROUND_CEILING), change["action"]))
    return rows


def looked_among(search: Json) -> str:
    """Return words for the contexts among which others were looked for."""
    return contexts_given(search["observed"])


def pivotal_cells(pivotal: Json, decision: str) -> list[tuple[str, bool]]:
    """Return the action under every question to one stakeholder, and whether it is another one."""
    cells = []
    for question in QUESTIONS:
        action = pivotal["actions"][question]
        cells.append(("–", False) if action is None else ("the same", False) if action == decision else (action, True))
    return cells


def pivotal_reasons(explained: Json) -> list[str]:
    """Return why some questions mean nothing, each once."""
    reasons = [why for pivotal in explained["pivotal"] for why in pivotal["reasons"].values()]
    return list(dict.fromkeys(reasons))


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
