"""New rows for the small case, in one file and in many."""

from __future__ import annotations


import numpy as np
import pandas as pd
import pytest

from accordant.runs import read_run, write_run

ROWS = 50


@pytest.fixture(scope="session")
def own(outcomes, tmp_path_factory):
    """The small case, finished; tests must not change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
        return read_run(write_run(outcomes["own"], tmp_path_factory.mktemp("own") / "run"))


@pytest.fixture(scope="session")
def table():
    """Rows, some of which are unlike those that were learned from."""
    generator = np.random.default_rng(11)
    frame = pd.DataFrame({
        "x": generator.normal(size=ROWS).round(3), "kind": generator.choice(["1", "2", "x"], ROWS), "group": 0,
        "also": generator.normal(size=ROWS), "name": [f"n{k:02d}" for k in range(ROWS)],
    })  # fmt: skip
    frame.loc[[3, 20], "x"] = [99.0, np.nan]
    frame.loc[[7, 33], "kind"] = ["never", None]
    return frame


@pytest.fixture
def dataset(table, tmp_path):
    """A Parquet file of five row groups."""
    path = tmp_path / "rows.parquet"
    table.to_parquet(path, row_group_size=10, index=False)
    return path
