"""Pictures of how far to trust a choice: who wins at which weights, what misreports change, why it was decided so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.certificates import Survey
from accordant.errors import InputError
from accordant.evaluation.weighting import Region, Weighing
from accordant.explanation import Explanation
from accordant.faces import pictures
from accordant.naming import listed
from accordant.report.charts.curves import MOST_CURVES
from accordant.report.charts.panels import GROUP_SHAPES
from accordant.report.labels import readable
from accordant.report.plots.standings import of_group
from accordant.report.plots.style import area_colours, axes, colours, face, key, mark, rows, titled, told
from accordant.report.scale import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "//", "--", "\\\\", "||", "xx", "////", "++", "\\\\\\\\", "----")  # in the order of those of reports
DASHES = (
    "-",
    (0, (5, 2)),
    (0, (1.5, 2)),
    (0, (7, 2, 1.5, 2)),
    (0, (9, 3)),
    (0, (3, 1.5, 1, 1.5)),
    (0, (1, 3)),
    (0, (4, 4)),
)
FARTHEST, POINTS = 0.25, 251  # radius up to which curves are drawn, and how many points they have
WIDE = 8.6  # inches: names of regions stand beside the map
CORNERS = ((0.5, math.sqrt(3) / 2), (0.0, 0.0), (1.0, 0.0))  # of the weights of three metrics


@pictures.register("weights")
def weights(weighing: Weighing, *, ax: Axes | None = None) -> Axes:
    """Draw who wins at which weights: a triangle for three metrics, a strip for two, shares for more."""
    winning = [region for region in weighing.regions.regions if region.status == "wins"]
    metrics, chosen = weighing.regions.metrics, weighing.regions.weights
    if len(metrics) in (2, 3) and all(region.corners is not None for region in winning):
        draw = _strip if len(metrics) == 2 else _triangle
        return draw(ax, metrics, winning, chosen)
    ax, places = rows(ax, [_named(k, region) for k, region in enumerate(winning, 1)])
    for k, (region, y) in enumerate(zip(winning, places, strict=True)):
        ax.barh(y, region.share, 0.55, **_fill(k), gid=region.strategy)
        if weighing.regions.method == "sampled":
            ax.plot(
                [region.low, region.high],
                [y, y],
                color=colours()["ink"],
                marker="|",
                gid=f"interval of {region.strategy}",
            )
    how = f" ({percent(weighing.regions.level)} intervals)" if weighing.regions.method == "sampled" else ""
    return titled(ax, "Who wins at which weights", f"share of all weights{how}")


def _triangle(ax: Axes | None, metrics: Sequence[str], winning: Sequence[Region], chosen: Sequence[float]) -> Axes:
    ax = _bare(axes(ax, 4.4, WIDE))
    for k, region in enumerate(winning):
        _area(ax, [_place(corner) for corner in region.corners or ()], k, region)
    _star(ax, *_place(chosen))
    for name, (x, y), up in zip(metrics, CORNERS, (0.05, -0.06, -0.06), strict=True):
        ax.text(
            x,
            y + up,
            told(name),
            ha="center",
            va="bottom" if up > 0 else "top",
            fontsize=9,
            color=colours()["ink"],
            **face(),
        )
    ax.set(xlim=(-0.15, 1.15), ylim=(-0.16, 1.0), aspect="equal")
    key(ax)
    return titled(ax, "Who wins at which weights", _chosen(metrics, chosen))


def _strip(ax: Axes | None, metrics: Sequence[str], winning: Sequence[Region], chosen: Sequence[float]) -> Axes:
    ax = _bare(axes(ax, 2.2, WIDE))
    for k, region in enumerate(winning):
        ends = sorted(corner[0] for corner in region.corners or ())
        left, right = ends[0], ends[-1]
        _area(ax, [(left, 0.0), (right, 0.0), (right, 1.0), (left, 1.0)], k, region)
    ax.plot([chosen[0]] * 2, [0.0, 1.2], color=colours()["accent"], linestyle=(0, (3, 2)), label="_")
    _star(ax, chosen[0], 1.2)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.05, 1.5))
    ax.set_xticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
    key(ax)
    return titled(
        ax, "Who wins at which weights", f"weight of {metrics[0]}, the rest of {metrics[1]}\n{_chosen(metrics, chosen)}"
    )


def _bare(ax: Axes) -> Axes:
    """Return axes of which nothing shows."""
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines["bottom"].set_visible(False)
    return ax


def _area(ax: Axes, corners: Sequence[tuple[float, float]], k: int, region: Region) -> None:
    """Draw a region with its number; the key has its name."""
    from matplotlib.patches import Polygon

    shades = colours()
    ax.add_patch(Polygon(list(corners), closed=True, **_fill(k), label=_named(k + 1, region), gid=region.strategy))
    x, y = (sum(corner[axis] for corner in corners) / len(corners) for axis in (0, 1))
    box = {"boxstyle": "round,pad=.15", "facecolor": shades["paper"], "edgecolor": "none"}
    ax.text(
        x,
        y,
        str(k + 1),
        ha="center",
        va="center",
        fontsize=9,
        fontweight="bold",
        color=shades["ink"],
        bbox=box,
        **face(),
    )


def _fill(k: int) -> dict[str, Any]:
    """Return colour and hatch of an area, as in reports."""
    fills, shades = area_colours(), colours()
    return {
        "facecolor": fills[0] if k == 0 else fills[1 + (k - 1) % (len(fills) - 1)], "hatch": HATCHES[k % len(HATCHES)],
        "edgecolor": shades["quiet"], "linewidth": 0.9,
    }  # fmt: skip


def _star(ax: Axes, x: float, y: float) -> None:
    mark(ax, "star", x, y, colours()["accent"], label="the chosen weights", gid="chosen weights")


def _place(point: Sequence[float]) -> tuple[float, float]:
    """Return where weights of three metrics are drawn."""
    x, y = (sum(w * corner[axis] for w, corner in zip(point, CORNERS, strict=True)) for axis in (0, 1))
    return x, y


def _named(number: int, region: Region) -> str:
    more = f" and {len(region.tied_with)} alike" if region.tied_with else ""
    return told(f"{number} {readable(region.strategy)}{more}, {percent(region.share)}", 60)


def _chosen(metrics: Sequence[str], chosen: Sequence[float]) -> str:
    return "chosen: " + ", ".join(f"{name} {percent(w)}" for name, w in zip(metrics, chosen, strict=True))


@pictures.register("certificate_curve")
def certificate_curve(survey: Survey, *, ax: Axes | None = None, deltas: Sequence[float] | None = None) -> Axes:
    """Draw the share of decisions that no misreport changes, by radius δ: everybody together, then each alone."""
    if survey.radii.shape[1] == 0:
        raise InputError("nothing was surveyed: there are no contexts")
    across = np.linspace(0.0, FARTHEST, POINTS) if deltas is None else np.asarray(deltas, dtype=np.float64)
    shares = np.array([survey.certified(float(delta)) for delta in across])
    largest = max(len(members) for members in survey.coalitions)
    order = sorted(
        (k for k, members in enumerate(survey.coalitions) if len(members) in (1, largest)),
        key=lambda k: len(survey.coalitions[k]) != largest,
    )[:MOST_CURVES]  # fmt: skip
    ax, shades = axes(ax, 3.8), colours()
    ax.grid(visible=True, axis="y", color=shades["faint"], linewidth=0.8)
    for position, k in enumerate(order):
        members = survey.coalitions[k]
        name = "everybody together" if len(members) == largest and largest > 1 else f"{listed(members)} alone"
        colour, width = (shades["accent"], 2.4) if position == 0 else (shades["ink"], 1.3)
        ax.plot(
            across, shares[:, k], color=colour, linestyle=DASHES[position], linewidth=width, drawstyle="steps-post",
            label=told(name), gid=listed(members),
        )  # fmt: skip
    ax.set_ylim(-0.02, 1.04)
    ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0%", "25%", "50%", "75%", "100%"])
    key(ax, title="who may misreport")
    kind = "cannot change" if survey.exact else "are certified not to change"
    title = f"{readable(survey.rule)}: decisions that {kind}"
    return titled(ax, title, "largest misreport of an expected reward, δ", "share of decisions")


@pictures.register("explanation")
def explanation(explanation: Explanation, *, ax: Axes | None = None) -> Axes:
    """Draw what every action gives every stakeholder in one context; the decision stands on top in bold."""
    who = explanation.stakeholders
    if len(who) > len(GROUP_SHAPES):
        raise InputError(f"there are {len(who)} stakeholders; allowed in a picture: at most {len(GROUP_SHAPES)}")
    expected = np.array(explanation.expected)
    order = [
        explanation.choice.action,
        *(action for action in explanation.actions if action != explanation.choice.action),
    ]
    ax, places = rows(ax, order, [action == explanation.choice.action for action in order])
    ax.axhspan(-0.5, 0.5, color=colours()["tint"], zorder=0)
    for action, y in zip(order, places, strict=True):
        a = explanation.actions.index(action)
        ax.plot(
            [expected[:, a].min(), expected[:, a].max()],
            [y, y],
            color=colours()["rule"],
            linewidth=2,
            zorder=1,
            label="_",
        )
        for i, name in enumerate(who):
            label = told(name) if y == places[0] else ""
            mark(ax, GROUP_SHAPES[i], float(expected[i, a]), y, of_group(i), label=label, gid=f"{action}: {name}")
    ax.set_xlim(-0.02, 1.02)
    key(ax, title="what it gives")
    title = f"Context {explanation.row}: {readable(explanation.rule)} decides {explanation.choice.action}"
    return titled(ax, title, "expected reward, more is better →")
