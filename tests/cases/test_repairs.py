"""What a loader changed travels with its table, through some operations of pandas and not through others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.cases.loaders import load_file, tidiers
from accordant.cases.loaders import repaired, repairs_of
from accordant.cases.files import read_case
from accordant.errors import InputError

SENTENCE = "The loader made numbers of words in 1 of 3 rows."
TABLE = pd.DataFrame({"x": [3, 1, 2], "y": ["a", "b", "c"]})


def test_a_table_without_repairs_has_none_and_is_left_alone():
    found = repaired(TABLE, SENTENCE)
    assert repairs_of(found) == (SENTENCE,)
    assert repairs_of(TABLE) == () and TABLE.attrs == {}
    pd.testing.assert_frame_equal(found, TABLE)


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_sentences_add_up_in_order_and_each_is_kept_once(first, then):
    both = repaired(repaired(TABLE, *first), *then)
    assert list(repairs_of(both)) == sorted({*first, *then}, key=[*first, *then].index)
    assert repairs_of(repaired(both)) == repairs_of(both)


def test_other_attributes_of_a_table_stay():
    table = TABLE.copy()
    table.attrs["unit"] = "points"
    assert repaired(table, SENTENCE).attrs == {"unit": "points", "repairs": (SENTENCE,)}


@pytest.mark.parametrize(
    "operation",
    [
        lambda frame: frame.loc[[2, 0]],
        lambda frame: frame.iloc[:1],
        lambda frame: frame[frame["x"] > 1],
        lambda frame: frame[["x"]],
        lambda frame: frame.assign(z=1),
        lambda frame: frame.rename(columns={"x": "z"}),
        lambda frame: frame.drop(columns=["y"]),
        lambda frame: frame.sort_values("x"),
        lambda frame: frame.drop_duplicates("y"),
        lambda frame: frame.reset_index(drop=True),
        lambda frame: frame.copy(),
        lambda frame: pd.concat([frame, frame]),
    ],
)
def test_operations_that_keep_what_a_table_carries(operation):
    assert repairs_of(operation(repaired(TABLE, SENTENCE))) == (SENTENCE,)


@pytest.mark.parametrize(
    "operation",
    [
        lambda frame: pd.concat([frame, TABLE]),
        lambda frame: pd.DataFrame({"x": frame["x"].to_numpy()}),
        lambda frame: pd.merge(frame, TABLE, on="y"),
    ],
)
def test_operations_that_drop_it_so_that_it_is_added_last(operation):
    table = repaired(TABLE, SENTENCE)
    found = operation(table)
    assert repairs_of(found) == ()
    assert repairs_of(repaired(found, *repairs_of(table))) == (SENTENCE,)


@pytest.mark.parametrize("wrong", ["one sentence", (1,), {"a": "b"}, None])
def test_what_is_no_sentences_is_refused(wrong):
    table = TABLE.copy()
    table.attrs["repairs"] = wrong
    with pytest.raises(InputError, match="allowed: a tuple of sentences"):
        repairs_of(table)


def test_a_loader_of_ones_own_tells_what_it_repaired(tmp_path):
    @tidiers.register("words as numbers")
    def loader():
        def tidy(frame):
            return repaired(frame.replace({"x": {"three": 3}}).astype({"x": float}), SENTENCE)

        return tidy

    (tmp_path / "own.csv").write_text("x,Action,Outcome\nthree,AAA,Pass\n1,BBB,Fail\n2,AAA,Pass\n")
    case, _ = read_case("education")
    problem = case.problem.replace(sensitive_attributes=())
    spec = case.data.replace(
        loader="words as numbers", action="Action", outcome="Outcome", features=("x",), group=None, time=None
    )
    data = load_file(tmp_path / "own.csv", spec, problem, {})
    assert data.repairs == (SENTENCE,) and np.array_equal(data.log.contexts["x"], [3.0, 1.0, 2.0])
    assert (
        load_file(tmp_path / "own.csv", spec.replace(loader="table", features={"x": "category"}), problem, {}).repairs
        == ()
    )
