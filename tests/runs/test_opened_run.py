"""Where the rows are that a command on an opened run asks for."""

from __future__ import annotations

import pytest

from accordant.runs.opened_run import OpenedRun


@pytest.mark.parametrize(
    ("made", "file", "place"),
    [(True, None, "town"), (True, "new.csv", None), (False, None, "town"), (False, "new.csv", "town")],
)
def test_rows_of_a_file_need_no_data_that_only_the_run_of_a_case_needed(made, file, place):
    assert OpenedRun(None, "town", made).data_for(file) == place
