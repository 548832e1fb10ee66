"""Carrying out a case: data, split, policy, evaluation on the untouched part, and the record of it all."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from accordant import randomness, strategies
from accordant.arrays import AnyArray
from accordant.cases.files import CaseFile, find_file, no_data, read_case_file
from accordant.cases.loaders import CaseData, load_file, load_part, load_query, simulate
from accordant.cases.spec import CaseSpec, StrategySpec
from accordant.compute.local import cpu_seconds
from accordant.errors import DataError, InputError
from accordant.evidence import Evidence
from accordant.learning.effort import Effort, limits_of
from accordant.metrics import Metric, metrics
from accordant.policy import ParticipatoryPolicy
from accordant.rewards import ObservedReward, RewardSignal
from accordant.runs.declaration import (
    Columns,
    build_outcome_model,
    build_reward_model,
    check_declared,
    naming_keys,
    read_columns,
)
from accordant.runs.inputs import input_hash
from accordant.runs.models.trusted_types import refuse_unsavable
from accordant.runs.record import Record
from accordant.runs.record.parts import groupings, make_record
from accordant.runs.reward_sources import located_signals, reward_sources, with_preferences
from accordant.runs.row_split import dealing
from accordant.runs.scrutiny import Scrutiny
from accordant.runs.stakeholder_groups import naming_groups, with_groups
from accordant.split import split_rows
from accordant.statistics import cluster_codes
from accordant.tables.column_types import ColumnType
from accordant.tables.databases import database_named
from accordant.tables.datasets import Part
from accordant.tables.workbooks import parted

logger = logging.getLogger(__name__)

LEARNING = ("shared_rewards", "augmentation", "integration", "nodes", "calibrated", "folds", "stratified")
LEAST_TRAINING_ROWS = 30  # ten for each of the three folds that the smallest nested cross-validation needs
QUICK_FOLDS, QUICK_RESAMPLES = 3, 200
LEAST_TEST_ROWS = 10  # with fewer, not even an action that is always taken is shown to be taken more often than not


@dataclass(frozen=True)
class RunOptions:
    """What a user may say about a run beside the case.

    Attributes
    ----------
    seed
        Seed of the whole run; the published protocol uses 42.
    data
        File or folder; None looks in the usual places.
    rows
        Learn from a random subset of this many training rows; None for all. The test rows stay the same.
    folds, resamples
        Override the case.
    n_jobs
        Processes for independent fits.
    preferences
        Stakeholder to a file of comparisons from which the reward is learned, instead of what the case declares.
    effort
        ``quick`` for a first look, with at most `QUICK_FOLDS` and `QUICK_RESAMPLES` unless others are asked for, and
        less scrutiny; ``thorough`` for the last per cent; see `accordant.learning.effort`.
    decisions
        Columns of the data with decisions of somebody else, each compared as one more strategy.
    """

    seed: int = 42
    data: str | None = None
    rows: int | None = None
    folds: int | None = None
    resamples: int | None = None
    n_jobs: int = 1
    preferences: Mapping[str, str] = field(default_factory=dict)
    effort: Effort = "standard"

    def __post_init__(self) -> None:
        limits_of(self.effort)  # raises for an unknown one

    decisions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CarriedOut:
    """A carried-out case: the record to write down, the policy that can recommend, and what it was judged by."""

    case: CaseSpec
    policy: ParticipatoryPolicy
    record: Record
    evidence: Evidence


def carry_out(case_file: str | Path | CaseFile, options: RunOptions) -> CarriedOut:
    """Run a case from its data to the evaluation on untouched rows.

    Parameters
    ----------
    case_file
        A built-in case, a path to a YAML file, or one that was read.
    options
        What is said beside the case.

    Raises
    ------
    InputError
        If the case, the data or an option cannot be used, or a model could not be saved.
    """
    started = time.perf_counter(), cpu_seconds()
    file = case_file if isinstance(case_file, CaseFile) else read_case_file(case_file)
    beside = file.beside
    with file.at():
        split_case = with_groups(_with_overrides(file.case, options), beside, options.data, options.preferences)
    case = split_case.case
    with naming_groups(split_case.parts):
        check_declared(file, case)
    signals = located_signals(case, beside, options.data, split_case.preferences)
    with file.at():
        data = case_data(case, beside, options, signals)
    train, test = split(data, case.evaluation.test_size, options.seed)
    dealt = dealing(case, data, train, test)
    train = subset(train, options)
    _check_sizes(train, test)
    inputs = inputs_of(file, options)
    policy = build_policy(case, options)
    refuse_unsavable("outcome model", policy.outcome_model)
    refuse_unsavable("reward model", policy.reward_model)
    logger.info("%s: %d training rows, %d untouched test rows", data.source, len(train.log), len(test.log))
    with naming_groups(split_case.parts):
        policy.fit_log(train.log, signals)
    logger.info("scoring on %d untouched rows", len(test.log))
    evidence = policy.evidence_on(test.log, true_levels=test.true_levels)
    leaderboard, scrutiny = Scrutiny(policy, evidence, groupings(case)).findings()
    seconds = time.perf_counter() - started[0], cpu_seconds() - started[1]
    record = make_record(
        case, options.seed, data, len(train.log), policy, evidence, leaderboard, scrutiny, seconds, dealt,
        reward_sources(file.case, case, policy.signals_, split_case.preferences, split_case.declared_names),
        split_case.parts,
    )  # fmt: skip
    return CarriedOut(case, policy, record.model_copy(update={"inputs": inputs}), evidence)


def inputs_of(file: CaseFile, options: RunOptions) -> str:
    """Return the hash of all that determines a run, empty if it cannot be known; see `input_hash`."""
    with file.at():
        return input_hash(file, options, data_file(file.case, file.beside, options.data))


def case_data(case: CaseSpec, beside: Path | None, options: RunOptions, signals: dict[str, RewardSignal]) -> CaseData:
    """Load the case's file, or simulate if nobody named a place for data."""
    reward_columns = {name: signal.column for name, signal in signals.items() if isinstance(signal, ObservedReward)}
    columns = read_columns(case, signals)
    also = tuple(dict.fromkeys(name for names in columns.values() for name in names))
    recorded: Columns = {("rewards", name): (column,) for name, column in reward_columns.items()}
    path = data_file(case, beside, options.data)
    if path is not None:
        with naming_keys(case, columns | recorded):
            sheet = parted(options.data)[1] if options.data else None
            return load_file(path, case.data, case.problem, reward_columns, also, sheet=sheet)
    if case.data.query is not None and (database_named() or case.simulator is None):
        with naming_keys(case, columns | recorded):
            return load_query(case.data, case.problem, reward_columns, also)
    if case.simulator is None:
        raise no_data(case.data.file or "")
    logger.warning("no data found: running on the simulator %r", case.simulator.name)
    with naming_keys(case, columns):
        return simulate(case, options.seed, None, reward_columns, also)


def part_data(case: CaseSpec, part: Part, types: Mapping[str, ColumnType]) -> tuple[CaseData, AnyArray | None]:
    """Return the rows of a part of a dataset with their log, and whose each is if the case says; see `load_part`.

    Columns are of the `types` that were learned from: what a part holds may look otherwise, by itself.
    """
    signals = case.signals()
    reward_columns = {name: signal.column for name, signal in signals.items() if isinstance(signal, ObservedReward)}
    columns = read_columns(case, signals)
    also = tuple(dict.fromkeys(name for names in columns.values() for name in names))
    with naming_keys(case, columns | {("rewards", name): (column,) for name, column in reward_columns.items()}):
        others = {name: kind for name, kind in types.items() if name not in case.data.features}
        features = {name: types[name] for name in case.data.features}
        data = case.data.model_copy(update={"features": features, "types": {**case.data.types, **others}})
        return load_part(part, data, case.problem, reward_columns, also)


def has_data(case: CaseSpec, beside: Path | None, given: str | None) -> bool:
    """Return whether there are rows: a file, a query with a database, or a simulator."""
    queried = case.data.query is not None and database_named()
    return queried or case.simulator is not None or data_file(case, beside, given) is not None


def data_file(case: CaseSpec, beside: Path | None, given: str | None) -> Path | None:
    """Return the file with the rows of a case, None if there is none; a given one goes before all others."""
    if given is not None:
        return find_file(case.data.file or f"{case.name}.csv", given, beside)
    return None if case.data.query is not None or case.data.file is None else find_file(case.data.file, None, beside)


def subset(data: CaseData, options: RunOptions) -> CaseData:
    """Return a random subset of training rows; subsets of one seed are nested."""
    if options.rows is None:
        return data
    if not 0 < options.rows <= len(data.log):
        raise InputError(f"rows is {options.rows}; allowed: 1 to {len(data.log)}, the training rows of {data.source}")
    order = randomness.generator(options.seed, "subset").permutation(len(data.log))
    if data.log.groups is not None:  # one group after another: all rows of each, but for the last one
        order = order[np.argsort(cluster_codes(data.log.groups[order]), kind="stable")]
    return data.take(np.sort(order[: options.rows]))


def split(data: CaseData, test_size: float, seed: int) -> tuple[CaseData, CaseData]:
    """Return training part and untouched test part of a case's rows, see `accordant.split.split_rows`."""
    try:
        parts = split_rows(len(data.log), test_size, seed, groups=data.log.groups, times=data.times)
    except DataError as error:
        raise DataError(f"{data.source}: {error}") from None
    return data.take(parts.train), data.take(parts.test)


def _check_sizes(train: CaseData, test: CaseData) -> None:
    """Refuse rows from which nothing could be told."""
    for words, part, least, remedy in (
        ("training", train, LEAST_TRAINING_ROWS, "bring more rows"),
        ("untouched test", test, LEAST_TEST_ROWS, "bring more rows, or raise evaluation.test_size"),
    ):
        if len(part.log) < least:
            raise DataError(f"{part.source}: {len(part.log)} {words} rows; at least {least} are needed: {remedy}")


def build_policy(case: CaseSpec, options: RunOptions) -> ParticipatoryPolicy:
    """Return the unfitted policy that a case declares."""
    learning, seed = case.learning, randomness.model_seed(options.seed)
    return ParticipatoryPolicy(
        case.problem,
        features=tuple(case.data.features),
        outcome_model=build_outcome_model(case, seed),
        outcome_grid=learning.outcome_model.grid,
        reward_model=build_reward_model(case, seed),
        reward_grid=learning.reward_model.grid,
        **{name: getattr(learning, name) for name in LEARNING},
        strategies=[strategies.create(spec.name, spec.parameters) for spec in case.strategies] or None,
        **asked_of_policy(case),
        random_state=options.seed,
        n_jobs=options.n_jobs,
        effort=options.effort,
    )


def asked_of_policy(case: CaseSpec) -> dict[str, Any]:
    """Return what a case declares that a fitted policy reads too, as parameters of `ParticipatoryPolicy`."""
    return {
        "types": case.data.declared_types,
        "confounders": case.data.confounders,
        "group": case.data.group,
        "metrics": declared_metrics(case),
        "ranges": declared_ranges(case),
        "unusual": case.data.unusual.model_dump(),
        **{name: getattr(case.evaluation, name) for name in ("resamples", "level", "normalisation")},
    }


def declared_metrics(case: CaseSpec) -> dict[str, tuple[Metric, float]]:
    """Return label → (metric, weight)."""
    return {label: (metrics.create(spec.metric, spec.parameters), spec.weight) for label, spec in case.metrics.items()}


def declared_ranges(case: CaseSpec) -> dict[str, tuple[float, float]]:
    """Return label → range, where one is declared."""
    return {label: spec.range for label, spec in case.metrics.items() if spec.range is not None}


def _with_overrides(case: CaseSpec, options: RunOptions) -> CaseSpec:
    if options.effort == "quick":
        case = case.replace(
            learning=case.learning.replace(folds=min(case.learning.folds, QUICK_FOLDS)),
            evaluation=case.evaluation.replace(resamples=min(case.evaluation.resamples, QUICK_RESAMPLES)),
        )
    if options.folds is not None:
        case = case.replace(learning=case.learning.replace(folds=options.folds))
    if options.resamples is not None:
        case = case.replace(evaluation=case.evaluation.replace(resamples=options.resamples))
    if options.decisions:
        given = case.strategies or tuple(
            StrategySpec(name=rule.name, parameters=rule.parameters) for rule in strategies.defaults_for(case.problem)
        )
        decided = (StrategySpec(name="decided", parameters={"column": name}) for name in options.decisions)
        case = case.replace(strategies=(*given, *decided))
    return with_preferences(case, options.preferences)
