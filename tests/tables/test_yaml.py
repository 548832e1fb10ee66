"""YAML within limits: what is nested, repeated or long without bound is refused at once, with its line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordant import limits
from accordant.errors import SpecError
from accordant.tables.yaml import read_yaml

MERGED = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9))
REPEATED = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MERGED, "case: line 6: more than 50,000 values"),
        (REPEATED, "case: line 6: more than 50,000 values"),
        ("name: &a [*a]", r"\*a stands inside what it stands for"),
        ("name: &a {x: *a}", r"\*a stands inside what it stands for"),
        ("name: " + "[" * 20_000, "line 1: 65 levels of nesting; allowed: at most 64"),
        ("name: " + "{a: " * 20_000, "line 1: 65 levels of nesting; allowed: at most 64"),
        ("name: " + "9" * 5_000, "line 1: 5,000 digits of a whole number; allowed: at most 300"),
        ("name: " + ":".join(["59"] * 5_000), "digits of a whole number"),
        ("a: 1\nname: 2020-13-01", "'2020-13-01' cannot be read as timestamp.*line 2"),
        ("name: !!int ''", "'' cannot be read as int"),
        ("name: !!int ten", "'ten' cannot be read as int"),
        ("name: !!bool maybe", "'maybe' cannot be read as bool"),
        ("name: !!timestamp soon", "'soon' cannot be read as timestamp"),
        ("name: !!python/object:os.system {}", "could not determine a constructor"),
        ("name: *nowhere", "found undefined alias"),
        ("name: a\nname: b", "the key 'name' is there twice"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(SpecError, match=message):
        read_yaml(text, "case")


def test_aliases_and_merged_keys_within_the_limits_are_read():
    text = "base: &base {x: 1, y: [2, 3]}\nmore: {<<: *base, x: 4}\nagain: *base"
    assert read_yaml(text, "case") == {
        "base": {"x": 1, "y": [2, 3]}, "more": {"x": 4, "y": [2, 3]}, "again": {"x": 1, "y": [2, 3]}
    }  # fmt: skip
    assert read_yaml(f"name: {'[' * 62}{']' * 62}", "case")
    assert read_yaml(f"name: {'9' * limits.INTEGER_DIGITS.most}", "case")["name"] == 10**limits.INTEGER_DIGITS.most - 1


def test_many_keys_are_refused_before_they_are_compared(monkeypatch):
    monkeypatch.setattr(limits, "VALUES", replace(limits.VALUES, most=5_000))
    with pytest.raises(SpecError, match="more than 5,000 values"):
        read_yaml("".join(f"k{n}: 1\n" for n in range(2_600)), "case")
