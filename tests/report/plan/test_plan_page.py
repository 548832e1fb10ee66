"""The page of a plan: its drawing lies in its picture, its words are those of the plan, names are escaped."""

from __future__ import annotations

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

from accordant.report.plan import render_plan
from accordant.report.plan.render import growth_chart, steps
from accordant.report.plan.wording import constant, duration, power, size, span
from accordant.runs.datasets.passes import Passes
from accordant.runs.datasets.plan import plan_of
from accordant.runs.datasets.sample import Sample
from accordant.runs.datasets.schedule import CLUSTER, NONE
from accordant.runs.datasets.trials import Trial
from tests.drawings import faults

RUN = SimpleNamespace(
    case=SimpleNamespace(title="Beds <b>& more</b>"), manifest=SimpleNamespace(sha256="0123456789abcdef")
)


def planned(kind="recommend", *, workers=100, parts=2_000, hazards=CLUSTER, passes=None, reduction=(0.0, 0.0)):
    """Return a plan from a made-up sample, with its growth."""
    trials = tuple(
        Trial(rows, 0.1 + 1e-5 * rows * (1 + 0.01 * k), 0.1 + 1e-5 * rows, 300.0, 0.5, 0.4, 40 * rows)
        for rows in (8_000, 32_000, 128_000)
        for k in range(4)
    )
    sample = Sample(
        kind, "population_maximin", trials, 2, 0.1, 0.2, 4.0, 2, 0.1, 0.002, (300.0, 0.004), 1e-3, reduction, passes
    )  # fmt: skip
    sizes = [np.full(n, 5e5) for n in (1, 10, 100, 1_000)]
    growth = tuple(plan_of(sample, each, workers, hazards=hazards).grown() for each in sizes)
    return dataclasses.replace(plan_of(sample, np.full(parts, 5e5), workers, hazards=hazards, price=1), growth=growth)


def of_passes():
    trials = tuple(Trial(rows, 1e-7 * rows, 1e-7 * rows, 310.0, 0.05, 0.05, 0) for rows in (8_000, 32_000, 128_000))
    return planned("population", passes=Passes(((8_000, 14), (32_000, 17)), trials, 0.02, 0.001, 0.01))


PLANS = {
    "cluster": planned, "passes": of_passes, "sums": lambda: planned("evaluate", reduction=(0.5, 0.01)),
    "one part": lambda: planned(workers=1, parts=1, hazards=NONE),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_a_page_says_what_the_plan_does(name):
    plan = PLANS[name]()
    html = render_plan(plan, RUN)
    assert faults(html) == [] and "Beds &lt;b&gt;&amp; more&lt;/b&gt;" in html and "<b>&" not in html
    plain = re.sub(r"<[^>]*>", "", html)
    for note in plan.notes:
        assert note in plain
    for words in (
        duration(plan.seconds.value),
        plan.bottleneck,
        size(plan.output_bytes),
        constant(plan.model.first.per_row),
    ):
        assert words in plain
    assert ("no worker is lost" in plain) == (not plan.model.hazards.losses)
    assert ("A pass over E" in plain) == (plan.model.again is not None)
    assert ("in a tree instead" in plain) == any(plan.model.reduction)
    assert plain.count("this job") == 1


@pytest.mark.long
def test_the_schedule_is_the_job_without_chance():
    plan = of_passes()
    calm = dataclasses.replace(plan, model=dataclasses.replace(plan.model, hazards=NONE))
    assert sum(each.seconds for each in steps(calm)) == pytest.approx(plan.seconds.value, rel=0.25)
    assert [each.who for each in steps(plan)] == ["driver", "workers", "100 workers", "100 workers"]


@pytest.mark.long
def test_one_size_makes_no_chart():
    assert growth_chart(planned().growth[:1]) is None


def test_amounts_in_words():
    assert [duration(each) for each in (0.5, 90, 7_200, 864_000)] == [
        "0.5 seconds",
        "1.5 minutes",
        "2 hours",
        "10 days",
    ]
    assert span(60, 240, 120) == "1–4 minutes" and [size(each) for each in (10, 2e9)] == ["10 bytes", "2 GB"]
    assert [power(each) for each in (1, 1e9, 4.2e7, 123_456)] == ["10⁰", "10⁹", "4.2 × 10⁷", "1.23 × 10⁵"]
    assert [constant(each) for each in (0, 0.25, 1.5e-7)] == ["0", "0.25", "1.50 × 10⁻⁷"]
