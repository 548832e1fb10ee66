"""Checks on loaded trees: the compiled code that predicts follows node numbers without looking where they lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import Tree

from accordant.errors import RunFolderError


def check_trees(estimator: Any, name: str) -> None:
    """Raise `RunFolderError` if a tree inside a loaded estimator points outside itself or back up.

    Parameters
    ----------
    estimator
        What a model file held.
    name
        Name of the file, for the message.
    """
    for part in _parts(estimator, set()):
        if isinstance(part, Tree):
            sound = _sound(part.children_left, part.children_right, part.feature, part.n_features)
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            inner = nodes["is_leaf"] == 0
            columns = (nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx"))
            left, right, feature = (np.where(inner, column, -1) for column in columns)
            sound = _sound(left, right, feature, None)
        else:
            continue
        if not sound:
            raise RunFolderError(f"{name} holds a tree whose nodes do not hang together; it was damaged or forged")


def _sound(left: Any, right: Any, feature: Any, n_features: int | None) -> bool:
    """Return whether every inner node leads to two later nodes and reads a feature that exists."""
    left, right, feature = (np.asarray(each).astype(np.int64) for each in (left, right, feature))
    own, inner = np.arange(len(left)), left != -1
    below = (left > own) & (left < len(own)) & (right > own) & (right < len(own)) & (feature >= 0)
    if n_features is not None:
        below &= feature < n_features
    return len(own) > 0 and bool(below[inner].all() and (right[~inner] == -1).all())


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield a value and everything that hangs on it."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | bool | type(None)):
        return
    seen.add(id(value))
    yield value
    if isinstance(value, dict):
        inside: Any = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inside = value
    elif isinstance(value, np.ndarray):
        inside = value.ravel() if value.dtype == object else ()
    else:
        inside = getattr(value, "__dict__", {}).values()
    for each in inside:
        yield from _parts(each, seen)
