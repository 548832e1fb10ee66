"""A comparison of learners on one preference file: read, split, encode, learn, measure; and what comes out, typed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant import __version__
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.naming import counted
from accordant.preferences.comparison.conclusions import Answer, conclude
from accordant.preferences.comparison.measurements import Claim, Measured, measure
from accordant.preferences.comparison.methods import (
    LENGTH,
    POOLED,
    Features,
    Fitted,
    RidgeChoice,
    Skipped,
    choose_methods,
    choose_ridge,
    fit_methods,
    labels_of,
    margins_of,
)
from accordant.preferences.comparison.opposed_groups import opposed_words
from accordant.preferences.comparison.record_split import Split, branch, split_records
from accordant.preferences.comparison.sources import Source, read_source
from accordant.preferences.encoding import encoders
from accordant.preferences.groups import Groups, groups_of
from accordant.preferences.measures import PerUser, per_user
from accordant.preferences.measures.intervals import LEVEL
from accordant.preferences.parts import agreement_on, described, read_beside, watch_over_time
from accordant.preferences.records import Comparisons
from accordant.preferences.result import (
    FORMAT,
    AgreementResult,
    LearnerComparison,
    OverTimeResult,
    PreferenceOptions,
)

FEW_USERS = 10  # fewer say little about other users, whatever their intervals
FEW_MEMBERS = 5  # of a group
FEWEST_RESAMPLES = 40  # then one of them lies beyond either limit of a 95 % interval
SAME = 1e-5  # margins of one model that was learned twice differ by less
log = logging.getLogger("accordant.preferences")


@dataclass(frozen=True, eq=False)
class Judged:
    """What methods achieve for some users.

    Attributes
    ----------
    users
        Method to what it achieves for each user.
    groups, support
        Position of the group and support rate of each of these users; -1 and NaN where unknown.
    measured
        Metrics and tests.
    """

    users: Mapping[str, PerUser]
    groups: NDArray[np.intp]
    support: NDArray[np.float64]
    measured: Measured


@dataclass(frozen=True, eq=False)
class ComparedLearners:
    """A finished comparison.

    Attributes
    ----------
    path
        File that was read.
    options
        As given.
    source, split, groups
        Its records, which are for what, and who is in which group.
    ridge
        The ridge of all learners, and how it was chosen.
    n_features
        Features of the items as learners saw them.
    rows, skipped
        Methods, the pooled reward first, and those left out.
    judged, fresh
        What the methods achieve for the users of training, and for new users (None without any).
    answer
        What is said first.
    warnings
        Sentences that a reader must see.
    agreement, over_time
        Parts that were asked for; None otherwise.
    """

    path: str
    options: PreferenceOptions
    source: Source
    split: Split
    groups: Groups
    ridge: RidgeChoice
    n_features: int
    rows: tuple[Fitted, ...]
    skipped: tuple[Skipped, ...]
    judged: Judged
    fresh: Judged | None
    answer: Answer
    warnings: tuple[str, ...]
    agreement: AgreementResult | None = None
    over_time: OverTimeResult | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        return self.section.to_json()

    @cached_property
    def section(self) -> LearnerComparison:
        """The result as the page reads it."""
        options, source = self.options, self.source
        texts = source.texts is not None
        return LearnerComparison.read({
            "accordant": __version__,
            "result": FORMAT,
            "file": self.path,
            "file_name": source.name,
            "format": source.kind,
            "seed": options.seed,
            "records": len(source),
            "users": len(source.user_names),
            "groups": self.groups.to_json(),
            "split": {**self.split.to_json(), "new_users": self._n_new, "seed": options.seed},
            "encoder": {
                "name": options.encoder if texts else "the features of the file",
                "fitted_on": "texts of training records" if texts else "nothing",
                "features": self.n_features,
                "scale": "one for all features" if texts else "one for each feature",
            },
            "ridge": self.ridge.to_json(),
            "intervals": {"level": LEVEL, "resamples": options.resamples, "over": self.judged.measured.units},
            "declared": source.declared,
            "terms": source.terms,
            "answer": self.answer,
            "methods": [self._row(row) for row in self.rows],
            "skipped": self.skipped,
            "excluded": self._excluded(),
            "per_user": _by_user(self.judged, self.groups),
            "options": options,
            "warnings": self.warnings,
            "agreement": self.agreement,
            "over_time": self.over_time,
        })  # fmt: skip

    @property
    def _n_new(self) -> int:
        """Number of users who took no part in training."""
        return len(np.unique(self.source.users[self.split.later]))

    def _row(self, row: Fitted) -> dict[str, Any]:
        """Return one method."""
        measured, label = self.judged.measured, row.label
        test = measured.pareto.get(label)
        return {
            "method": label,
            "learner": row.method.learner.name,
            "parameters": row.method.learner.parameters,
            "features": "length" if row.method.features == "length" else "encoder",
            "control": row.control,
            "control_of": row.control_of,
            "metrics": _metrics(measured, label),
            "differences": None if label == POOLED else _differences(measured, label, POOLED),
            "pareto": None if test is None else test.to_json(),
            "against_controls": self._against(row),
            "new_users": None if self.fresh is None else {
                "metrics": _metrics(self.fresh.measured, label),
                "differences": None if label == POOLED else _differences(self.fresh.measured, label, POOLED),
            },
            "warnings": list(row.warnings),
        }  # fmt: skip

    def _against(self, row: Fitted) -> list[dict[str, Any]]:
        """Return by how much a method differs from each control, group by group."""
        if row.control:
            return []
        names = ["accuracy", *(f"accuracy[{name}]" for name in self.groups.names)]
        controls = [other.label for other in self.rows if other.control and other.control_of in (None, row.label)]
        measured = self.judged.measured
        return [
            {"control": control, "differences": {
                name: None if (difference := measured.difference(row.label, control, name)) is None
                else difference.to_json()
                for name in names
            }}
            for control in controls if control != POOLED
        ]  # fmt: skip

    def _excluded(self) -> list[dict[str, Any]]:
        """Return how many users are not measured, by reason."""
        reasons = list(self.judged.users[POOLED].excluded.values())
        rows = [{"users": reasons.count(reason), "reason": reason} for reason in dict.fromkeys(reasons)]
        if self.judged.measured.units == "records":
            return []
        words = {"no records": "no record to judge by: too few different pairs, or held out as new users"}
        return [{**row, "reason": words.get(str(row["reason"]), row["reason"])} for row in rows]


def _metrics(measured: Measured, label: str) -> dict[str, Any]:
    return {name: metric.to_json() for name, metric in measured.metrics[label].items()}


def _differences(measured: Measured, label: str, other: str) -> dict[str, Any]:
    """Return the difference of every metric to another method's, on the same resamples."""
    differences = {name: measured.difference(label, other, name) for name in measured.metrics[label]}
    return {name: None if difference is None else difference.to_json() for name, difference in differences.items()}


def _by_user(judged: Judged, groups: Groups) -> dict[str, Any] | None:
    """Return what pictures show: every user's accuracy, records, group and support."""
    if judged.measured.units == "records":
        return None
    first = judged.users[POOLED]
    return {
        "users": list(first.names),
        "group": [None if code < 0 else groups.names[code] for code in judged.groups],
        "support": json_value(judged.support),
        "records": first.counts.tolist(),
        "accuracy": {label: users.accuracy.tolist() for label, users in judged.users.items()},
    }


def compare_preferences(path: str | Path, options: PreferenceOptions, n_jobs: int = 1) -> ComparedLearners:
    """Compare learners on a file.

    Parameters
    ----------
    path
        The file, or the folder of MovieLens.
    options
        What is compared, and how.
    n_jobs
        Processes on which methods learn; the result is the same for any number.

    Raises
    ------
    InputError
        If the file, a method or another option cannot be used.
    """
    encoder = encoders.create(options.encoder)
    if options.resamples < FEWEST_RESAMPLES:
        raise InputError(f"resamples is {options.resamples}; allowed: at least {FEWEST_RESAMPLES}")
    if not (0 <= options.tolerance < 1):
        raise InputError(f"tolerance is {options.tolerance}; allowed: at least 0, below 1")
    if options.gain is not None and not (0 < options.gain <= 1):
        raise InputError(f"gain is {options.gain}; allowed: above 0, at most 1")
    choose_methods(options.methods, options.parameters, everything=options.compare, texts=False)  # refuse early
    beside = read_beside(Path(path), options)
    reading = replace(options.source, ignore=(*options.source.ignore, *beside.columns))
    source = read_source(path, reading, test=options.test, seed=options.seed)
    log.info("%s: %s records of %s users, read as %s", source.name, len(source), len(source.user_names), source.kind)
    split = split_records(
        source.users, source.pairs, source.items, test=options.test, seed=options.seed, later=source.later,
        new_users=options.new_users, first=options.first,
    )  # fmt: skip
    over_time = watch_over_time(Path(path), source, beside, options)
    records = described(source, split.training, encoder)
    known = np.sort(np.concatenate([split.training, split.first]))
    groups = groups_of(
        records["encoder"].take(known),
        declared=None if source.support is None else source.support[known],
        declared_from=source.support_from, imposed=source.kind == "dsp",
        generator=branch(options.seed, "groups"),
    )  # fmt: skip
    records = {name: comparisons.with_groups(groups.training) for name, comparisons in records.items()}
    training = {name: comparisons.take(split.training) for name, comparisons in records.items()}
    ridge = choose_ridge(training["encoder"], seed=options.seed, n_jobs=n_jobs)
    methods = choose_methods(
        options.methods, options.parameters, everything=options.compare, texts=source.texts is not None,
        ridge=ridge.ridge,
    )  # fmt: skip
    rows, skipped = fit_methods(methods, training, seed=options.seed, n_jobs=n_jobs)
    asked = labels_of(options.methods, options.parameters)
    reasons = {skip.method: skip.reason for skip in skipped}
    if asked and not options.compare and all(label in reasons for label in asked):
        raise InputError(f"{asked[0]} cannot learn from this file: {reasons[asked[0]]}")
    log.info("measuring %s methods on %s resamples", len(rows), options.resamples)
    rows, judged, left_out = _judge(
        rows, {name: comparisons.take(split.test) for name, comparisons in records.items()}, groups, options
    )
    fresh = _new_users(rows, records, split, groups, options) if len(split.later) else None
    answer = conclude(rows, judged.measured, groups, asked)
    warnings = _warnings(source, split, groups, judged)
    if groups.declared:
        warnings += tuple(opposed_words(training["encoder"], records["encoder"].take(split.test), groups, ridge.ridge))
    agreement = None
    if beside.agrees is not None:
        margins = {row.label: margins_of(row, records[row.method.features].take(split.test)) for row in rows}
        agreement = agreement_on(margins, beside.agrees, source, split.test, groups, answer.looked_at, options)
    return ComparedLearners(
        str(path), options, source, split, groups, ridge, records["encoder"].features.shape[1], tuple(rows),
        (*skipped, *left_out), judged, fresh, answer, warnings, agreement, over_time,
    )  # fmt: skip


def _judge(
    rows: Sequence[Fitted], test: Mapping[Features, Comparisons], groups: Groups, options: PreferenceOptions
) -> tuple[list[Fitted], Judged, list[Skipped]]:
    """Measure every method on records of users; a model that gives no finite margins is left out."""
    first = test["encoder"]
    alone = len(np.unique(first.users)) == 1
    users = np.arange(len(first)) if alone else first.users
    names = None if alone else first.names
    by_label: dict[str, PerUser] = {}
    kept: list[Fitted] = []
    left_out: list[Skipped] = []
    seen: dict[str, NDArray[np.float64]] = {}
    for row in rows:
        try:
            margins = margins_of(row, test[row.method.features])
        except InputError as error:
            left_out.append(Skipped(row.label, str(error)))
            continue
        name = row.label.removeprefix(f"{row.control_of}: ")
        if row.control_of and name in seen and np.allclose(seen[name], margins, rtol=SAME, atol=SAME):
            left_out.append(Skipped(row.label, f"it is the row {name}: every margin is the same"))
            continue
        seen[row.label] = margins
        by_label[row.label] = per_user(margins, users, names=names, weights=first.weights)
        kept.append(row)
    measured = next(iter(by_label.values())).users
    of_user = np.zeros(len(measured), dtype=np.intp) if alone else groups.of_user[measured]
    support = np.full(len(measured), np.nan) if alone else groups.support[measured]
    judged = measure(
        by_label, of_user, groups.names, support, seed=options.seed, resamples=options.resamples, level=LEVEL,
        units="records" if alone else "users", claim=Claim(options.tolerance, groups.minority, options.gain),
    )  # fmt: skip
    return kept, Judged(by_label, of_user, support, judged), left_out


def _new_users(
    rows: Sequence[Fitted],
    records: Mapping[Features, Comparisons],
    split: Split,
    groups: Groups,
    options: PreferenceOptions,
) -> Judged:
    """Return what every method achieves for users whom it knows by their first records alone."""
    adapted = [replace(row, model=row.model.adapted(records[row.method.features].take(split.first))) for row in rows]
    later = {name: comparisons.take(split.later) for name, comparisons in records.items()}
    return _judge(adapted, later, groups, options)[1]


def _warnings(source: Source, split: Split, groups: Groups, judged: Judged) -> tuple[str, ...]:
    """Return what a reader must know before reading a number."""
    warnings = list(groups.warnings)
    n_users = len(judged.users[POOLED].names)
    if judged.measured.units == "records":
        warnings.insert(0, "all test records are of one user: nothing about users or groups can be measured; "
                        "intervals are over records")  # fmt: skip
    elif n_users < FEW_USERS:
        warnings.append(f"{n_users} users are measured: intervals over so few say little about other users")
    if len(groups.names) > 1:
        for code, name in enumerate(groups.names):
            members = int((judged.groups == code).sum())
            if members == 0:
                warnings.append(f"group {name} has no measured user: it cannot be measured")
            elif members < FEW_MEMBERS:
                measured = counted(members, "measured user")
                warnings.append(f"group {name} has {measured}: its figures are close to chance")
    if split.training_only:
        warnings.append(
            f"{counted(split.training_only, 'user stays', 'users stay')} in training: with too few pairs of items for "
            "a test, or pairs that all share items"
        )
    if split.between:
        warnings.append(
            f"{counted(split.between, 'record is', 'records are')} used for nothing: users compared the same items "
            "again and again, so items are parted between training and test, and what is of one of each is left out"
        )
    if LENGTH in judged.users and source.texts is not None:
        warnings += _length_warning(judged)
    return tuple(dict.fromkeys(warnings))


def _length_warning(judged: Judged) -> list[str]:
    """Return a warning if length alone foretells choices better than chance."""
    limits = judged.measured.metrics[LENGTH]["accuracy"].limits
    if limits.low is None or limits.low <= 0.5:
        return []
    return [
        f"length alone foretells {limits.value:.1%} of the choices: part of any accuracy here is a taste for length"
    ]
