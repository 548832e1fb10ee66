"""What a run writes down about how far its decisions and its choice can be trusted."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Known, radius, reachable
from accordant.errors import InputError
from accordant.runs import read_run, write_run
from accordant.runs.scrutiny import COMPARED, RADII, Scrutiny, largest_coalition
from accordant.runs.untouched_rows import untouched_rows

NAMES = ("own", "care")


@pytest.fixture(scope="module")
def untouched(outcomes, cases, tmp_path_factory):
    """Name to the untouched rows of a written run."""
    found = {}
    for name in NAMES:
        folder = write_run(outcomes[name], tmp_path_factory.mktemp(name) / "run")
        found[name] = untouched_rows(read_run(folder), str(cases[name].parent))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_record_holds_plain_values_and_every_section(outcomes, name):
    scrutiny = outcomes[name].record.content["scrutiny"]
    assert list(scrutiny) == [
        "strategy", "certificates", "by_strategy", "bounds", "unbounded", "ranking", "influence", "weights", "unweighed", "conflict",
        "sensitivity", "gains", "budget",
    ]  # fmt: skip
    assert json.loads(json.dumps(scrutiny, allow_nan=False)) == scrutiny
    assert scrutiny["strategy"] == outcomes[name].record.content["selected"]


@pytest.mark.parametrize("name", NAMES)
def test_certified_shares_are_those_of_the_saved_policy(outcomes, untouched, name):
    scrutiny, rows = outcomes[name].record.content["scrutiny"], untouched[name]
    policy, evidence = rows.run.policy, rows.evidence()
    known = Known(evidence.prediction, evidence.log, evidence.log.contexts)
    rule = policy.strategies_[scrutiny["strategy"]]
    for entry in scrutiny["certificates"]["coalitions"]:
        radii = radius(rule, evidence.expected, coalition=entry["members"], known=known)
        assert entry["certified"] == [float((radii > d).mean()) if d else 1.0 for d in RADII]
    for entry in scrutiny["by_strategy"]:
        other = policy.strategies_[entry["strategy"]]
        for delta, share in zip(COMPARED, entry["everybody"], strict=True):
            sets = reachable(other, evidence.expected, delta=delta, known=known)
            assert share == pytest.approx(float((sets.sum(axis=0) == 1).mean()), abs=1e-12)
        assert all(alone >= share for alone, share in zip(entry["worst_single"], entry["everybody"], strict=True))


def test_parity_is_priced_for_the_selected_rule(untouched):
    policy, evidence = untouched["own"].run.policy, untouched["own"].evidence()
    rule = strategies.create("maximin").for_problem(evidence.problem)
    changed = copy.copy(policy)
    changed.strategies_ = policy.strategies_ | {rule.label: rule}
    changed.selected_ = rule.label
    (price,) = Scrutiny(changed, evidence).findings()[1]["conflict"]["prices"]
    assert price["rule"] == "maximin"


@pytest.mark.parametrize("name", NAMES)
def test_bounds_hold_the_value_of_the_leaderboard(outcomes, name):
    content = outcomes[name].record.content
    selected = next(row for row in content["test"]["leaderboard"] if row["strategy"] == content["selected"])
    assert content["scrutiny"]["bounds"]
    for entry in content["scrutiny"]["bounds"]:
        value = selected["metrics"][entry["metric"]]["value"]
        assert entry["nominal"] == pytest.approx(value, abs=1e-12)
        ends = [entry[end] for end in ("low", "attained_low", "nominal", "attained_high", "high")]
        assert (np.diff(ends) >= -1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_simple_searches_stay_within_the_bounds_and_find_something(outcomes, name):
    found = 0
    for entry in outcomes[name].record.content["scrutiny"]["bounds"]:
        for reached in filter(None, entry["searched"].values()):
            assert entry["low"] - 1e-9 <= reached[0] <= reached[1] <= entry["high"] + 1e-9
            found += 1
    assert found


def test_surveys_stay_small():
    assert [largest_coalition(n) for n in (1, 3, 5)] == [None] * 3
    assert [largest_coalition(n) for n in (6, 8, 10)] == [2] * 3
    assert [largest_coalition(n) for n in (11, 40)] == [1] * 2


def test_other_data_than_the_runs_are_refused(outcomes, cases, untouched, tmp_path):
    changed = tmp_path / "own.csv"
    lines = (cases["own"].parent / "own.csv").read_text().splitlines()
    changed.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InputError, match="is not the same data"):
        untouched_rows(untouched["own"].run, str(tmp_path))


def test_evidence_of_the_untouched_rows_is_that_of_the_run(outcomes, untouched):
    shares = {name: len(rows.data.log) for name, rows in untouched.items()}
    assert shares == {name: outcomes[name].record.content["data"]["test"] for name in NAMES}
    assert np.isfinite(untouched["own"].evidence().expected.values).all()
