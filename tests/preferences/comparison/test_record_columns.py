"""Columns beside what learners read: what counts as yes and no, as a number and as a date, and how times are told."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.comparison.record_columns import RecordTimes, read_agreement, read_times

HEADER = "user_id,chosen_a,rejected_a"


def written(tmp_path, columns, rows):
    """Write records with further columns."""
    path = tmp_path / "prefs.csv"
    path.write_text("\n".join([f"{HEADER},{columns}", *(f"u,1,2,{row}" for row in rows)]) + "\n", encoding="utf-8")
    return path


def test_yes_and_no_in_words_and_numbers(tmp_path):
    rows = ["1,0", "1.0,0.0", "TRUE,False", " yes ,No"]
    path = written(
        tmp_path, "chosen_agrees,rejected_agrees", [*rows, *(",".join(row.split(",")[::-1]) for row in rows)]
    )
    found = read_agreement(path, "features")
    assert found.tolist() == [[True] * 4 + [False] * 4, [False] * 4 + [True] * 4]
    path = written(tmp_path, "chosen_agrees,rejected_agrees", ["1,0", "1,maybe"])
    with pytest.raises(InputError, match="line 3: rejected_agrees is 'maybe'; allowed: 0 or 1, false or true, no or y"):
        read_agreement(path, "features")


def test_numbers_are_taken_as_they_stand(tmp_path):
    found = read_times(written(tmp_path, "time", ["3", "-0.5", "1e3"]), "features", "time")
    assert (found.values.tolist(), found.dates) == ([3.0, -0.5, 1000.0], False)
    assert [found.label(time) for time in (3.0, -0.5, 1e7)] == ["3", "-0.5", "1e+07"]


def test_dates_are_days_since_1970_and_told_without_the_hour(tmp_path):
    rows = ["1970-01-02", "1970-01-02T12:00:00", "1970-01-03T01:00:00+02:00", "1969-12-31"]
    found = read_times(written(tmp_path, "when", rows), "features", "when")
    assert found.dates
    np.testing.assert_allclose(found.values, [1.0, 1.5, 1.0 + 23 / 24, -1.0])
    assert list(map(found.label, found.values)) == ["1970-01-02", "1970-01-02", "1970-01-02", "1969-12-31"]
    assert RecordTimes(np.array([19_783.0]), dates=True).label(19_783.25) == "2024-03-01"


@pytest.mark.parametrize(
    ("rows", "wrong", "wanted"),
    [
        (["1", "2024-03-01"], "2024-03-01", "a number"),
        (["2024-03-01", "1"], "1", "a date such as 2024-03-01"),
        (["1", "inf"], "inf", "a number"),
        (["2024-03-01", "2024-13-01"], "2024-13-01", "a date"),
    ],
)
def test_times_are_all_as_in_the_first_row(tmp_path, rows, wrong, wanted):
    with pytest.raises(InputError, match=f"line 3: time is '{wrong}'; allowed: {wanted}.*, as in the first row"):
        read_times(written(tmp_path, "time", rows), "features", "time")


def test_a_column_that_is_missing_is_named_with_the_flag_that_needs_it(tmp_path):
    path = written(tmp_path, "chosen_agrees", ["1"])
    with pytest.raises(InputError, match="--agreement needs a column that prefs.csv lacks.*'rejected_agrees'") as error:
        read_agreement(path, "features")
    assert "--time" not in str(error.value)
    with pytest.raises(InputError, match="--over-time needs a column that prefs.csv lacks; --time NAME names another"):
        read_times(path, "features", "time")
    with pytest.raises(InputError, match="read as movielens, which has no columns time; allowed: trl, features with"):
        read_times(path, "movielens", "time")
