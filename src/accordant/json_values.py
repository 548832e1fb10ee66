"""From results to JSON values: numbers that are not finite become None, arrays and tuples become lists."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
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
        Numbers, texts, arrays and numbers of numpy, what has ``to_json``, dataclasses, and lists, tuples and mappings
        of all these.
    """
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return field_values(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return finite(value) if isinstance(value, float) else value


def field_values(record: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values; may stand as its method ``to_json``."""
    return {each.name: json_value(getattr(record, each.name)) for each in fields(record) if each.name not in without}
