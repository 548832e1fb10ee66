"""A whole log with its outcomes, from files."""

from __future__ import annotations

import pytest

from accordant.errors import InputError
from accordant.monitoring import Outcome, monitor, read_outcomes
from accordant.runs.decision_log import read_decisions


def test_files_give_what_objects_give(watched, logged, tmp_path):
    lines, outcomes = logged(80)
    (tmp_path / "log.jsonl").write_text("".join(line.line() for line in lines))
    rows = "".join(f"{each.row},{each.outcome}\n" for each in outcomes)
    (tmp_path / "outcomes.csv").write_text("row,outcome\n" + rows)
    read = monitor(watched, read_decisions(tmp_path / "log.jsonl"), read_outcomes(watched, tmp_path / "outcomes.csv"))
    assert read == monitor(watched, lines, outcomes)


def test_cells_that_are_empty_are_not_known(watched, tmp_path):
    file = tmp_path / "outcomes.csv"
    file.write_text("row,outcome,Bank\n7,Repaid,0.5\n8,,\n9,,0.25\n")
    assert [(each.row, each.outcome, dict(each.rewards)) for each in read_outcomes(watched, file)] == [
        ("7", "Repaid", {"Bank": 0.5}), ("8", None, {}), ("9", None, {"Bank": 0.25})
    ]  # fmt: skip
    assert next(read_outcomes(watched, file)) == Outcome("7", "Repaid", {"Bank": 0.5}, "outcomes.csv, line 2")


@pytest.mark.parametrize(("text", "words"), [
    ("row,Bnk\n1,0.5\n", "outcome' is missing"), ("rw,outcome\n1,Repaid\n", "'row' is missing"),
    ("row,outcome,Bnk\n1,Repaid,0.5\n", "unknown column 'Bnk'; allowed: row, outcome, Bank"),
    ("row,outcome\n,Repaid\n", "line 2: row is empty"), ("row,outcome,Bank\n1,Repaid,much\n", "Bank is 'much'"),
    ("row,outcome\n", "no rows"),
])  # fmt: skip
def test_files_that_cannot_be_used_are_refused(watched, tmp_path, text, words):
    file = tmp_path / "outcomes.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        list(read_outcomes(watched, file))
