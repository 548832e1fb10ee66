"""Where the rows of a run come from: what was given is read or refused, and never passed over."""

from __future__ import annotations

import pytest

from accordant.cases.files import read_case
from accordant.cases.loaders import simulated_table
from accordant.errors import DataNotFoundError
from accordant.runs import RunOptions
from accordant.runs.execution import case_data, data_file


@pytest.fixture(scope="module")
def homes():
    """A case that names no file, only a simulator."""
    case, _ = read_case("story")
    assert case.data.file is None and case.simulator is not None
    return case


def test_rows_that_are_given_stand_for_the_simulator(homes, tmp_path):
    simulated_table(homes, 7, 40).to_csv(tmp_path / "town.csv", index=False)
    found = case_data(homes, None, RunOptions(data=str(tmp_path / "town.csv")), homes.signals())
    assert len(found.log) == 40 and found.source == "town.csv"


def test_a_folder_that_is_given_holds_them_under_the_name_of_the_case(homes, tmp_path):
    with pytest.raises(DataNotFoundError, match=r"story\.csv not found at"):
        data_file(homes, None, str(tmp_path))
    (tmp_path / "story.csv").touch()
    assert data_file(homes, None, str(tmp_path)) == tmp_path / "story.csv"


def test_without_any_the_simulator_gives_them(homes):
    assert data_file(homes, None, None) is None
