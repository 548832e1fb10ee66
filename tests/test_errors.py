"""Errors: the tree, the nearest valid name, and one readable line from pydantic's reports."""

from __future__ import annotations

import pickle

import pytest

from accordant.declaration import Declared
from accordant.errors import (
    AccordantError,
    DataError,
    DataNotFoundError,
    InputError,
    NotFittedError,
    RewardError,
    RunFolderError,
    SpecError,
    UnknownNameError,
    nearest,
)


class Inner(Declared):
    size: int = 1


class Outer(Declared):
    name: str
    inner: tuple[Inner, ...] = ()
    count: int


@pytest.mark.parametrize(
    "kind", [DataError, DataNotFoundError, RewardError, SpecError, RunFolderError, UnknownNameError]
)
def test_input_errors_are_value_errors(kind):
    assert issubclass(kind, InputError)
    assert issubclass(kind, ValueError)


def test_not_fitted_is_not_the_users_input():
    assert issubclass(NotFittedError, AccordantError)
    assert issubclass(NotFittedError, AttributeError)
    assert not issubclass(NotFittedError, InputError)


@pytest.mark.parametrize("error", [
    UnknownNameError("action", "Grnt", ["Grant", "Deny"]), SpecError("x"), DataError("x"), NotFittedError("x"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_errors_travel_between_processes(error):
    """joblib pickles what a worker raises; a class that cannot be rebuilt would hide the message."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(("found", "expected"), [
    ("Grnt", "Grant"), ("grant", "Grant"), ("GRANT LOWER", "Grant lower"), ("zzz", None), ("", None), (3, None), (None, None),
])  # fmt: skip
def test_nearest(found, expected):
    assert nearest(found, ["Grant", "Grant lower", "Deny"]) == expected


def test_unknown_name_message_keeps_the_declared_order():
    error = UnknownNameError("action", "Grnt", ["Grant", "Deny"])
    assert str(error) == "unknown action 'Grnt'; did you mean 'Grant'? valid: Grant, Deny"
    assert (error.kind, error.found, error.allowed) == ("action", "Grnt", ("Grant", "Deny"))
    assert str(UnknownNameError("action", 3, [])) == "unknown action 3; valid: none declared"


def test_allowed_names_need_not_be_text():
    assert "valid: 1, 2" in str(UnknownNameError("group", "x", [1, 2]))


@pytest.mark.parametrize(("given", "message"), [
    ({"count": 1}, "Outer: key 'name' is missing"),
    ({}, "Outer: key 'name' is missing (and 1 more)"),
    ({"nmae": "x", "count": 1}, "Outer: unknown key 'nmae'; did you mean 'name'? valid: name, inner, count (and 1 more)"),
    ({"name": "x", "count": "many", "colour": 1}, "Outer: unknown key 'colour'; valid: name, inner, count (and 1 more)"),
    ({"name": "x", "inner": [{"sise": 2}]},
     "Outer: inner.0: unknown key 'sise'; did you mean 'size'? valid: size (and 1 more)"),
    ({"name": "x", "count": "many"},
     "Outer: count: Input should be a valid integer, unable to parse string as an integer (found 'many')"),
])  # fmt: skip
def test_declared_objects_report_one_line(given, message):
    """A misspelt key is named before the field that is missing because of it."""
    with pytest.raises(SpecError) as caught:
        Outer(**given)
    assert str(caught.value) == message


def test_declared_objects_are_immutable_and_replaceable():
    outer = Outer(name="x", count=1, inner=[{"size": 3}])
    assert outer.inner == (Inner(size=3),)
    with pytest.raises(ValueError, match="frozen"):
        outer.count = 2
    assert outer.replace(count=2) == Outer(name="x", count=2, inner=[Inner(size=3)])
    with pytest.raises(SpecError, match="unknown key 'cuont'; did you mean 'count'"):
        outer.replace(cuont=2)
