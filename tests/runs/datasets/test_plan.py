"""A plan in simulated worlds of known cost: it recovers what parts cost, its interval covers, its scheduler is right."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.compute.tasks import Task
from accordant.errors import InputError
from accordant.runs.datasets import plan
from accordant.runs.datasets.bottlenecks import growth_notes
from accordant.runs.datasets.passes import RESOLVED, Passes
from accordant.runs.datasets.plan import DRIFT, _known, _sizes, plan_dataset, plan_of
from accordant.runs.datasets.plan_record import LEVEL
from accordant.runs.datasets.plan_tasks import plan_tasks
from accordant.runs.datasets.sample import Sample, _apart, _growing, measure
from accordant.runs.datasets.sample_rows import Cut
from accordant.runs.datasets.schedule import (
    CLUSTER,
    NONE,
    Costs,
    Hazards,
    durations_of,
    makespan,
    reduced_in_tree,
)
from accordant.runs.datasets.trials import Trial
from accordant.statistics import Estimate
from accordant.strategies import create
from accordant.strategies.population import PopulationInMemory
from accordant.tables.datasets import Part
from accordant.utilities import ExpectedRewards

ROWS = (8_000, 32_000, 128_000)
SLOW, QUIET = 5e-6, 0.1  # seconds of a row, and of a part
START = 0.5 + QUIET + SLOW * ROWS[0], 0.4 + QUIET + SLOW * ROWS[0]  # of the smallest part in a new worker


def sampled(generator, spread=0.05, *, fixed=QUIET, per_row=SLOW, driver=0.002, sizes=ROWS, reduction=(0.0, 0.0)):
    """Return what a sample measures in a world of known costs."""
    sigma = math.sqrt(math.log1p(spread**2))
    trials = []
    for rows in np.repeat(sizes, 4).tolist():
        seconds = (fixed + per_row * rows) * generator.lognormal(-(sigma**2) / 2, sigma)
        trials.append(Trial(rows, seconds, seconds, 300 + rows / 1e4, START[0], START[1], 1_000 + 40 * rows))
    return Sample(
        "recommend", "maximin", tuple(trials), 2, 0.1, 0.3, 4.0, 2, 0.1, driver, (0.0, 0.01), 0.0, reduction
    )  # fmt: skip


def one_by_one(durations, workers, driver):
    """The scheduler in small steps, without a heap: whoever is free first gets the next part, results queue up."""
    ends = list(durations[:workers])
    free, given_out = 0.0, len(ends)
    while ends:
        first = min(range(len(ends)), key=ends.__getitem__)
        free = max(free, ends.pop(first)) + driver
        if given_out < len(durations):
            ends.append(free + durations[given_out])
            given_out += 1
    return free


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.integers(1, 40), st.floats(0, 2))
def test_the_scheduler_is_its_brute_force_twin(durations, workers, driver):
    assert makespan(np.array(durations), workers, driver) == pytest.approx(one_by_one(durations, workers, driver))


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40), st.integers(1, 12))
def test_no_schedule_beats_its_bounds_and_this_one_keeps_grahams(durations, workers):
    """Between what no schedule can beat, and (2 - 1/W) times it (Graham 1966)."""
    bound = max(max(durations), sum(durations) / workers)
    found = makespan(np.array(durations), workers, 0.0)
    assert bound * (1 - 1e-9) <= found <= (2 - 1 / workers) * bound * (1 + 1e-9)


@pytest.fixture
def steady(monkeypatch):
    """A machine that is as fast during the job as it was during the sample."""
    monkeypatch.setattr("accordant.runs.datasets.plan.DRIFT", 0.0)


def test_a_world_without_noise_is_told_exactly(steady):
    sample = sampled(np.random.default_rng(0), spread=0.0)
    found = plan_of(sample, np.full(20, 200_000.0), 4)
    part = QUIET + SLOW * 200_000
    seconds = 0.6 + makespan(np.full(20, part), 4, 0.002)
    assert (found.seconds.low, found.seconds.value, found.seconds.high) == pytest.approx([seconds] * 3)
    assert found.cpu_hours.value * 3600 == pytest.approx(20 * part + 4 * 0.4 + 20 * 0.002)
    assert found.output_bytes == pytest.approx(20 * (1_000 + 40 * 200_000))
    assert found.input_bytes == 4 * 4_000_000 and found.driver_memory == pytest.approx(0.2)
    assert found.worker_memory == pytest.approx(320)
    assert sum(found.shares.values()) == pytest.approx(1)


def with_passes(sample, counts=((ROWS[0], 12),), *, seconds=0.25, driver=0.001):
    """Return a sample of a job that passes over what it wrote, a quarter of a second for a part of any size."""
    trials = tuple(Trial(rows, seconds, seconds, 350.0, seconds + 0.05, seconds, 0) for rows in np.repeat(ROWS, 4))
    return dataclasses.replace(sample, kind="population", passes=Passes(counts, trials, 0.02, driver, 0.01))


def test_passes_of_a_world_without_noise_are_told_exactly(steady, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.passes.VARIED", 0.0)
    plain = sampled(np.random.default_rng(0), spread=0.0)
    rows = np.full(20, 200_000.0)
    without, found = plan_of(plain, rows, 4), plan_of(with_passes(plain), rows, 4)
    one = 0.02 + 0.05 + one_by_one([0.25] * 20, 4, 0.001)
    assert found.seconds.value == pytest.approx(without.seconds.value + 12 * one)
    assert (found.cpu_hours.value - without.cpu_hours.value) * 3600 == pytest.approx(
        12 * (20 * 0.25 + 20 * 0.001 + 0.01)
    )
    assert found.input_bytes == pytest.approx(without.input_bytes + 12 * found.output_bytes)
    assert found.worker_memory == 350 and sum(found.shares.values()) == pytest.approx(1)
    assert found.shares["passing over E"] == pytest.approx(12 * 20 * 0.25 / (4 * found.seconds.value))
    assert found.bottleneck == "passing over E" and any("about 12 passes" in note for note in found.notes)


def test_the_number_of_passes_grows_with_the_logarithm_of_rows_until_more_rows_change_nothing():
    found = Passes(((1_000, 20), (10_000, 30)), (), 0.0, 0.0, 0.0)
    assert found.number(1_000) == pytest.approx(20) and found.number(31_623) == pytest.approx(35, abs=0.01)
    assert found.number(1e9) == found.number(RESOLVED) == pytest.approx(40)
    assert Passes(((1_000, 20), (10_000, 16)), (), 0.0, 0.0, 0.0).number(1e9) == pytest.approx(18)
    assert Passes(((50, 7),), (), 0.0, 0.0, 0.0).number(1e9) == 7
    once = Passes(((1_000, 1), (10_000, 1)), (), 0.0, 0.0, 0.0)
    assert once.number(1e9) == 1 == once.drawn(1e9, 50, np.random.default_rng(0)).min()
    drawn = found.drawn(1e9, 2_000, np.random.default_rng(0))
    assert np.median(drawn) == pytest.approx(40, rel=0.02) and np.std(np.log(drawn)) == pytest.approx(0.1, rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize("name", ["population_maximin", "population_nash"])
def test_passes_of_a_large_fit_are_told_by_small_ones(name):
    values = np.random.default_rng(3).beta(2, 3, (4, 5, 64_000))
    expected, rule = ExpectedRewards(values, stakeholders=list("abcd"), actions=list("uvwxy")), create(name)
    counts = {n: rule.solve(PopulationInMemory(expected.take(slice(n)))).passes for n in (1_000, 4_000, 64_000)}
    told = Passes(tuple((n, counts[n]) for n in (1_000, 4_000)), (), 0.0, 0.0, 0.0)
    assert told.number(64_000) == pytest.approx(counts[64_000], rel=0.25) and counts[64_000] > counts[1_000]


@pytest.mark.parametrize(("duration", "losses"), [(60.0, 2.0), (600.0, 6.0), (600.0, 20.0)])
def test_lost_workers_cost_what_restarts_cost_in_theory(duration, losses):
    """Work that begins anew at failures of rate λ takes (exp(λ d) - 1) (1 / λ + what a failure costs) on average."""
    rate, generator = losses / 3600, np.random.default_rng(8)
    found = durations_of(np.full(200_000, duration), 0.0, Hazards(0.0, 1.0, losses, 20.0), 5.0, generator)
    theory = math.expm1(rate * duration) * (1 / rate + 25)
    assert found.mean() == pytest.approx(theory, abs=4 * found.std() / math.sqrt(len(found)))
    assert found.min() == pytest.approx(duration)


def added_in_tree(count, workers, each, fan_in):
    """A tree of sums in small steps: lists of results become one, level after level, by whoever is free."""
    level, seconds = [[k] for k in range(count)], 0.0
    while len(level) > 1:
        groups = [level[k : k + fan_in] for k in range(0, len(level), fan_in)]
        seconds += one_by_one([each * len(group) for group in groups], workers, 0.0)
        level = [[k for result in group for k in result] for group in groups]
    assert level == [list(range(count))]
    return seconds


@given(st.integers(1, 300), st.integers(1, 40), st.integers(2, 9))
def test_a_tree_of_sums_is_its_brute_force_twin(parts, workers, fan_in):
    assert reduced_in_tree(parts, workers, 0.5, fan_in) == pytest.approx(added_in_tree(parts, workers, 0.5, fan_in))


def test_a_tree_of_sums_takes_the_logarithm_of_the_parts():
    assert reduced_in_tree(16**4, 16**3, 0.1, 16) == pytest.approx(4 * 16 * 0.1)
    assert reduced_in_tree(1, 5, 0.1) == 0


@pytest.mark.parametrize(("fixed", "per_row"), [(0.1, 5e-6), (0.0, 5e-6), (2.0, 0.0), (5.0, 1e-4)])
def test_costs_are_recovered(fixed, per_row):
    sample = sampled(np.random.default_rng(1), 0.02, fixed=fixed, per_row=per_row)
    found = Costs.of(*np.array([(each.rows, each.seconds) for each in sample.trials]).T)
    for rows in (8_000, 500_000):
        assert found.mean @ (1, rows) == pytest.approx(fixed + per_row * rows, rel=0.06)
    assert found.mean.min() >= 0 and found.spread == pytest.approx(0.02, rel=0.6)


@pytest.mark.few(1)
@pytest.mark.parametrize("drift", [0.0, DRIFT])
@pytest.mark.parametrize(
    ("spread", "parts", "workers", "hazards"),
    [(0.05, 40, 4, NONE), (0.3, 3, 2, NONE), (0.1, 200, 50, Hazards(0.05, 3.0, 20.0, 2.0))],
)
def test_the_interval_covers(monkeypatch, drift, spread, parts, workers, hazards):
    """In 100 worlds, each with a sample of its own: nine in ten, up to three standard errors of 100 worlds."""
    monkeypatch.setattr("accordant.runs.datasets.plan.REPETITIONS", 100)
    monkeypatch.setattr("accordant.runs.datasets.plan.DRIFT", drift)
    inside, rows, worlds = 0, np.full(parts, 200_000.0), 100
    for world in range(worlds):
        generator = np.random.default_rng([7, world])
        found = plan_of(sampled(generator, spread), rows, workers, hazards=hazards, seed=world).seconds
        took = 0.6 + one_by_one(_done(generator, rows, spread, hazards), workers, 0.002)
        inside += found.low <= took * math.exp(drift * generator.standard_normal()) <= found.high
    assert inside / worlds >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / worlds)


def _done(generator, rows, spread, hazards):
    """Return how long workers are busy with each part in a world of known costs, each tried until one survives it."""
    sigma = math.sqrt(math.log1p(spread**2))
    work = (QUIET + SLOW * rows) * generator.lognormal(-(sigma**2) / 2, sigma, len(rows))
    work[generator.random(len(rows)) < hazards.slow] *= hazards.times
    for part, left in enumerate(work.tolist()):
        while hazards.losses and (alive := generator.exponential(3600 / hazards.losses)) < left:
            work[part] += alive + hazards.unnoticed + 0.6
    return work


@pytest.mark.long
def test_what_limits_a_job_is_named():
    sample = sampled(np.random.default_rng(2))
    many = plan_of(sample, np.full(3_000, 100_000.0), 1_000)
    assert "driver" in many.bottleneck and many.driver > 0.7
    assert many.most_workers < 1_000 and any("hardly end it sooner" in note for note in many.notes)
    waiting = plan_of(sample, np.full(5, 100_000.0), 4)
    assert "last parts" in waiting.bottleneck and any("waves" in note for note in waiting.notes)
    assert "too few" in plan_of(sample, np.full(3, 1e6), 8).bottleneck
    alone = plan_of(sample, np.full(50, 500_000.0), 1)
    assert alone.bottleneck == "deciding" and not alone.notes
    reading = plan_of(dataclasses.replace(sample, reading=0.6), np.full(50, 500_000.0), 1)
    assert reading.bottleneck == "reading"


def test_growth_that_is_not_linear_is_told():
    bent = [Trial(n, 1e-10 * n**2, 1e-10 * n**2, 300, 0.5, 0.5, n) for n in ROWS for _ in range(4)]
    sample = dataclasses.replace(sampled(np.random.default_rng(3)), trials=tuple(bent))
    assert any("smaller parts" in note for note in plan_of(sample, np.full(9, 128_000.0), 1).notes)
    summed = sampled(np.random.default_rng(4), reduction=(0.1, 0.01))
    found = plan_of(summed, np.full(2_000, 5e5), 100)
    assert any("the driver alone" in note and "(20 s to add them; a tree" in note for note in found.notes)
    assert found.model.tree < 1 < found.model.reduction[1] * 2_000


def test_processes_that_share_a_reduction_all_take_processor_time():
    alone = sampled(np.random.default_rng(5), reduction=(10.0, 0.5))
    one, three = (
        plan_of(dataclasses.replace(alone, reduction_cpu=n), np.full(40, 100_000.0), 2, seed=1) for n in (1, 3)
    )
    assert one.seconds == three.seconds
    more = 3600 * (three.cpu_hours.value - one.cpu_hours.value)
    assert more == pytest.approx(2 * (10.0 + 0.5 * 40), rel=0.05)  # but for the drift of the machine


def test_what_the_driver_cannot_hold_is_told():
    sample = dataclasses.replace(sampled(np.random.default_rng(4)), driver_memory=(300.0, 1e6))
    found = plan_of(sample, np.full(20, 5e5), 4)
    assert found.driver_memory == pytest.approx(300 + 2e7)
    assert any(note.startswith("the driver needs") for note in found.notes)


def test_where_time_grows_in_proportion_and_where_not():
    sample = sampled(np.random.default_rng(9))
    grown = [plan_of(sample, np.full(10**k, 5e5), 50).grown() for k in range(5)]
    less, straight = growth_notes(grown)
    assert (
        less
        == "from 500,000 to 50,000,000 rows time grows less than in proportion to rows: too few parts for so many workers"
    )
    assert straight == "from 50,000,000 to 5,000,000,000 rows time grows in proportion to rows"
    steep = [dataclasses.replace(each, seconds=Estimate(10.0 ** (2 * k))) for k, each in enumerate(grown[:2])]
    assert growth_notes(steep)[0].startswith("from 500,000 to 5,000,000 rows time grows more than in proportion")
    assert growth_notes(grown[:1]) == []


def test_workers_without_a_core_share_and_a_price_is_paid_for_waiting_too(steady):
    sample = sampled(np.random.default_rng(5), spread=0.0)
    shared, own = (plan_of(sample, np.full(8, 5e5), 8, cores=cores, price=2.0) for cores in (2, 8))
    assert shared.seconds.value == pytest.approx(4 * own.seconds.value, rel=0.05)
    assert own.cost == pytest.approx(2 * 8 * own.seconds.value / 3600)
    assert any("share fewer cores" in note for note in shared.notes)


def test_hazards_cost_and_are_said_to_be_assumed():
    sample = sampled(np.random.default_rng(6))
    rows = np.full(400, 5e5)
    calm, rough = plan_of(sample, rows, 40), plan_of(sample, rows, 40, hazards=CLUSTER)
    assert rough.seconds.high > calm.seconds.high and any(note.startswith("assumed") for note in rough.notes)
    assert any("three times" in note for note in plan_of(sample, rows, 40, hazards=Hazards(losses=600)).notes)


@pytest.mark.parametrize(
    ("on", "workers", "hazards"),
    [
        ("here", None, NONE), ("processes:2", None, NONE), ("ray:", None, NONE), ("ray://local", None, NONE),
        ("dask:local", None, NONE), ("ray://head:10001", None, CLUSTER), ("dask://head", None, CLUSTER),
        ("processes:2", 40, CLUSTER),
    ],
)  # fmt: skip
def test_workers_of_this_machine_are_not_lost(on, workers, hazards, monkeypatch):
    monkeypatch.setattr(plan, "measure", lambda *asked: sampled(np.random.default_rng(6)))
    told = plan_dataset(SimpleNamespace(), "recommend", on, rows=2_000_000, workers=workers)
    assert told.model.hazards == hazards and told.workers == (workers or 2)
    assert any(note.startswith("assumed") for note in told.notes) == (hazards is CLUSTER)
    assert any("rows come from" in note for note in told.notes) is False


def test_a_plan_is_the_same_for_the_same_seed():
    sample = sampled(np.random.default_rng(7))
    first, again, other = (plan_of(sample, np.full(30, 1e5), 4, seed=seed) for seed in (1, 1, 2))
    assert first == again and first.seconds != other.seconds


def test_parts_of_a_dataset_are_repeated_until_there_are_as_many_rows_as_asked(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x" * 600)
    parts = [Part(0, "a", (0, 1), 0, 70, 0), Part(1, str(tmp_path / "a.csv"), None, 0, None, 1)]
    known, unknown = _known(parts, 500, 20.0), _known(None, 500, 20.0)
    assert _sizes(known, None).tolist() == [70, 30]
    assert _sizes(known, 250).tolist() == [70, 30, 70, 30, 50]
    assert _sizes(unknown, 1_200).tolist() == [500, 500, 200]
    assert _sizes(unknown, 1_000).tolist() == [500, 500]


@pytest.mark.parametrize(
    ("alone", "together", "shares"),
    [
        ((2.0, 1.0), 10.0, (0.2, 0.1)),
        ((2.0, 1.0), 0.5, (2 / 3, 1 / 3)),  # both took longer when done alone: no more than all of the time
    ],
)
def test_reading_and_writing_have_their_own_shares_of_the_time_of_a_part(monkeypatch, alone, together, shares):
    monkeypatch.setattr("accordant.runs.datasets.sample.Processes", lambda _: SimpleNamespace(run=lambda *_: None))
    monkeypatch.setattr("accordant.runs.datasets.sample.in_order", lambda _: [alone])
    part = Part(0, "rows.csv", None, 0, None, 0)
    assert _apart(Task("recommend", {}), part, {"output": "a.csv"}, together) == pytest.approx(shares)


@pytest.mark.parametrize(
    ("size", "rows"),
    [(1, ['1,"x\ny"\n']), (2, ['1,"x\ny"\n', "2,z\n"]), (3, ['1,"x\ny"\n', "2,z\n", '1,"x\ny"\n'])],
)
def test_the_first_rows_of_a_csv_are_cut_and_taken_again_if_they_are_few(tmp_path, size, rows):
    (tmp_path / "all.csv").write_text('a,b\n1,"x\ny"\n2,z', newline="")
    (tmp_path / "sample").mkdir()
    file = Cut({}, str(tmp_path / "all.csv"), tmp_path / "sample")(size)
    assert Path(file).read_text(encoding="utf-8") == "a,b\n" + "".join(rows)


def test_folders_of_the_first_file_say_columns_of_all_rows_that_are_cut(tmp_path):
    for kind in ("a", "b"):
        (tmp_path / "rows" / f"kind={kind}").mkdir(parents=True)
        (tmp_path / "rows" / f"kind={kind}" / "part.csv").write_text("x\n1\n")
    assert Cut({}, str(tmp_path / "rows"), tmp_path).folders == {"kind": "a"}
    assert Cut({}, str(tmp_path / "rows" / "kind=b" / "part.csv"), tmp_path).folders == {}
    assert Cut({}, None, tmp_path).folders == {}


@pytest.mark.parametrize(
    ("part_rows", "seconds", "sizes"),
    [
        (1_024_000, 0.0, [4_000, 16_000, 64_000, 256_000, 1_024_000]),
        (100, 0.0, [25, 100]),
        (1, 0.0, [1]),
        (1_024_000, 1e6, [4_000, 16_000]),  # two in any case
    ],
)
def test_sampled_parts_are_four_times_as_large_each_time(tmp_path, monkeypatch, part_rows, seconds, sizes):
    (tmp_path / "rows.csv").write_text("a\n1\n")
    monkeypatch.setattr("accordant.runs.datasets.sample.LARGEST", 10**9)
    monkeypatch.setattr("accordant.runs.datasets.sample.Processes", lambda _: SimpleNamespace(run=lambda *_: None))
    monkeypatch.setattr("accordant.runs.datasets.sample.in_order", lambda _: [str(tmp_path / "rows.csv")])
    trials = [SimpleNamespace(seconds=seconds)]
    parts = _growing(SimpleNamespace(folders={}), part_rows, trials, 1, time.perf_counter())
    assert [part.rows for part in parts] == sizes


@pytest.mark.long
@pytest.mark.parametrize("place", ["here", "processes:2"])
def test_small_parts_are_carried_out(own, dataset, place, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    before = dataset.read_bytes()
    found = plan_dataset(own, "recommend", place, rows=1_000, dataset=str(dataset), part_rows=20)
    assert (found.kind, found.rows, found.parts, found.part_rows) == ("recommend", 1_000, 60, 20)
    assert 0 < found.seconds.low <= found.seconds.value <= found.seconds.high
    assert found.workers == (1 if place == "here" else 2)
    assert found.worker_memory > 20 and found.input_bytes > 0 and found.output_bytes > 0
    assert dataset.read_bytes() == before


@pytest.mark.long
def test_csv_and_a_certificate(own, table, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    table.assign(name='two\nlines, "quoted"').to_csv(tmp_path / "rows.csv", index=False)
    sample = measure(own, "certify", "here", str(tmp_path / "rows.csv"), 40)
    assert {each.rows for each in sample.trials} == {10, 40} and sample.kind == "certify"
    assert 0 <= sample.reading <= 1 and 0 <= sample.writing <= 1 and sample.input_bytes > 10


@pytest.mark.long
def test_folders_that_say_columns(own, table, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    (tmp_path / "rows" / "kind=1").mkdir(parents=True)
    table.drop(columns="kind").to_parquet(tmp_path / "rows" / "kind=1" / "a.parquet")
    sample = measure(own, "recommend", "here", str(tmp_path / "rows"), 40)
    assert {each.rows for each in sample.trials} == {10, 40}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "--rows N, or a DATASET"),
        ({"rows": 0}, "--rows is 0; allowed: 1 to"),
        ({"rows": math.nan}, "--rows is nan"),
        ({"rows": 1e9, "part_rows": 100}, "1,000,000 parts"),
        ({"rows": 10, "price": -1}, "--price is -1"),
        ({"rows": 10, "kind": "recomend"}, "recommend"),
        ({"rows": 10, "on": "proceses:2"}, "did you mean 'processes'"),
        ({"rows": 10, "on": "threads:2"}, "processes:N"),
        ({"rows": 10, "on": "queue://sqlite:///x"}, "--workers N"),
        ({"rows": 10}, "name a DATASET"),
        ({"rows": 10, "dataset": "nowhere"}, "nowhere"),
        ({"rows": 10, "kind": "population"}, "has no strategy for the whole policy"),
        ({"rows": 10, "kind": "evaluate", "strategy": "maximin"}, "--strategy has no effect on evaluate"),
        ({"rows": 10, "kind": "monitor", "strategy": "maximin"}, "--strategy has no effect on monitor"),
        ({"rows": 10, "strategy": "maximum"}, "unknown strategy 'maximum'"),
    ],
)
def test_what_cannot_be_planned_is_refused(own, given, words):
    asked = {"kind": "recommend", "on": "here", **given}
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        plan_dataset(own, asked.pop("kind"), asked.pop("on"), **asked)


def test_every_task_of_datasets_can_be_planned():
    from accordant.compute.tasks import tasks

    passes = {"best_sums", "lowest_sums", "decided_sums"}
    assert set(plan_tasks.names()) == set(tasks.names()) - {"empty", "study_run"} - passes


@pytest.mark.parametrize("name", plan_tasks.names())
def test_every_task_that_can_be_planned_has_words(name):
    found = plan_tasks.create(name)
    assert found.title[0].isupper() and found.each.endswith("each part") and found.words[0].islower()


@pytest.mark.long
def test_parts_of_a_dataset_that_are_too_many_are_refused(own, dataset, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    with pytest.raises(InputError, match="more than 1,000,000 parts like those of"):
        plan_dataset(own, "recommend", "here", rows=4e8, dataset=str(dataset))
