"""The log of decisions: what is written is read again; what is none is refused with file and line."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.decisions import Decisions
from accordant.errors import AccordantError, DataError
from accordant.recommendation import Recommendations
from accordant.runs.decision_log import DecisionLine, decision_lines, read_decisions
from accordant.unusual import Unusual
from accordant.utilities import ExpectedRewards

HASH = "ab" * 32
LINE = {
    "time": "2026-03-01T12:00:00+00:00", "run": HASH, "row": 7, "context": {"age": 31.5, "school": "A", "debt": None},
    "expected_rewards": {"Bank": {"Grant": 0.25, "Decline": 0.5}}, "action": "Decline", "runner_up": "Grant",
    "margin": 0.25, "remarks": ["age 31.5 is above all training rows"], "referral": False,
}  # fmt: skip
numbers = st.floats(allow_nan=False, allow_infinity=False)


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@given(
    row=st.integers(0) | st.text(min_size=1), cell=st.none() | numbers | st.text(), margin=st.none() | numbers,
    reward=st.floats(0, 1), action=st.none() | st.text(min_size=1),
)  # fmt: skip
def test_a_line_is_read_as_it_was_written(row, cell, margin, reward, action):
    changed = {"row": row, "context": {"x": cell}, "margin": margin, "action": action}
    line = DecisionLine(**(LINE | changed | {"expected_rewards": {"Bank": {"Grant": reward}}}))
    text = line.line()
    assert text.endswith("\n") and text.count("\n") == 1
    assert DecisionLine(**json.loads(text)) == line
    assert list(json.loads(text)) == list(LINE)


def test_times_are_written_in_utc():
    local = datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert json.loads(DecisionLine(**(LINE | {"time": local})).line())["time"] == "2026-03-01T12:00:00+00:00"
    assert DecisionLine(**LINE).time == datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "change",
    [
        lambda x: {"margin": x}, lambda x: {"context": {"age": x}},
        lambda x: {"expected_rewards": {"Bank": {"Grant": x, "Decline": 0.5}}},
    ],
)  # fmt: skip
def test_numbers_that_are_not_finite_are_refused(tmp_path, number, change):
    changed = LINE | change(number)
    with pytest.raises(AccordantError):
        DecisionLine(**changed)
    with pytest.raises(DataError, match="log.jsonl line 2: "):
        list(read_decisions(write(tmp_path / "log.jsonl", LINE, changed)))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE | {"aktion": "Grant"}, "line 2: unknown key 'aktion'; .*action"),
        ({name: value for name, value in LINE.items() if name != "run"}, "line 2: key 'run' is missing"),
        (LINE | {"run": "abc"}, "line 2: run: "),
        (LINE | {"time": "2026-03-01T12:00:00"}, "line 2: time: "),
        (LINE | {"row": -1}, "line 2: row"),
        (LINE | {"referral": "no"}, "line 2: referral: "),
        (LINE | {"expected_rewards": {"Bank": {"Grant": 1.5}}}, "line 2: expected_rewards.Bank.Grant: "),
        ([1], "line 2 is a list; allowed: a JSON object"),
    ],
)
def test_what_is_no_decision_is_named(tmp_path, line, message):
    with pytest.raises(DataError, match=f"log.jsonl {message}"):
        list(read_decisions(write(tmp_path / "log.jsonl", LINE, line)))


def test_a_log_is_read_line_by_line(tmp_path):
    path = write(tmp_path / "log.jsonl", LINE, LINE | {"row": "id-8"})
    path.write_text(path.read_text() + "\n{broken\n")
    lines = read_decisions(path)
    assert [next(lines).row, next(lines).row] == [7, "id-8"]
    with pytest.raises(DataError, match=r"log.jsonl line 4 is not JSON"):
        next(lines)
    (tmp_path / "empty.jsonl").write_text("\n")
    for name, message in (("empty.jsonl", "holds no decision"), ("none.jsonl", "there is no such file")):
        with pytest.raises(DataError, match=message):
            list(read_decisions(tmp_path / name))


def test_remarks_are_what_is_unusual_then_what_was_adopted_then_flags_and_nothing_else():
    actions, nothing = ["Grant", "Decline"], np.zeros(3, dtype=bool)
    expected = ExpectedRewards(np.full((1, 2, 3), 0.5), stakeholders=["Bank"], actions=actions)
    decided = Decisions(
        "maximin", np.array(actions), np.array([0, 1, 0]), nothing, flags={"no winner": np.arange(3) == 2}
    )
    recommended = replace(
        Recommendations.of(decided, expected),
        unusual=Unusual({}, np.array(["", "age 99 is above all training rows", "debt is missing"], dtype=object)),
        adopted=np.array(["", "as the board decided", ""]), fall_back=np.array([False, True, False]),
    )  # fmt: skip
    lines = decision_lines(recommended, {}, [0, 1, 2], run=HASH, time=datetime(2026, 3, 1, tzinfo=UTC))
    assert [line.remarks for line in lines] == [
        (),
        ("age 99 is above all training rows", "as the board decided", "fall_back"),
        ("debt is missing", "no winner"),
    ]
