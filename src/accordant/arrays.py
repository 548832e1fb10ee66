"""Types of arrays, each with one name everywhere.

Shapes stand where arrays are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.intp]  # positions, of rows or in a tuple of names
Counts = NDArray[np.intp]
Mask = NDArray[np.bool_]
Labels = NDArray[np.str_]
Floats = NDArray[np.floating[Any]]  # of any precision
Integers = NDArray[np.signedinteger[Any]]  # of any size
WholeNumbers = NDArray[np.int64]  # that must not overflow
AnyArray = NDArray[Any]
