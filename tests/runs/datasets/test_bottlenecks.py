"""What a plan says of workers, the driver, parts, passes and hazards, at the borders from which it says so."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from accordant.runs.datasets.bottlenecks import bottleneck, growth_notes, notes_of
from accordant.runs.datasets.plan_record import Growth, Model, Plan, StageModel
from accordant.runs.datasets.schedule import CLUSTER, NONE, Hazards
from accordant.runs.datasets.trials import Trial
from accordant.statistics import Estimate

STAGE = StageModel(fixed=1.0, per_row=0.001, spread=0.0, ready=0.5, start=0.5, driver=0.001, parts=())
MODEL = Model(STAGE, None, 0.0, (), 1.0, 0.0, (0.0, 0.0), 2.5, (0.0, 0.0), NONE, 0.0)
PLAN = Plan(
    kind="evaluate", strategy=None, rows=100_000, parts=100, part_rows=1_000, workers=4, seconds=Estimate(100.0),
    cpu_hours=Estimate(0.1), worker_hours=0.1, cost=None, worker_memory=100.0, driver_memory=10.0, input_bytes=0.0,
    output_bytes=0.0, shares={}, driver=0.0, bottleneck="", most_workers=50, notes=(), model=MODEL,
)  # fmt: skip
ALONE = "before and after, parts are listed and added up by the driver alone: that grows with their number"


def said(trials=(), hazards=NONE, model=None, **changes):
    """Return the notes of a plan of parts that take two seconds each; without trials, of three sizes in proportion."""
    given = dataclasses.replace(MODEL, hazards=hazards, **(model or {}))
    even = [Trial(rows, 1e-3 * rows, 0, 0, 0, 0, 0) for rows in (1_000, 2_000, 4_000)]
    return notes_of(dataclasses.replace(PLAN, model=given, **changes), trials or even)


def test_an_even_job_needs_no_note():
    assert said() == []


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ({"workers": 50}, []),
        ({"workers": 51, "parts": 1_020}, ["more than 50 workers hardly end it sooner: the driver is busy with them"]),
        ({"workers": 1_200, "most_workers": 1_100, "parts": 1_100},
         ["more than 1,100 workers hardly end it sooner: there are 1,100 parts"]),
        ({"workers": 4, "parts": 4}, []),
        ({"workers": 4, "parts": 5},
         ["parts come in 1.2 waves: the last one leaves workers idle; smaller parts would not"]),
        ({"workers": 20, "parts": 191}, []),  # ten waves, the last of them nearly full
        ({"workers": 4, "parts": 37},
         ["parts come in 9.2 waves: the last one leaves workers idle; smaller parts would not"]),
        ({"workers": 4, "parts": 41}, []),  # more than ten
        ({"model": {"crowd": 1.5}}, ["4 workers share fewer cores: each part takes 1.5 times as long as alone"]),
        ({"seconds": Estimate(5.0)}, []),  # a fifth of them before the first part
        ({"seconds": Estimate(4.0)}, ["25% of the time goes before the first part: it does not shrink with more "
                                      "workers"]),
        ({"seconds": Estimate(6.25), "model": {"crowd": 3.0}},
         ["4 workers share fewer cores: each part takes 3 times as long as alone",
          "32% of the time goes before the first part: it does not shrink with more workers"]),
    ],
)  # fmt: skip
def test_notes_on_workers(changes, notes):
    assert said(**changes) == notes


@pytest.mark.parametrize(
    ("model", "kind", "notes"),
    [
        ({"reduction": (9.0, 0.01), "listing": 0.01}, "evaluate", []),  # two seconds for all, as long as one part
        ({"reduction": (0.0, 0.01), "listing": 0.02}, "evaluate", [ALONE]),  # three, one of them to add them up
        ({"reduction": (0.0, 0.03)}, "evaluate",
         [f"{ALONE} (3 s to add them; a tree of 16 each on all workers would add up in 2.5 s, and is not there)"]),
        ({"reduction": (0.0, 0.25), "tree": 12.4}, "evaluate",
         [f"{ALONE} (25 s to add them; a tree of 16 each on all workers would add up in 12 s, and is not there)"]),
        ({"reduction": (0.0, 0.25)}, "monitor", [f"{ALONE} (25 s to add them, one after the other as they follow in "
                                                 "time)"]),
        ({"reduction": (0.0, 0.03), "crowd": 2.0, "listing": 0.005}, "evaluate",
         ["4 workers share fewer cores: each part takes 2 times as long as alone"]),  # a part takes four
    ],
)  # fmt: skip
def test_notes_on_what_the_driver_does_alone(model, kind, notes):
    assert said(model=model, kind=kind) == notes


@pytest.mark.parametrize(
    ("memory", "notes"),
    [(4_096.0, []), (4_097.0, ["the driver needs 4,097 MiB, and this machine has 4,096: larger parts"])],
)
def test_what_the_driver_needs_is_compared_with_the_memory_of_the_machine(memory, notes, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 2**20, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert said(driver_memory=memory) == notes


@pytest.mark.parametrize(
    ("sizes", "bend", "noise", "told"),
    [
        ((1, 2, 4), 1.2, 0.0, []), ((1, 2, 4), 1.3, 0.0, ["1.30"]), ((1, 2, 4), 1.6, 0.0, ["1.60"]),
        ((1, 2, 4), 5.0, 0.0, ["5.00"]), ((1, 4), 5.0, 0.0, []), ((1, 2, 4), 1.4, 0.3, []),
    ],
)  # fmt: skip
def test_a_largest_part_that_took_longer_than_smaller_ones_let_expect_is_told(sizes, bend, noise, told):
    trials = [
        Trial(1_000 * size, (0.1 + 0.02 * size) * (bend if size == 4 else 1) * (1 + noise * sign), 0, 0, 0, 0, 0)
        for size in sizes
        for sign in (-1, 0, 0, 1)
    ]
    assert said(trials) == [
        f"the largest part took {ratio} times what smaller ones let expect: take smaller parts" for ratio in told
    ]


def test_passes_are_told_with_those_of_the_sample():
    model = {"again": STAGE, "passes": 20.6, "counts": ((1_000, 12), (20_000, 17))}
    assert said(model=model) == [
        "about 21 passes over E, one after another: fits to the sample took 12 of 1,000 rows, 17 of 20,000 rows"
    ]


ASSUMED = (
    "assumed: 1% of the parts take 3 times as long, and of 1,000 workers 1 an hour is lost, noticed after 20 s"
)  # fmt: skip


@pytest.mark.parametrize(
    ("hazards", "parts", "notes"),
    [
        (CLUSTER, 100, [ASSUMED]),
        (Hazards(slow=0.5, times=9.0), 100, []),
        # 100 · (90 · 2 / 3600)³ = 0.0125, and 79 times that is below a hundredth
        (dataclasses.replace(CLUSTER, losses=90.0), 100,
         [ASSUMED.replace(" 1 an", " 90000 an"), "some part may lose its worker three times: the same command again "
                                                 "carries on"]),
        (dataclasses.replace(CLUSTER, losses=90.0), 79, [ASSUMED.replace(" 1 an", " 90000 an")]),
    ],
)  # fmt: skip
def test_what_befalls_workers_is_said_to_be_assumed(hazards, parts, notes):
    assert said(hazards=hazards, parts=parts) == notes


@pytest.mark.parametrize(
    ("waiting", "driver", "parts", "workers", "most", "name"),
    [
        (0.0, 0.7, 100, 4, 100, "reading"),
        (0.0, 0.71, 100, 4, 100, "the driver, which takes in one result after another"),
        (0.0, 0.0, 100, 51, 50, "the driver, which takes in one result after another"),
        (0.0, 0.0, 100, 50, 50, "reading"), (0.0, 0.0, 50, 51, 50, "reading"), (0.3, 0.0, 100, 4, 100, "reading"),
        (0.31, 0.0, 4, 4, 4, "the last parts, for which workers wait"),
        (0.31, 0.0, 3, 4, 4, "too few parts for so many workers"),
    ],
)  # fmt: skip
def test_what_limits_a_job(waiting, driver, parts, workers, most, name):
    shares = {"deciding": 0.2, "reading": 0.25, "writing": 0.1, "waiting": waiting}
    assert bottleneck(shares, driver, parts, workers, most) == name


@pytest.mark.parametrize(
    ("powers", "told"),
    [
        ((1.0, 1.099), ["from 10 to 1,000 rows time grows in proportion to rows"]),
        ((0.89, 0.901), ["from 10 to 100 rows time grows less than in proportion to rows: limit 0",
                       "from 100 to 1,000 rows time grows in proportion to rows"]),
        ((1.2, 1.3), ["from 10 to 1,000 rows time grows more than in proportion to rows: limit 2"]),
        ((0.5, 1.5), ["from 10 to 100 rows time grows less than in proportion to rows: limit 0",
                      "from 100 to 1,000 rows time grows more than in proportion to rows: limit 2"]),
    ],
)  # fmt: skip
def test_growth_is_told_stretch_by_stretch_with_what_limits_its_smaller_or_larger_end(powers, told):
    seconds = np.cumprod([1.0, *(10**power for power in powers)])
    growth = [
        Growth(10 * 10**k, 1, Estimate(value), 1.0, 0.0, 0.0, f"limit {k}") for k, value in enumerate(seconds.tolist())
    ]
    assert growth_notes(growth) == told
