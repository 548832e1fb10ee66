"""A small shop in two tables, written as a user would, with own column names."""

from __future__ import annotations

import csv

import pytest

EVENTS = [
    ("ann", "pen", "2024-01-01"), ("ann", "ink", "2024-01-02"), ("bob", "pen", "2024-01-02"),
    ("bob", "pad", "2024-01-03"), ("ann", "pen", "2024-01-04"), ("cat", "ink", "2024-01-05"),
    ("cat", "pen", "2024-01-06"), ("ann", "cup", "2024-01-07"),
    ("ann", "pad", "2024-01-09"), ("ann", "pen", "2024-01-09"),  # from here on after the split at 0.4
    ("dan", "pen", "2024-01-09"), ("bob", "ink", "2024-01-10"), ("ann", "ink", "2024-01-12"), ("dan", "pen", "2024-01-12"),
]  # fmt: skip
ITEMS = [
    {"item": "cup", "category": "kitchen", "provider": "Tom", "price": "4.5", "capacity": "2"},
    {"item": "pen", "category": "desk", "provider": "Ida", "price": "1", "capacity": ""},
    {"item": "ink", "category": "desk", "provider": "", "price": "", "capacity": "0"},
    {"item": "pad", "category": "", "provider": "Ida", "price": "2", "capacity": "inf"},
    {"item": "box", "category": "desk", "provider": "Tom", "price": "0", "capacity": "1"},
]


@pytest.fixture
def shop(tmp_path):
    """Return a function from rows and names of columns to the path of a table of interactions."""

    def write(rows=EVENTS, columns=("user", "item", "time"), items=None, name="sales.csv"):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *rows])
        if items is not None:
            with (tmp_path / "items.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(items[0]))
                writer.writeheader()
                writer.writerows(items)
        return tmp_path / name

    return write


@pytest.fixture
def events():
    """Rows of the shop."""
    return list(EVENTS)


@pytest.fixture
def items():
    """What the shop knows of its items."""
    return [dict(each) for each in ITEMS]
