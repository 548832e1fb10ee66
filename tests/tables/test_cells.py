"""Numbers in tables that are read as text: what only Python takes for a number is none."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError
from accordant.tables.cells import Cells, Limits
from accordant.tables.text import Entry

ANY = Limits(0.0, np.inf, "a number of at least 0")


@pytest.mark.parametrize("cell", ["1_0", "1e999", "2,5", "50%", "abc", "nan"])
def test_a_damaged_cell_is_refused(tmp_path, cell):
    (tmp_path / "own.csv").write_text(f'item,size\na,1\nb,"{cell}"\n')
    cells = Cells.read(tmp_path / "own.csv", {"size": "size"}, (), ",")
    if cell == "nan":
        assert np.isnan(cells.numbers("size", ANY)[1])
        return
    with pytest.raises(DataError, match=f"own.csv: column 'size', row 1: found '{cell}'"):
        cells.numbers("size", ANY)


def test_infinity_is_a_number_where_it_is_written(tmp_path):
    (tmp_path / "own.csv").write_text("size\ninf\n 3 \n")
    assert Cells.read(tmp_path / "own.csv", {"size": "size"}, (), ",").numbers("size", ANY).tolist() == [np.inf, 3.0]


def test_underscores_are_no_digits_in_entries():
    with pytest.raises(DataError, match="line 2: margin is '1_0'; allowed: a number"):
        Entry("line 2", {"margin": "1_0"}).number("margin")


def test_a_missing_column_is_missing(tmp_path):
    (tmp_path / "own.csv").write_text("item,sizes\na,1\n")
    with pytest.raises(DataError, match="own.csv: column of size 'size' is missing; did you mean it by 'sizes'"):
        Cells.read(tmp_path / "own.csv", {"size": "size"}, (), ",")
