"""Drawings of evidence over time, and of realised minus promised rewards with their confidence sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from markupsafe import Markup

from accordant.monitoring.result import Measure, Monitored, RealisedReward, RewardPoint
from accordant.report.charts.curves import Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.svg import figure, line, tag, text
from accordant.report.scale import Scale, linear_scale, number

MOST_DRAWN = 6  # streams beside the alarm line
LOWEST, HIGHEST = -3.0, 6.0  # powers of ten that are drawn: below nothing is told, beyond nothing is in doubt
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360.0, 220.0, 52.0, 22.0, 24.0, 48.0
SETTLED = 8  # the scale fits limits after an eighth of all outcomes: the first ones are as wide as the range


def evidence_chart(result: Monitored) -> Markup | None:
    """Return the evidence of the streams with most of it; None if all was seen on one day."""
    drawn = sorted(
        result.measures, key=lambda measure: (measure.alarm is not None, measure.highest or 0.0), reverse=True
    )
    begin = date.fromisoformat(result.lines.first[:10]) if result.lines.first else None
    curves = [Curve(measure.label, _points(measure, begin)) for measure in drawn[:MOST_DRAWN] if measure.path]
    last = max((x for curve in curves for x, _ in curve.points), default=0.0)
    if last <= 0:
        return None
    level = -math.log10(result.alpha)
    curves.insert(min(1, len(curves)), Curve(f"alarm at {1 / result.alpha:g}", ((0.0, level), (last, level))))
    values = [y for curve in curves for _, y in curve.points]
    axes = Axes(
        linear_scale([0.0, last], *plot_width(), wanted=3), linear_scale(values, *plot_height()),
        (f"days since {begin.isoformat()} →" if begin else "records →", "evidence, powers of ten"),
    )  # fmt: skip
    return curve_chart("evidence-chart", "Evidence of a change over time", curves, axes)


def _points(measure: Measure, begin: date | None) -> tuple[tuple[float, float], ...]:
    """Return days and evidence, or records where days are not known; a day stays where outcomes come late."""
    points: list[tuple[float, float]] = []
    day = 0.0
    for point in measure.path:
        day = max(day, float(point.n if begin is None else (date.fromisoformat(point.time[:10]) - begin).days))
        points.append((day, min(HIGHEST, max(LOWEST, point.evidence))))
    end = min(HIGHEST, max(LOWEST, measure.latest or 0.0))
    return (*points, (float(measure.n) if begin is None else day, end))


def reward_charts(rewards: Sequence[RealisedReward]) -> list[tuple[RealisedReward, Markup]]:
    """Return a drawing for each stakeholder with outcomes, all on one scale."""
    drawn = [reward for reward in rewards if not reward.group and len(reward.path) > 1]
    ends = [0.0]
    for reward in drawn:
        settled = [point for point in reward.path if point.n * SETTLED >= reward.n] or list(reward.path[-1:])
        ends += [limit for point in settled for limit in (point.low or 0.0, point.high or 0.0)]
    return [(reward, _reward_chart(f"reward-{place}", reward, ends)) for place, reward in enumerate(drawn, 1)]


def _reward_chart(identifier: str, reward: RealisedReward, ends: Sequence[float]) -> Markup:
    """Return the difference over outcomes in its limits; what untouched rows showed is hatched."""
    across = linear_scale([0.0, float(reward.n)], LEFT, WIDTH - RIGHT, wanted=3)
    up = linear_scale(ends, HEIGHT - BOTTOM, TOP)
    end = RewardPoint(n=reward.n, difference=reward.difference, low=reward.low, high=reward.high)
    places = [
        (across(point.n), [_within(up, end) for end in (point.low, point.difference, point.high)])
        for point in (*reward.path, end)
    ]
    outline = [*((x, ys[0]) for x, ys in places), *((x, ys[2]) for x, ys in reversed(places))]
    middle = "M" + "L".join(f"{x:.2f} {ys[1]:.2f}" for x, ys in places)
    drawn = [
        *_tolerated(reward, across, up),
        tag("path", {"d": "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in outline) + "Z", "class": "limits"}),
        *_frame(across, up),
        tag("path", {"d": middle, "class": "curve first"}),
    ]
    limits = f"between {number(reward.low)} and {number(reward.high)}"
    said = f"After {reward.n} outcomes {number(reward.difference)}, {limits}."
    return figure(identifier, (WIDTH, HEIGHT), f"{reward.stakeholder}: realised minus promised", said, *drawn)


def _tolerated(reward: RealisedReward, across: Scale, up: Scale) -> list[Markup]:
    """Return the band of what untouched rows showed the promise to be off by; nothing if they are too few."""
    if reward.tolerated_low is None or reward.tolerated_high is None:
        return []
    top, bottom = _within(up, reward.tolerated_high), _within(up, reward.tolerated_low)
    left = across(0.0)
    return [tag("rect", {"x": left, "y": top, "width": WIDTH - RIGHT - left, "height": max(0.5, bottom - top),
                         "class": "tolerated"})]  # fmt: skip


def _within(scale: Scale, value: float | None) -> float:
    return scale(min(scale.high, max(scale.low, value or 0.0)))


def _frame(across: Scale, up: Scale) -> list[Markup]:
    base, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    marks = []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        marks += [line(across(value), TOP, across(value), base, "grid"),
                  text(across(value), base + 16, label, "tick", "middle")]  # fmt: skip
    for value, label in zip(up.ticks, up.labels(), strict=True):
        css = "zero" if abs(value) < 1e-12 else "grid"
        marks += [line(LEFT, up(value), right, up(value), css), text(LEFT - 6, up(value) + 4, label, "tick", "end")]
    marks += [text(right, HEIGHT - 10, "outcomes →", "caption", "end"),
              text(2, 12, "realised minus promised", "caption")]  # fmt: skip
    return marks
