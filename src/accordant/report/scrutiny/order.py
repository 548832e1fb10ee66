"""Whether the best candidate stays the best while somebody misreports, in one sentence per kind of scale."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.scrutiny.wording import sentence, short, strong

Json = dict[str, Any]

SCALES = {
    "frozen": "On the scales that honest reports give the metrics",
    "live": "With scales that move with the misreports",
}


def order_sentences(scrutiny: Json) -> tuple[Markup, ...]:
    """Return what is shown about the best candidate; nothing if the record does not say."""
    rankings = scrutiny.get("ranking", [])
    return tuple(
        _sentence(words, [each for each in rankings if each["ranges"] == ranges])
        for ranges, words in SCALES.items()
        if any(each["ranges"] == ranges for each in rankings)
    )


def _sentence(words: str, rankings: list[Json]) -> Markup:
    everybody = max(len(each["coalition"]) for each in rankings)
    holds = {_who(each["coalition"], everybody): each["best_holds"] for each in rankings}
    shown, open_ = [who for who, kept in holds.items() if kept], [who for who, kept in holds.items() if not kept]
    best, delta = strong(rankings[0]["best"]), short(rankings[0]["delta"])
    if not shown:
        return sentence(f"{words} it is not shown for anybody that ", best, f" stays best under misreports of {delta}.")
    rest = f"; this is not shown for {listed(open_)}." if open_ else "."
    return sentence(f"{words} ", best, f" stays the best candidate if {listed(shown)} may misreport by {delta}{rest}")


def _who(members: list[str], everybody: int) -> str:
    return "everybody together" if len(members) == everybody > 1 else f"{members[0]} alone"
