"""What tables for people say of numbers, and how options of names and rows are read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.cli import run_tables
from accordant.cli.run_tables import leaderboard_table
from accordant.terminal import LAST_ROW, row_numbers
from accordant.errors import InputError
from accordant.runs.record import RewardSource
from accordant.statistics import Estimate


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not defined"), (0.5, "0.500"), (-99.5, "-99.500"), (100.0, "100.0"), (-1234.56, "-1,234.6")],
)
def test_numbers_from_a_hundred_on_have_one_decimal(value, text):
    assert run_tables._number(value) == text


def test_estimates_show_their_interval_if_there_is_one():
    assert run_tables._estimate(Estimate(0.25)) == "0.250"
    assert run_tables._estimate(Estimate(0.25, 0.0, 0.5)) == "0.250 [0.000, 0.500]"


def test_rows_are_read_once_in_their_order():
    assert row_numbers("4, 0,4") == [4, 0]
    assert row_numbers(str(LAST_ROW)) == [LAST_ROW]
    for wrong in (str(LAST_ROW + 1), "-1"):
        with pytest.raises(InputError, match=f"row {wrong} is to be explained"):
            row_numbers(wrong)
    with pytest.raises(InputError, match="whole numbers separated by commas"):
        row_numbers("1.5")


def test_calibration_of_single_outcomes_is_left_to_the_report():
    quality = [("accuracy", 0.75), ("mean probability of Full", 0.5), ("Brier score", None)]
    found = SimpleNamespace(name="forest", quality=[SimpleNamespace(name=name, value=v) for name, v in quality])
    assert run_tables._outcome_model(found) == "forest; accuracy 0.750, Brier score not defined"


def test_stakeholders_whose_rewards_come_from_one_place_share_a_line():
    said = RewardSource(kind="set", words="stated by the reward set 'lending'")
    learned = RewardSource(words="learned from 3 comparisons in a.csv", replaces="the reward set 'lending'", given=True)
    record = SimpleNamespace(reward_sources={"Bank": said, "Applicant": learned, "Regulatory": said})
    assert run_tables._sources(record) == {
        "stated by the reward set 'lending'": ["Bank", "Regulatory"],
        "learned from 3 comparisons in a.csv, instead of the reward set 'lending'": ["Applicant"],
    }


def test_the_leaderboard_marks_the_selected_line_and_those_that_are_no_candidates():
    def row(strategy, score, candidate, among, tied):
        value = SimpleNamespace(value=0.5)
        return SimpleNamespace(
            strategy=strategy, score=score, candidate=candidate, among_best=among, tied=tied, metrics={"m_1": value}
        )

    rows = [
        row("first", Estimate(0.9, 0.8, 1.0), True, True, 0.25),
        row("second", Estimate(0.5), True, False, 0.0),
        row("logged", Estimate(None), False, None, 1.0),
    ]
    metrics = [SimpleNamespace(label="m_1", weight=0.5), SimpleNamespace(label="m_2", weight=0.0)]
    table = leaderboard_table(SimpleNamespace(n=7, level=0.9, metrics=metrics, leaderboard=rows), "first")
    columns = [[column.header, *column.cells] for column in table.columns]
    assert columns == [
        ["strategy", "> first", "  second", "* logged"],
        ["score", "0.900", "0.500", "not defined"],
        ["90% interval", "0.800–1.000", "", ""],
        ["among best", "yes", "no", ""],
        ["tied", "25%", "0%", "100%"],
        ["m 1 (0.5)", "0.500", "0.500", "0.500"],
    ]
    assert str(table.title) == "Leaderboard on 7 untouched rows"
