"""What ``reweigh`` prints of other weights, and writes of each strategy."""

from __future__ import annotations

import pytest

from accordant.cli.weight_change_table import metric_weights, print_reweighed, reweighed_table, write_reweighed
from accordant.errors import InputError
from accordant.runs.sections.weight_change_record import Reweighed, ReweighedRow

ROWS = {
    "maximin": (True, 1, 2, 0.75, 0.5, (0.5, 0.875), True), "nash": (True, 2, 1, 0.625, 0.6, (0.5, 0.75), False),
    "constant:yes": (False, None, None, 0.5, 0.4, (None, None), None),
    "undefined": (True, None, 3, None, 0.3, (None, None), None),
}  # fmt: skip


@pytest.fixture
def reweighed():
    rows = tuple(
        ReweighedRow(strategy=name, kind="rule", candidate=candidate, place=place, place_of_run=before, score=score,
                     score_of_run=of_run, low=low, high=high, among_best=best)
        for name, (candidate, place, before, score, of_run, (low, high), best) in ROWS.items()
    )  # fmt: skip
    return Reweighed(
        accordant="1", weights={"Mean": 1.0}, weights_of_run={"Mean": 0.5, "Worst": 0.5}, normalisation="natural",
        level=0.9, n=40, rows=rows, winner="maximin", winner_of_run="nash", selected="nash", selected_then="maximin",
        borders=None, unweighed="no reason", untold="",
    )  # fmt: skip


def test_the_table_shows_places_scores_and_intervals_and_leaves_open_what_is_not_known(reweighed):
    table = reweighed_table(reweighed)
    assert table.title == "Leaderboard on 40 untouched rows at other weights"
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [
        ["  maximin", "> nash", "* constant:yes", "  undefined"], ["1", "2", "", ""], ["2", "1", "", "3"],
        ["0.750", "0.625", "0.500", "not defined"], ["0.500–0.875", "0.500–0.750", "", ""],
        ["0.500", "0.600", "0.400", "0.300"], ["yes", "no", "", ""],
    ]  # fmt: skip
    assert [str(column.header) for column in table.columns] == [
        "strategy", "place", "in the run", "score", "90% interval", "in the run", "among best"
    ]  # fmt: skip


def test_whoever_rises_or_falls_is_told_by_places(reweighed, capsys, tmp_path):
    print_reweighed(reweighed, tmp_path / "rows.csv")
    told = capsys.readouterr().out
    moved = ["maximin rises from place 2 to 1", "nash falls from place 1 to 2"]
    said = " ".join(f"- {sentence}" for sentence in (*reweighed.sentences, *moved))
    assert " ".join(told.split()).startswith(f"{said} Leaderboard on 40 untouched rows")
    lines = told.splitlines()
    assert lines[-3:] == ["> D* of the run, which stays   * no candidate", "",
                          f"one line per strategy: {tmp_path / 'rows.csv'}"]  # fmt: skip
    print_reweighed(reweighed, None)
    assert capsys.readouterr().out.splitlines()[-1] == "> D* of the run, which stays   * no candidate"


def test_a_file_holds_one_line_for_each_strategy(reweighed, tmp_path):
    write_reweighed(reweighed, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines() == [
        "strategy,kind,candidate,place,place_of_run,score,low,high,score_of_run,among_best",
        "maximin,rule,True,1,2,0.75,0.5,0.875,0.5,True", "nash,rule,True,2,1,0.625,0.5,0.75,0.6,False",
        "constant:yes,rule,False,,,0.5,,,0.4,", "undefined,rule,True,,3,,,,0.3,",
    ]  # fmt: skip


def test_weights_of_the_command_line_are_numbers_by_metric():
    assert metric_weights("Accuracy=0.7,Worst_Off=0.3") == {"Accuracy": 0.7, "Worst_Off": 0.3}
    for wrong in ("Accuracy", "Accuracy=much", "Accuracy=1,Accuracy=2"):
        with pytest.raises(InputError, match="--weights"):
            metric_weights(wrong)
