"""Write ``choices.csv``: what 30 invented people chose, of whom 6 want something else than the others.

python make_data.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from accordant.preferences.synthetic import world

HERE = Path(__file__).parent
FEATURES = ("price", "comfort", "speed", "quiet")


def write_choices(path: Path) -> None:
    """Write one row per choice: who chose, what was chosen, and what was not."""
    people = world("scarce", users=30, minority=0.2, features=len(FEATURES), records=20, sharpness=2.5)
    choices = people.drawn(np.random.default_rng(0)).training
    header = ["user_id", "group_id", *(f"{side}_{name}" for side in ("chosen", "rejected") for name in FEATURES)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for chosen, rejected, user in zip(choices.chosen, choices.rejected, choices.users, strict=True):
            items = np.concatenate([choices.features[chosen], choices.features[rejected]])
            group = choices.groups[user] if choices.groups else ""
            writer.writerow([f"person {user + 1}", group, *(f"{value:.2f}" for value in items)])


if __name__ == "__main__":
    write_choices(HERE / "choices.csv")
