"""Users one by one: accuracy against support, and how accuracy is spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from accordant.preferences.page.reading import Json
from accordant.report.charts.hatching import box, hatched
from accordant.report.charts.svg import figure, line, mark, tag, text
from accordant.report.scale import Scale, linear_scale, number

WIDTH, HEIGHT = 360.0, 280.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 12.0, 26.0, 48.0
BINS = 10  # of accuracy, from 0 to 1
MINORITY, OTHERS = "open-diamond", "circle"
MINORITY_HATCH, OTHERS_HATCH = 6, 0


@dataclass(frozen=True)
class Users:
    """Users as drawings need them, equally long; `support` is None where it is unknown."""

    accuracy: tuple[float, ...]
    support: tuple[float | None, ...]
    minority: tuple[bool, ...]

    @classmethod
    def of(cls, content: Json, label: str) -> Users:
        """Return the users of a comparison under one method."""
        users, minority = content["per_user"], content["groups"]["minority"]
        alone = len(content["groups"]["sizes"]) == 1
        return cls(
            tuple(users["accuracy"][label]),
            tuple(users["support"]),
            tuple(group == minority and not alone for group in users["group"]),
        )


def support_chart(identifier: str, title: str, users: Users, line_of: tuple[float, float] | None) -> Markup:
    """Return a mark for each user with a support rate, and the straight line through them.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        Of the drawing.
    users
        Users under one method.
    line_of
        Slope, and intercept of the line; None for no line.
    """
    known = [
        (support, accuracy, few)
        for support, accuracy, few in zip(users.support, users.accuracy, users.minority, strict=True)
        if support is not None
    ]
    across, up = linear_scale([0.0, 1.0], LEFT, WIDTH - RIGHT), linear_scale([0.0, 1.0], HEIGHT - BOTTOM, TOP)
    marks = [
        mark(
            MINORITY if few else OTHERS,
            across(support),
            up(accuracy),
            3.4 if few else 2.6,
            "user" + (" few" if few else ""),
        )
        for support, accuracy, few in sorted(known, key=lambda each: each[2])
    ]
    drawn = []
    if line_of is not None and known:
        slope, start = line_of
        ends = [min(support for support, _, _ in known), max(support for support, _, _ in known)]
        places = [(across(x), up(min(1.0, max(0.0, start + slope * x)))) for x in ends]
        drawn = [line(*places[0], *places[1], "trend")]
    said = f"{len(known)} users. " + ("" if line_of is None else f"Slope of the line: {number(line_of[0])}.")
    frame = _frame(across, up, "support rate of the user →", "↑ accuracy")
    return figure(identifier, (WIDTH, HEIGHT), title, said, *frame, *marks, *drawn)


def line_through(users: Users) -> tuple[float, float] | None:
    """Return slope and intercept of the least-squares line of accuracy on support; None if support does not vary."""
    known = np.array([support is not None for support in users.support])
    support = np.array([0.0 if each is None else each for each in users.support])[known]
    accuracy = np.array(users.accuracy)[known]
    if not len(support) or support.min() == support.max():
        return None
    apart = support - support.mean()
    slope = float(apart @ (accuracy - accuracy.mean()) / (apart @ apart))
    return slope, float(accuracy.mean() - slope * support.mean())


def spread_chart(identifier: str, title: str, users: Users, most: float, *, groups: tuple[str, str] | None) -> Markup:
    """Return how many users have which accuracy, those of the minority hatched.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        Of the drawing.
    users
        Users under one method.
    most
        Largest number of users in a bin of any drawing beside this one, so that heights compare.
    groups
        What the two parts of a bar are called in words; None if there is one.
    """
    across, up = linear_scale([0.0, 1.0], LEFT, WIDTH - RIGHT), linear_scale([0.0, most], HEIGHT - BOTTOM, TOP)
    few, others = counts(users, minority=True), counts(users, minority=False)
    bars: list[Markup] = []
    for k in range(BINS):
        left, right = across(k / BINS) + 0.8, across((k + 1) / BINS) - 0.8
        total = few[k] + others[k]
        about = f"accuracy {k / BINS:.1f} to {(k + 1) / BINS:.1f}: {total} users"
        about += f", {few[k]} of them of {groups[1]}" if groups else ""
        parts: list[Markup] = []
        if few[k]:
            parts += hatched(box(left, up(few[k]), right, up(0)), MINORITY_HATCH)
        if others[k]:
            parts += hatched(box(left, up(total), right, up(few[k])), OTHERS_HATCH, "area others")
        bars.append(tag("g", {}, tag("title", {}, about), *parts))
    mean = float(np.mean(users.accuracy))
    x = across(mean)
    words = f"mean {number(mean)}"
    said = f"{len(users.accuracy)} users, mean accuracy {number(mean)}, lowest {number(min(users.accuracy))}."
    right = mean < 0.75
    return figure(
        identifier, (WIDTH, HEIGHT), title, said, *_frame(across, up, "accuracy →", "↑ users"), *bars,
        line(x, TOP - 4, x, HEIGHT - BOTTOM, "chosen"),
        text(x + (5 if right else -5), TOP - 6, words, "selected halo", "start" if right else "end"),
    )  # fmt: skip


def counts(users: Users, *, minority: bool) -> list[int]:
    """Return how many users of one part fall into each bin; an accuracy of 1 is in the last one."""
    values = [accuracy for accuracy, few in zip(users.accuracy, users.minority, strict=True) if few == minority]
    places = [min(BINS - 1, int(value * BINS + 1e-9)) for value in values]
    return [places.count(k) for k in range(BINS)]


def highest(every: Sequence[Users]) -> float:
    """Return the largest number of users in a bin."""
    return float(max(
        few + others
        for users in every
        for few, others in zip(counts(users, minority=True), counts(users, minority=False), strict=True)
    ))  # fmt: skip


def _frame(across: Scale, up: Scale, below: str, above: str) -> list[Markup]:
    base, found = HEIGHT - BOTTOM, []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        found += [
            line(across(value), TOP, across(value), base, "grid"),
            text(across(value), base + 16, label, "tick", "middle"),
        ]
    for value, label in zip(up.ticks, up.labels(), strict=True):
        found += [
            line(LEFT, up(value), WIDTH - RIGHT, up(value), "axis" if value == 0 else "grid"),
            text(LEFT - 8, up(value) + 4, label, "tick", "end"),
        ]
    found.append(text(WIDTH - RIGHT, HEIGHT - 12, below, "caption", "end"))
    found.append(text(2, 14, above, "caption"))
    return found
