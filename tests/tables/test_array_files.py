"""Arrays in files, from batches whose number nobody knows before."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.tables.array_files import write_columns


@pytest.mark.parametrize("widths", [[5], [1, 4, 2], [3, 0, 3], []], ids=str)
def test_columns_stand_side_by_side_in_a_file_that_can_be_mapped(tmp_path, widths):
    generator = np.random.default_rng(0)
    batches = [generator.random((width, 4)).T for width in widths]  # in Fortran order, as slices may be
    assert write_columns(tmp_path / "all.npy", 4, iter(batches)) == sum(widths)
    found = np.load(tmp_path / "all.npy", mmap_mode="r" if sum(widths) else None)
    assert found.shape == (4, sum(widths)) and found.dtype == np.float64 and found.flags.c_contiguous
    assert (found == np.hstack([np.empty((4, 0)), *batches])).all()


def test_nothing_is_left_of_a_file_that_was_broken_off(tmp_path):
    def batches():
        """Fail after the first one."""
        yield np.zeros((2, 3))
        raise KeyError("no more")

    with pytest.raises(KeyError):
        write_columns(tmp_path / "some.npy", 2, batches())
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_not_written_over(tmp_path):
    (tmp_path / "rows.npy").write_bytes(b"rows")
    with pytest.raises(InputError):
        write_columns(tmp_path / "rows.npy", 1, [np.zeros((1, 1))], [tmp_path / "rows.npy"])
    assert (tmp_path / "rows.npy").read_bytes() == b"rows"
