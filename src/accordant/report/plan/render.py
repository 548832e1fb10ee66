"""From a plan to one HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant import __version__
from accordant.naming import counted
from accordant.report.charts.curves import Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.page import Page
from accordant.report.plan.wording import constant, digits, duration, power, size, span
from accordant.report.scale import Scale
from accordant.runs.datasets.plan_record import LEVEL, Growth, Plan
from accordant.runs.datasets.plan_tasks import plan_tasks
from accordant.runs.folder import Run

MOST_TICKS = 8  # powers of ten on an axis that labels have room for


@dataclass(frozen=True)
class Step:
    """One part of the schedule: what is done, by whom, and how long it takes if nobody waits."""

    done: str
    who: str
    seconds: float


def render_plan(plan: Plan, run: Run) -> str:
    """Return the page: what will be done, when, what it takes and limits it, how it grows, and the model behind it.

    Nothing but the plan, and the title of the run's case, is read.
    """
    grown = sorted({point.rows: point for point in (*plan.growth, plan.grown())}.values(), key=lambda point: point.rows)
    return PAGE.render(
        "plan.html", plan=plan, case=run.case.title, run=run.manifest.sha256, version=__version__,
        title=f"{plan_tasks.create(plan.kind).title} {power(plan.rows)} rows", steps=steps(plan), growth=grown,
        chart=growth_chart(grown),
    )  # fmt: skip


def steps(plan: Plan) -> list[Step]:
    """Return what is done one after another, in expectation and without what befalls workers."""
    model, waves = plan.model, math.ceil(plan.parts / plan.workers)
    steps = [
        Step("list the parts", "driver", model.listing * plan.parts),
        Step("get ready", "workers", model.first.start + model.first.ready * model.crowd),
    ]
    maps = [(plan_tasks.create(plan.kind).each, model.first, 1.0)]
    if model.again is not None:
        maps.append((f"pass over E, about {model.passes:.0f} times", model.again, model.passes))
    for words, stage, times in maps:
        part = (stage.fixed + stage.per_row * plan.part_rows) * model.crowd
        even = max(waves * part, stage.driver * plan.parts) + (stage.start + stage.ready * model.crowd) * (times > 1)
        steps.append(Step(words, counted(min(plan.workers, plan.parts), "worker"), times * even))
    if any(model.reduction):
        steps.append(
            Step(plan_tasks.create(plan.kind).together, "driver", model.reduction[0] + model.reduction[1] * plan.parts)
        )
    return steps


class _Powers(Scale):
    """A scale of powers of ten, whose values are their logarithms."""

    def labels(self) -> list[str]:
        """Return the powers."""
        return [power(10.0**tick) for tick in self.ticks]


class _Durations(_Powers):
    """Logarithms of seconds."""

    def labels(self) -> list[str]:
        """Return seconds in words, short enough for an axis."""
        return [f"{power(10.0**tick)} s" for tick in self.ticks]


class _Seconds(Axes):
    """Axes of which the values are logarithms of seconds."""

    def value(self, value: float) -> str:
        """Return the duration."""
        return duration(10.0**value)


def growth_chart(growth: Sequence[Growth]) -> Markup | None:
    """Return time over rows, both on scales of powers, beside what even work and the driver alone would take.

    None where there is one size.
    """
    if len(growth) < 2:
        return None
    values = {
        "predicted": [point.seconds.value or 0.0 for point in growth],
        "work, shared evenly": [point.ideal for point in growth],
        "the driver, busy": [point.driver for point in growth],
    }
    curves = [
        Curve(name, tuple(
            (math.log10(point.rows), math.log10(seconds))
            for point, seconds in zip(growth, taken, strict=True) if seconds > 0
        ))
        for name, taken in values.items()
    ]  # fmt: skip
    curves = [curve for curve in curves if curve.points]
    across = _powers([x for curve in curves for x, _ in curve.points], plot_width(), _Powers)
    up = _powers([y for curve in curves for _, y in curve.points], plot_height(), _Durations)
    return curve_chart(
        "growth-chart", "Predicted time by rows", curves, _Seconds(across, up, ("rows →", "seconds, powers of ten"))
    )


def _powers(values: Sequence[float], ends: tuple[float, float], kind: type[Scale]) -> Scale:
    low, high = math.floor(min(values) + 1e-9), math.ceil(max(values) - 1e-9)
    high = max(high, low + 1)
    step = -(-(high - low) // MOST_TICKS)
    return kind(low, high, *ends, tuple(float(tick) for tick in range(low, high + 1, step)))


PAGE = Page(
    "accordant.report.plan", "",
    filters={
        "duration": duration, "digits": digits, "size": size, "power": power, "constant": constant, "counted": counted,
    },
    names={"LEVEL": LEVEL, "span": span},
)  # fmt: skip
