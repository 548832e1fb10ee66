"""From results to JSON values: numbers that are not finite become None, arrays and tuples become lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def finite(value: Any) -> float | None:
    """Return a number, or None for NaN and infinities."""
    number = float(value)
    return number if math.isfinite(number) else None


def json_value(value: Any) -> Any:
    """Return a value as JSON knows it, whatever is inside.

    Parameters
    ----------
    value
        Numbers, texts, arrays and numbers of numpy, and lists, tuples and dictionaries of all these.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return finite(value) if isinstance(value, float) else value
