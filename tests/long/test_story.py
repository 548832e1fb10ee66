"""The story, command by command, against its truth; and what the report claims over many seeds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from accordant.cases.story.homes import ACTIONS, CONDITION, DEMAND, BURDEN, OUTCOMES, drawn_homes, true_chances
from accordant.cases.story.residents import KINDS
from accordant.cases.story.truth import true_expected, true_rewards
from accordant.cli.app import app
from accordant.cli.run_tables import print_run
from accordant.contexts import Contexts
from accordant.report.summary import VERDICT
from accordant.runs.folder import read_run
from benchmarks.story import town

SCREEN = 40  # lines of a terminal
SEEDS = 4  # `python -m benchmarks.story` has 50
LEARNED = 0.07  # mean error of what is learned from so many answers, on the whole range
KIND_OF = {"Resident (type 1)": KINDS[0], "Resident (type 2)": KINDS[1]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run of the story."""
    path = tmp_path_factory.mktemp("story") / "run"
    result = CliRunner().invoke(app, ["run", "story", "--out", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def run(folder):
    """The finished run."""
    return read_run(folder)


@pytest.fixture(scope="module")
def homes():
    """Many homes of the town that nobody learned from."""
    return drawn_homes(20_000, np.random.default_rng(99))


def contexts_of(homes):
    return Contexts({column: homes[column].to_numpy() for column in (DEMAND, BURDEN, CONDITION)})


def test_what_stands_on_the_screen_at_last_says_in_words_what_came_out(run, folder, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    print_run(run.record, folder)
    lines = capsys.readouterr().out.rstrip().split("\n")
    last = lines[lines.index("What was decided") :]
    assert len(last) <= SCREEN and {"Who gains and who loses", "How sure that is", "May I use it?"} <= set(last)
    assert "_" not in "".join(last[:-2]) and last[-1] == f"report: {folder / 'report.html'}"


def test_two_types_are_found_and_want_what_they_truly_want(run, homes):
    (split,) = run.record.stakeholder_groups
    assert split.names == tuple(KIND_OF) and [each.people for each in split.groups] == [39, 21]
    for name, kind in KIND_OF.items():
        signal, true = run.policy.signals_[name], true_rewards(kind, homes)
        learned = np.stack([[signal(contexts_of(homes), a, o) for o in OUTCOMES] for a in ACTIONS])
        assert np.abs(learned - true).mean() < LEARNED
        assert np.corrcoef(learned.ravel(), true.ravel())[0, 1] > 0.97


def test_chances_are_adjusted_for_the_condition(run, homes):
    expected = run.policy.expected_rewards(contexts_of(homes))
    worth = np.array([1.0, 0.6, 0.1])
    true = np.einsum("o,aon->an", worth, true_chances(homes))
    assert np.abs(expected.of("Household") - true).mean() < 0.05
    assert (true[1] - true[0]).mean() == pytest.approx(
        (expected.of("Household")[1] - expected.of("Household")[0]).mean(), abs=0.04
    )


def test_gain_and_price_hold_in_truth(run, homes):
    """What is printed lies within `LEARNED` of the truth, and its intervals hold the truth of the learned rewards."""
    gains, policy = run.record.scrutiny.gains, run.policy
    assert gains.strategy == run.record.selected != gains.other == "utilitarian"
    assert gains.worst_off == "Resident (type 2)" and gains.gainers == ("Resident (type 2)",)
    assert gains.payers == ("Resident (type 1)",)
    contexts, index = contexts_of(homes), np.arange(len(homes))
    expected = policy.expected_rewards(contexts)
    one, other = (policy.strategies_[name](expected, contexts=contexts).codes for name in (gains.strategy, gains.other))
    table = dict.fromkeys(ACTIONS, dict(zip(OUTCOMES, (1.0, 0.6, 0.1), strict=True)))
    true = true_expected(homes, KIND_OF, table)
    for name, row in zip(("Household", *KIND_OF), true, strict=True):
        difference = (row[one, index] - row[other, index]).mean()
        assert gains.gains[name].value == pytest.approx(difference, abs=LEARNED), name
        rewards = np.stack([[policy.signals_[name](contexts, a, o) for o in OUTCOMES] for a in ACTIONS])
        own = (rewards * true_chances(homes)).sum(axis=1)
        assert gains.gains[name].low <= (own[one, index] - own[other, index]).mean() <= gains.gains[name].high, name
    lowest = [each[:, index][one, index].mean() for each in true]
    assert min(lowest) > min(each[other, index].mean() for each in true)


def test_the_run_chooses_a_compromise_and_says_who_pays(folder, run):
    rows = {row.strategy: row for row in run.record.test.leaderboard}
    assert rows[run.record.selected].kind != "baseline" and rows[run.record.selected].among_best
    assert rows["utilitarian"].among_best is False and rows["constant:Insulation"].among_best is False
    assert not any(VERDICT in remark for remark in run.record.test.remarks)


def test_a_debate_on_a_row_lands_elsewhere_than_the_sum(folder):
    result = CliRunner().invoke(app, ["deliberate", str(folder), "--row", "3", "--no-add"])
    assert result.exit_code == 0, result.output
    assert "row 3: settled on Insulation" in result.output
    (pumps,) = [line for line in result.output.splitlines() if line.startswith("  Heat_pump: ")]
    assert "utilitarian" in pumps


def test_lists_are_shown_to_those_who_may_choose(folder, tmp_path):
    out = tmp_path / "slates"
    result = CliRunner().invoke(app, ["slate", str(folder), "--out", str(out), "--no-add"])
    assert result.exit_code == 0, result.output
    lists = json.loads((out / "slates.json").read_text(encoding="utf-8"))
    assert lists["user"] == "Household"
    assert (out / "slates.csv").read_text(encoding="utf-8").count("\nutilitarian,") == 2 * run_rows(folder)


def run_rows(folder):
    """Return the number of untouched rows."""
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))["data"]["test"]


def test_explanation_and_page(folder):
    explained = CliRunner().invoke(app, ["explain", str(folder)])
    assert explained.exit_code == 0, explained.output
    assert "What it traded off" in explained.output
    page = CliRunner().invoke(app, ["report", str(folder), "--out", str(folder.parent / "page.html")])
    assert page.exit_code == 0, page.output
    assert "Resident (type 2)" in (folder.parent / "page.html").read_text(encoding="utf-8")


def test_over_many_towns_the_left_behind_gain_in_truth():
    towns = [town("story", seed) for seed in range(100, 100 + SEEDS)]
    assert sum(each.true_gains[each.left_behind] > 0 for each in towns) >= SEEDS - 1
    assert sum(each.claimed for each in towns) >= SEEDS - 1
    assert sum(bool(each.covered) for each in towns) >= SEEDS - 1


def test_over_many_towns_where_all_want_the_same_no_gain_is_claimed():
    towns = [town("story-null", seed) for seed in range(100, 100 + SEEDS)]
    assert sum(each.claimed for each in towns) == 0
    assert sum(each.types == 1 for each in towns) >= SEEDS - 1
