"""A case reads the same log from CSV, Parquet, Arrow, a workbook and a database."""

import hashlib

import numpy as np
import pandas as pd
import pyarrow.feather
import pytest
import sqlalchemy

from accordant.cases.loaders import load_file, load_query, query_hash
from accordant.cases.data_spec import DataSpec
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.tables.databases import VARIABLE

PROBLEM = DecisionProblem(
    stakeholders=["Bank"], actions=["yes", "no"], outcomes=["good", "bad"], sensitive_attributes=["group"]
)
COLUMNS = {"action": "did", "outcome": "followed", "features": {"x": "number", "kind": "category"}, "time": "day"}
FRAME = pd.DataFrame({
    "x": [1.0, 2.5, np.nan], "kind": [1, 2, 1], "group": ["a", "b", "a"], "did": ["yes", "no", "yes"],
    "followed": ["good", "bad", "bad"], "day": ["2024-01-01", "2024-01-02", "2024-01-03"], "said": [0.1, 0.5, 1.0],
})  # fmt: skip


def log_of(data):
    """Return all that a log holds, as plain values."""
    log = data.log
    return (
        {name: log.contexts[name].tolist() for name in log.contexts}, log.actions.tolist(), log.outcomes.tolist(),
        {name: values.tolist() for name, values in log.rewards.items()}, data.times.tolist(),
    )  # fmt: skip


def load(path, **spec):
    return load_file(path, DataSpec(**COLUMNS, **spec), PROBLEM, {"Bank": "said"})


@pytest.fixture
def written(tmp_path, monkeypatch):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet")
    pyarrow.feather.write_feather(FRAME, tmp_path / "t.feather")
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME.to_excel(book, sheet_name="2024", index=False)
        FRAME.head(1).to_excel(book, sheet_name="2023", index=False)
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 't.db'}")
    FRAME.to_sql("loans", engine, index=False)
    engine.dispose()
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path / 't.db'}")
    return tmp_path


def test_the_log_is_the_same_and_hashes_are_of_what_was_read(written):
    expected = load(written / "t.csv")
    for name in ("t.parquet", "t.feather", "t.xlsx"):
        found = load(written / name, sheet="2024") if name.endswith("xlsx") else load(written / name)
        assert str(log_of(found)) == str(log_of(expected))  # as text, so that NaN equals NaN
        assert found.sha256 == hashlib.sha256((written / name).read_bytes()).hexdigest()
        assert found.source == (name if name != "t.xlsx" else "t.xlsx, sheet '2024'")
    spec = DataSpec(**COLUMNS, query="SELECT * FROM loans ORDER BY day")
    queried = load_query(spec, PROBLEM, {"Bank": "said"})
    assert str(log_of(queried)) == str(log_of(expected)) and queried.source == "the rows of a query"
    assert queried.sha256 == query_hash(spec)
    assert queried.sha256 != query_hash(DataSpec(**COLUMNS, query="SELECT * FROM loans ORDER BY x"))


def test_a_sheet_is_named_beside_the_file_or_in_its_name(written):
    spec = DataSpec(**COLUMNS, file="t.xlsx#2024")
    assert (spec.file, spec.sheet) == ("t.xlsx", "2024")
    assert len(load_file(written / "t.xlsx", spec, PROBLEM, {"Bank": "said"}, sheet="2023").log) == 1, "--data names it"
    assert len(load(written / "t.csv", sheet="2024").log) == 3, "of the workbook, if another file stands for it"
    with pytest.raises(UnknownNameError, match="'2025'; did you mean"):
        load(written / "t.xlsx", sheet="2025")
    with pytest.raises(InputError, match="allowed: one"):
        DataSpec(**COLUMNS, file="t.xlsx#2024", sheet="2023")


@pytest.mark.parametrize(("suffix", "place"), [
    (".csv", "t.csv, line 3"), (".parquet", "t.parquet, row 2"), (".xlsx", "t.xlsx, sheet 'Sheet1', row 3"),
])  # fmt: skip
def test_messages_name_file_row_and_column(tmp_path, suffix, place):
    frame = FRAME.assign(x=["1", "2,5", "3"], did=["yes", "no", "yes"])
    path = tmp_path / f"t{suffix}"
    {".csv": frame.to_csv, ".xlsx": frame.to_excel, ".parquet": frame.to_parquet}[suffix](path, index=False)
    with pytest.raises(DataError, match=f"{place}: column 'x': found '2,5'; allowed: a number"):
        load(path)
    frame = FRAME.assign(did=["yes", "noo", "yes"])
    {".csv": frame.to_csv, ".xlsx": frame.to_excel, ".parquet": frame.to_parquet}[suffix](path, index=False)
    with pytest.raises(InputError, match=f"{place}: 'noo'; did you mean 'no'"):
        load(path)


def test_a_case_has_a_file_or_a_query():
    with pytest.raises(InputError, match="allowed: one of them"):
        DataSpec(**COLUMNS, file="t.csv", query="SELECT 1")
    with pytest.raises(InputError, match="allowed: one SELECT"):
        DataSpec(**COLUMNS, query="DROP TABLE loans")


def test_categories_that_look_like_numbers_stay_as_they_are_written(tmp_path):
    table = FRAME.assign(kind=["01", "1", "1.0"])
    table.to_csv(tmp_path / "codes.csv", index=False)
    contexts = load(tmp_path / "codes.csv").log.contexts
    assert contexts["kind"].tolist() == ["01", "1", "1.0"]
    assert contexts["x"].tolist()[:2] == [1.0, 2.5]
