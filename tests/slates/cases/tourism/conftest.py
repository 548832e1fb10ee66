"""A small town in the form of the public files: latitude before longitude, ids from 0, a blank category."""

from __future__ import annotations

import csv

import pytest

POIS = [
    {"poiID": "0", "poiCat": "Park", "poiLat": "48.10", "poiLon": "11.10"},
    {"poiID": "1", "poiCat": "Museum", "poiLat": "48.11", "poiLon": "11.20"},
    {"poiID": "2", "poiCat": "", "poiLat": "48.12", "poiLon": "11.30"},
    {"poiID": "3", "poiCat": "Museum", "poiLat": "48.13", "poiLon": "11.40"},
]


def visit(user, tour, poi, start, end=None):
    """One row; the columns that no loader reads hold nonsense on purpose."""
    return {
        "userID": user, "trajID": str(tour), "poiID": str(poi), "startTime": str(start),
        "endTime": str(start + 5 if end is None else end), "#photo": "x", "trajLen": "99", "poiDuration": "-1",
    }  # fmt: skip


VISITS = [
    visit("ann", 1, 0, 100), visit("ann", 1, 1, 200), visit("ann", 1, 0, 300),  # back to where the tour began
    visit("bob", 2, 1, 400), visit("bob", 2, 3, 450, 450),
    visit("bob", 3, 0, 500),
    visit("cat", 4, 0, 600), visit("cat", 4, 3, 650, 2000),  # begins before the split, ends after it
    visit("ann", 5, 1, 1000), visit("ann", 5, 0, 1100), visit("ann", 5, 2, 1200),
    visit("dan", 6, 3, 1500), visit("dan", 6, 1, 1400),  # rows out of order
]  # fmt: skip


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def town(tmp_path):
    """Return a function from rows of visits and of attractions to the path of the visits; both are written."""

    def make(visits=VISITS, pois=POIS, name="Town"):
        write(tmp_path / f"poi-{name}.csv", pois)
        return write(tmp_path / f"traj-{name}.csv", visits)

    return make


@pytest.fixture
def row():
    """The function that makes one row of visits."""
    return visit
