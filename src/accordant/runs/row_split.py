"""How the rows of a run were divided: by persons, by time, by both, or row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.cases.loaders import CaseData
from accordant.cases.spec import CaseSpec
from accordant.problem import value_label
from accordant.split import time_keys

FEW_GROUPS = 30  # below, percentiles of whole groups are known to be too narrow


@dataclass(frozen=True)
class Dealing:
    """What was kept together, and where the test part begins.

    Attributes
    ----------
    group, time
        Columns; None where the case names none.
    train_rows, test_rows
        Rows of the two parts, before a subset is drawn.
    train_groups, test_groups
        Groups of the two parts; None without a column of groups.
    train_until, test_from
        Latest time of the training part and earliest of the test part, as written in the data; None without times.
    left_out
        Rows in neither part: earlier ones of groups that are in the test part.
    """

    group: str | None
    time: str | None
    train_rows: int
    test_rows: int
    train_groups: int | None
    test_groups: int | None
    train_until: str | None
    test_from: str | None
    left_out: int

    def to_json(self) -> dict[str, Any]:
        """Return ``group`` and ``time`` of the section ``data`` of ``run.json``; None where nothing is named."""
        group = {"column": self.group, "train": self.train_groups, "test": self.test_groups}
        time = {"column": self.time, "train_until": self.train_until, "test_from": self.test_from}
        return {
            "group": None if self.group is None else group,
            "time": None if self.time is None else time,
            "left_out": self.left_out,
        }

    def sentences(self) -> tuple[str, ...]:
        """Return what every reader must know of it; nothing if rows were drawn one by one."""
        sentences = []
        if self.time is not None:
            sentences.append(
                f"Trained on rows with {self.time} up to {self.train_until} ({self.train_rows:,} rows), tested on rows "
                f"after that, from {self.test_from} on ({self.test_rows:,} rows). Folds within training are random."
            )
        if self.group is not None:
            sentences.append(
                f"Rows of one {self.group} stay together in split, folds and bootstrap: {self.train_groups:,} groups "
                f"in training, {self.test_groups:,} in the test part, none in both."
            )
            if min(self.train_groups or 0, self.test_groups or 0) < FEW_GROUPS:
                sentences.append(
                    f"Fewer than {FEW_GROUPS} groups are in one of the parts: intervals from so few are too narrow."
                )
        if self.left_out:
            sentences.append(
                f"{self.left_out:,} earlier rows were left out, because their {self.group} has rows in the test part."
            )
        return tuple(sentences)


def dealing(case: CaseSpec, data: CaseData, train: CaseData, test: CaseData) -> Dealing:
    """Return how a case's rows were divided into a training part and a test part."""
    until = start = None
    if train.times is not None and test.times is not None:
        name = case.data.time or ""
        until = value_label(train.times[np.argmax(time_keys(train.times, name))])
        start = value_label(test.times[np.argmin(time_keys(test.times, name))])
    n_train, n_test = len(train.log), len(test.log)
    left_out = len(data.log) - n_train - n_test
    return Dealing(
        case.data.group, case.data.time, n_train, n_test, _n_groups(train), _n_groups(test), until, start, left_out
    )


def _n_groups(part: CaseData) -> int | None:
    return None if part.log.groups is None else len(np.unique(part.log.groups))
