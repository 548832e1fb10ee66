"""Arrays in files that can be mapped (``.npy``), written from batches of columns whose number nobody knows before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from accordant.arrays import Values
from accordant.tables.output import Input, output_file


def write_columns(target: Path, height: int, batches: Iterable[Values], inputs: Iterable[Input] = ()) -> int:
    """Write an array of float64 that stands in C order, and return how many columns it has.

    Batches are held in a file beside the place until their number is known: memory holds one at a time.

    Parameters
    ----------
    target, inputs
        See `accordant.tables.output.output_file`.
    height
        Rows of the array.
    batches
        Its columns from left to right, each of shape (height, column).

    Raises
    ------
    InputError
        See `accordant.tables.output.output_file`.
    """
    with output_file(target, inputs) as file, TemporaryFile(dir=target.parent) as held:
        counts = []
        for batch in batches:
            counts.append(batch.shape[1])
            held.write(np.ascontiguousarray(batch, dtype=np.float64).data)
        held.seek(0)
        width, out = sum(counts), file.buffer  # type: ignore[attr-defined]
        described = {"descr": "<f8", "fortran_order": False, "shape": (height, width)}
        np.lib.format.write_array_header_1_0(out, described)  # type: ignore[no-untyped-call]
        first, at = out.tell(), 0
        for count in counts:
            batch = np.frombuffer(held.read(8 * height * count)).reshape(height, count)
            for row in range(height):
                out.seek(first + 8 * (row * width + at))
                out.write(batch[row].data)
            at += count
    return width
