"""From explanations as plain values to one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from accordant.errors import InputError
from accordant.explanation.explanation import FORMAT
from accordant.naming import listed
from accordant.report.charts.svg import figure, line, mark, tag, text, wrapped
from accordant.report.explanation import pages
from accordant.report.page import Page
from accordant.report.scale import Scale, linear_scale, number
from accordant.sections import PagePart, Section, page_parts

Json = dict[str, Any]

WIDTH, NAMES, VALUES = 360.0, 124.0, 62.0  # a phone draws it at this size, so letters stay above 11 px
HEAD, ROW, GAP, AXIS, TOP = 22.0, 19.0, 9.0, 40.0, 4.0
BAR = 11.0  # height of a bar
LETTER = 12.0  # font size, as in the style sheet
POINTS: Mapping[str, str] = {"disagreement": "d", "ideal": "u*"}


@dataclass(frozen=True)
class Strip:
    """The rows of one stakeholder."""

    who: str  # the stakeholder
    rewards: Sequence[float]  # expected reward of each action
    favourites: Sequence[str]  # actions it would choose alone
    points: Mapping[str, float]  # where the rule measures from, by the short names of `POINTS`


def strip_chart(identifier: str, explained: Json) -> Markup:
    """Return the expected rewards of every stakeholder under every action.

    The decision has filled bars, other actions open ones; a star marks what a stakeholder would choose alone, upright
    lines the points that the rule measures from.
    """
    actions, decision = explained["actions"], explained["choice"]["action"]
    strips = [_strip(explained, i) for i in range(len(explained["stakeholders"]))]
    scale = linear_scale((0.0, 1.0, *_beyond(strips)), NAMES, WIDTH - VALUES)
    height = TOP + len(strips) * (HEAD + GAP + ROW * len(actions)) + AXIS
    drawn: list[Markup] = []
    y = TOP
    for strip in strips:
        drawn += _rows(strip, actions, decision, scale, y)
        y += HEAD + GAP + ROW * len(actions)
    drawn += _axis(scale, y)
    title = f"Expected rewards in row {explained['row']}"
    return figure(identifier, (WIDTH, height), title, _description(strips, actions, decision), *drawn)


def _strip(explained: Json, i: int) -> Strip:
    points = {short: explained["points"][name][i] for name, short in POINTS.items() if name in explained["points"]}
    return Strip(explained["stakeholders"][i], explained["expected"][i], explained["favourites"][i]["equals"], points)


def _beyond(strips: Sequence[Strip]) -> list[float]:
    """Return points outside [0, 1], which declared reference points may be."""
    return [value for strip in strips for value in strip.points.values()]


def _rows(strip: Strip, actions: Sequence[str], decision: str, scale: Scale, y: float) -> list[Markup]:
    """Return the heading and the bars of one stakeholder."""
    top = y + HEAD
    bottom = top + ROW * len(actions)
    elements = [text(1, y + 15, wrapped(strip.who, (WIDTH - 10) / LETTER, 1)[0], "head")]
    elements.append(line(scale(0.0), top - 1, scale(0.0), bottom, "axis"))
    for short, value in strip.points.items():
        elements += [
            line(scale(value), top - 3, scale(value), bottom + 2, f"point point-{'d' if short == 'd' else 'u'}")
        ]
        elements.append(text(scale(value), top - 5, short, "tick", "middle"))
    for a, (action, reward) in enumerate(zip(actions, strip.rewards, strict=True)):
        centre = top + ROW * (a + 0.5)
        chosen = action == decision
        label = wrapped(action, (NAMES - 14) / LETTER, 1)[0]
        full = tag("title", {}, f"{action}{', decided' if chosen else ''}: {number(reward)}")
        end = scale(max(0.0, reward))
        bar = {"x": scale(0.0), "y": centre - BAR / 2, "width": max(0.0, end - scale(0.0)), "height": BAR}
        parts = [
            text(8, centre + 4, label, "selected" if chosen else ""),
            tag("rect", {**bar, "class": "bar decided" if chosen else "bar"}),
            text(WIDTH - VALUES + 8, centre + 4, number(reward), "number" if chosen else "value"),
        ]
        if action in strip.favourites:
            parts.append(mark("star", WIDTH - 10, centre, 4.6))
        elements.append(tag("g", {}, full, *parts))
    return elements


def _axis(scale: Scale, y: float) -> list[Markup]:
    elements = [line(scale.start, y, scale.end, y, "axis")]
    for value, label in zip(scale.ticks, scale.labels(), strict=True):
        elements += [
            line(scale(value), y, scale(value), y + 4, "axis"),
            text(scale(value), y + 16, label, "tick", "middle"),
        ]
    elements.append(text((scale.start + scale.end) / 2, y + 33, "expected reward", "caption", "middle"))
    return elements


def _description(strips: Sequence[Strip], actions: Sequence[str], decision: str) -> str:
    """Put the drawing into words: every value, and what each stakeholder would choose."""
    parts = []
    for strip in strips:
        values = ", ".join(f"{action} {number(value)}" for action, value in zip(actions, strip.rewards, strict=True))
        parts.append(f"{strip.who}: {values}; alone {' or '.join(strip.favourites)}")
    return f"Decided: {decision}. " + ". ".join(parts) + "."


def render_explanation(content: dict[str, Any]) -> str:
    """Return explanations of one or more decisions as one HTML document.

    Parameters
    ----------
    content
        From `accordant.explanation.as_document`. Nothing else is read, so the same content gives the same bytes.

    Raises
    ------
    InputError
        If the content has another format.
    """
    if content.get("format") != FORMAT:
        raise InputError(f"explanations have format {content.get('format')!r}; allowed: {FORMAT}")
    return PAGE.render("explanation.html", **_told(content))


@page_parts.register("explanations")
def explanation_part(section: Section) -> PagePart:
    """Return explanations as a part of the page of their run.

    Parameters
    ----------
    section
        With ``rests_on``, ``explanations``, ``influence`` and ``pivotal``, as in `accordant.explanation.as_document`.
    """
    content = section.to_json()
    numbers = listed([str(explanation["row"]) for explanation in content["explanations"]])
    rows = "Row" if len(content["explanations"]) == 1 else "Rows"
    return PAGE.part("person", f"{rows} {numbers}, explained", "explanation_part.html", **_told(content))


def _told(content: Mapping[str, Any]) -> Json:
    """Return what the templates read."""
    explanations = content["explanations"]
    charts = [strip_chart(f"strip-{k}", explanation) for k, explanation in enumerate(explanations, 1)]
    return {"content": content, "explained": list(zip(explanations, charts, strict=True))}


PAGE = Page(
    "accordant.report.explanation", "explanation.css",
    filters={"gain": pages.gain, "feature": pages.feature_value, "share": pages.share},
    names={"pages": pages},
)  # fmt: skip
