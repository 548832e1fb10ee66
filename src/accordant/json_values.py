"""From results to JSON values, and from JSON text to values within the limits of `accordant.limits`.

Numbers that are not finite become None, arrays and tuples become lists.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from accordant import limits


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
        return {key: json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    return finite(value) if isinstance(value, float) else value


def field_values(record: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values; may stand as its method ``to_json``."""
    values: dict[str, Any] = json_value(fields_json(record, *without))
    return values


def fields_json(result: Any, *left_out: str) -> dict[str, Any]:
    """Return a dataclass by the names of its fields; parts that know their JSON values are asked for these.

    Numbers stay as they are: whoever writes the whole decides what stands for those that are not finite.
    """
    return {field.name: _part(getattr(result, field.name)) for field in fields(result) if field.name not in left_out}


def _part(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return fields_json(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _part(part) for key, part in value.items()}
    return [_part(part) for part in value] if isinstance(value, list | tuple) else value


def read_json_value(text: str, **hooks: Any) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    text
        One JSON value.
    hooks
        What `json.JSONDecoder` is told beside that.

    Raises
    ------
    json.JSONDecodeError
        If it is no JSON.
    DataError
        If values are nested deeper, or a whole number is longer, than allowed.
    """
    decoder = json.JSONDecoder(parse_int=_integer, **hooks) if hooks else DECODER
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise limits.NESTING.refusal("JSON") from None
    layer, depth = [value], 1
    while layer := [
        inner
        for outer in layer
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)
        if isinstance(inner, dict | list)
    ]:
        depth += 1
        limits.NESTING.check(depth, "JSON")
    return value


def _integer(digits: str) -> int:
    """Return a whole number of JSON."""
    limits.INTEGER_DIGITS.check(len(digits.lstrip("-")), "JSON")
    return int(digits)


DECODER = json.JSONDecoder(parse_int=_integer)
