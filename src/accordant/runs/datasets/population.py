"""Rules for the whole policy on a dataset: λ by column generation over E that stands in files, a map for each pass.

Each part writes its E once: an array of shape (stakeholder · action, context), with a last row of group numbers where
the rule decides by groups. A pass maps the files, takes the best action in each context as one does in memory, and
hands on what everybody gets in sum. Sums of parts are added exactly (`math.fsum`), so λ is the same whoever made them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from accordant import __version__, strategies
from accordant.arrays import Values
from accordant.compute.executor import Executor, in_order
from accordant.compute.tasks import Task, Told, tasks
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.naming import listed
from accordant.problem import value_label
from accordant.progress import steps
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks
from accordant.runs.folder import Run
from accordant.runs.row_batches import batches_of
from accordant.runs.sections.population import FittedPopulation, PopulationFit, StakeholderFit
from accordant.strategies.column_generation import Optimum, best_sums
from accordant.strategies.population import PopulationRule
from accordant.strategies.population_by_group import PopulationByGroup
from accordant.tables.array_files import write_columns
from accordant.tables.datasets import Part, dataset_parts
from accordant.tables.frames import ROWS_AT_ONCE
from accordant.tables.output import write_output
from accordant.tables.text import file_hash, read_json
from accordant.utilities import ExpectedRewards

FITTED = "population.json"
NAMES = ("population_maximin", "population_leximin", "population_nash", "population_by_group")
"""Registered names of the rules that can be fitted on a dataset."""


def fit_population(job: Job, strategy: str | None = None) -> FittedPopulation:
    """Fit a rule for the whole policy on all rows of a dataset, and write ``population.json``.

    Parameters
    ----------
    job
        Run, dataset and where. E of the parts stands in the folder, 8 bytes an entry, until somebody takes it away.
    strategy
        Label of the rule; None for the selected one.

    Raises
    ------
    InputError, AccordantError
        If the strategy is none for the whole policy; and see `Job.carry_out`.
    """
    options = population_options(job.run, strategy)
    rule = rule_of(job.run, options["strategy"])
    load_kernel(job.run)
    with job.executor() as executor:
        here = replace(job, on=None)  # the executor of this block, for all passes
        lines = here.carry_out("population", "expected rewards of parts", options)
        fitted, fits = fitted_on(rule, populations_of(job, executor, lines, rule))
    population = FittedPopulation(
        accordant=__version__, run_sha256=job.run.manifest.sha256, strategy=rule.label,
        rule={"name": fitted.name, "parameters": json_value(fitted.parameters)},
        inputs=tuple(line["input"] for line in lines), fits=tuple(fits),
    )  # fmt: skip
    write_output(
        job.out / FITTED, json.dumps(population.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )
    return population


@dataclass(frozen=True, eq=False)
class DatasetPopulation:
    """Some rows of a dataset as a `accordant.strategies.population.Population`.

    Attributes
    ----------
    executor
        Who reads the parts.
    folder, stakeholders, actions
        Where E stands, and the names of its axes.
    items
        A part each: its file, and the number that the rows have there, None for all of them.
    rows
        How many rows there are.
    """

    executor: Executor
    folder: Path
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    items: Sequence[Told]
    rows: int

    def best_means(self, weights: Values) -> Values:
        """Return the means of the policy that is best for Σ_i λ_i u_i, shape (stakeholder,)."""
        shares = np.eye(len(self.stakeholders)) / self.rows
        return np.asarray(shares @ self._sums("best_sums", weights=(weights @ shares).tolist()))

    def lowest_means(self) -> Values:
        """Return the mean of everybody's worst action in each context, shape (stakeholder,)."""
        return self._sums("lowest_sums") / self.rows

    def decided_means(self, rule: PopulationRule) -> Values:
        """Return the means of what a fitted rule decides, shape (stakeholder,)."""
        told = {"name": rule.name, "parameters": json_value(rule.parameters)}
        return self._sums("decided_sums", rule=told) / self.rows

    def _sums(self, task: str, **options: Any) -> Values:
        where = {"out": str(self.folder), "stakeholders": list(self.stakeholders), "actions": list(self.actions)}
        arriving = self.executor.run(Task(task, {**where, **options}), self.items)
        with steps("pass over E", len(self.items)) as advance:
            sums = list[list[float]]()
            for told in in_order(arriving):
                sums.append(told["sums"])
                advance()
        return np.array([math.fsum(column) for column in zip(*sums, strict=True)])


def population_options(run: Run, strategy: str | None = None) -> Told:
    """Return the options of the task that writes E.

    Raises
    ------
    InputError
        See `rule_of`.
    """
    return {"strategy": rule_of(run, strategy).label}


@plan_tasks.register("population")
def population_plan() -> PlanTask:
    """Return how the task is planned."""
    return PlanTask(
        population_options,
        "fit a strategy for the whole policy",
        "Fit a strategy for the whole policy on",
        "write E of each part",
    )


def rule_of(run: Run, strategy: str | None) -> PopulationRule | PopulationByGroup:
    """Return a strategy for the whole policy, the selected one if None.

    Raises
    ------
    InputError
        If it is none for the whole policy.
    """
    policy = run.policy
    rule = policy.strategy(strategy or policy.selected_)
    if isinstance(rule, PopulationRule | PopulationByGroup):
        return rule
    usable = [name for name, own in policy.strategies_.items() if isinstance(own, PopulationRule | PopulationByGroup)]
    if not usable:
        raise InputError(f"{run.path} has no strategy for the whole policy; a case lists one: {listed(NAMES, 'or')}")
    whose = "" if strategy else "the selected strategy "
    raise InputError(f"{whose}{rule.label} decides each row by itself; allowed: --strategy {listed(usable, 'or')}")


def load_kernel(run: Run) -> None:
    """Load what prices: workers are forked anew for every pass, and else each would load it."""
    problem = run.policy.problem
    values = np.zeros((len(problem.stakeholder_names), len(problem.actions), 1))
    nothing = ExpectedRewards(values, stakeholders=problem.stakeholder_names, actions=problem.actions)
    best_sums(nothing, np.zeros(len(values)))


def populations_of(
    job: Job, executor: Executor, lines: Sequence[Told], rule: PopulationRule | PopulationByGroup
) -> dict[str | None, DatasetPopulation]:
    """Return all rows under None and, if the rule decides by groups, those of each group under its name."""
    problem, folder, by_group = job.run.policy.problem, job.out.absolute(), isinstance(rule, PopulationByGroup)
    items, rows = dict[str | None, list[Told]]({None: []}), dict[str | None, int]({None: 0})
    for line in lines:
        items[None].append({"output": line["output"], "number": None})
        rows[None] += line["rows"]
    for name in sorted({name for line in lines for name, _ in line["values"]}) if by_group else ():
        items[name], rows[name] = [], 0
        for line in lines:
            for number, (value, count) in enumerate(line["values"]):
                if value == name:
                    items[name].append({"output": line["output"], "number": number})
                    rows[name] += count
    return {
        name: DatasetPopulation(executor, folder, problem.stakeholder_names, problem.actions, items[name], rows[name])
        for name in items
    }


def fitted_on(
    rule: PopulationRule | PopulationByGroup, populations: Mapping[str | None, DatasetPopulation]
) -> tuple[PopulationRule | PopulationByGroup, list[PopulationFit]]:
    """Return the rule with the multipliers of all populations, and what is told of each."""
    inner = rule.inner if isinstance(rule, PopulationByGroup) else rule
    of_run = dict[str | None, PopulationRule]()
    if isinstance(rule, PopulationByGroup):
        of_run |= {
            name: replace(inner, multipliers=tuple(multipliers))
            for name, multipliers in (rule.multipliers or {}).items()
        }
    fits, rules = list[PopulationFit](), dict[str | None, PopulationRule]()
    for name, population in populations.items():
        optimum = inner.solve(population)
        rules[name] = inner.at(optimum)
        fits.append(_fit(name, population, optimum, rules[name], of_run.get(name, inner)))
    together = rules.pop(None)
    if isinstance(rule, PopulationByGroup):
        multipliers = {str(name): group_rule.multipliers or () for name, group_rule in rules.items()}
        return replace(rule, rule=together, multipliers=multipliers), fits
    return together, fits


def _fit(
    name: str | None, population: DatasetPopulation, optimum: Optimum, fitted: PopulationRule, of_run: PopulationRule
) -> PopulationFit:
    columns = (
        fitted.multipliers or (), of_run.multipliers or (), population.decided_means(fitted),
        population.decided_means(of_run), optimum.means,
    )  # fmt: skip
    everybody = zip(population.stakeholders, *(map(float, column) for column in columns), strict=True)
    return PopulationFit(
        group=name, rows=population.rows, value=fitted.value(optimum, population), gap=optimum.gap,
        passes=optimum.passes,
        stakeholders=tuple(
            StakeholderFit(
                stakeholder=who, multiplier=here, multiplier_of_run=there, mean=mean, mean_of_run=mean_there, best=best
            )
            for who, here, there, mean, mean_there, best in everybody
        ),
    )  # fmt: skip


@tasks.register("population")
def population_part(options: Told, item: Told) -> Told:
    """Write E of one part, and return its line."""
    with part_work(options, item, ".npy") as (part, run, output):
        if output.line is None:
            rule, values = run.policy.strategy(options["strategy"]), dict[str, int]()
            height = len(run.policy.problem.stakeholder_names) * len(run.policy.problem.actions) + len(rule.columns)
            rows = write_columns(output.path, height, _tables(run, part, rule.columns, values), [part.file])
            output.told = described(part, rows) | {"values": [list(pair) for pair in values.items()]}
    return output.finished()


def _tables(run: Run, part: Part, columns: Sequence[str], values: dict[str, int]) -> Iterator[Values]:
    """Yield E of batches of rows with group numbers below it, and count the rows of each group in `values`."""
    for contexts in batches_of(run, part, columns):
        expected = run.policy.expected_rewards(contexts)
        table: Values = np.asarray(expected.values, dtype=np.float64).reshape(-1, contexts.n_contexts)
        for name in columns:
            levels, codes = np.unique(contexts[name], return_inverse=True)
            labels = list(map(value_label, levels))
            for label, count in zip(labels, np.bincount(codes, minlength=len(labels)), strict=True):
                values[label] = values.get(label, 0) + int(count)
            known = {label: number for number, label in enumerate(values)}
            numbers = np.array([known[label] for label in labels], dtype=np.float64)[codes]
            table = np.vstack([table, numbers])
        yield table


@tasks.register("best_sums")
def best_sums_part(options: Told, item: Told) -> Told:
    """Return what everybody gets in sum of the actions that are best at some weights."""
    return {"sums": best_sums(_expected(options, item), np.array(options["weights"])).tolist()}


@tasks.register("lowest_sums")
def lowest_sums_part(options: Told, item: Told) -> Told:
    """Return what everybody's worst actions give in sum."""
    return {"sums": _expected(options, item).values.min(axis=1).sum(axis=1).tolist()}


@tasks.register("decided_sums")
def decided_sums_part(options: Told, item: Told) -> Told:
    """Return what everybody gets in sum of what a fitted rule decides; of a draw, the expectation."""
    expected = _expected(options, item)
    rule = strategies.create(options["rule"]["name"], options["rule"]["parameters"])
    sums = []
    for start in range(0, expected.n_contexts, ROWS_AT_ONCE):
        some = expected.take(slice(start, start + ROWS_AT_ONCE))
        sums.append(np.einsum("at,iat->i", rule(some).probabilities(), some.values))
    return {"sums": [math.fsum(column) for column in zip(*sums, strict=True)]}


def _expected(options: Told, item: Told) -> ExpectedRewards:
    """Return E of a part, or of one group in it, as the file holds it."""
    mapped = np.load(Path(options["out"]) / item["output"], mmap_mode="r")
    stakeholders, actions = options["stakeholders"], options["actions"]
    shape = len(stakeholders), len(actions), mapped.shape[1]
    values = mapped[: shape[0] * shape[1]].reshape(shape)
    expected = ExpectedRewards(values, stakeholders=stakeholders, actions=actions)
    return expected if item["number"] is None else expected.take(np.flatnonzero(mapped[-1] == item["number"]))


def population_of(job: Job, folder: Path, strategy: str | None) -> FittedPopulation:
    """Return what was fitted in a folder, for decisions about the same rows by the same run.

    Raises
    ------
    InputError
        If nothing was fitted there, or for another run, another strategy or other parts.
    """
    fitted = read_population(folder)
    if fitted.run_sha256 != job.run.manifest.sha256:
        raise InputError(f"{folder} was fitted for another run than {job.run.path}; allowed: a folder of this run")
    if strategy not in (None, fitted.strategy):
        raise InputError(f"{folder} holds {fitted.strategy}, and --strategy is {strategy}; leave --strategy out")
    parts = dataset_parts(job.dataset, job.part_rows)
    if len(parts) != len(fitted.inputs):
        raise InputError(
            f"{folder} was fitted on {len(fitted.inputs)} parts, and {job.dataset} has {len(parts)}; allowed: the same "
            "dataset with the same --part-rows"
        )
    return fitted


def read_population(folder: Path) -> FittedPopulation:
    """Return what `fit_population` wrote into a folder.

    Raises
    ------
    InputError
        If there is nothing, or something else.
    """
    file = folder / FITTED
    if not file.is_file():
        raise InputError(f"{folder} has no {FITTED}; `accordant population RUN DATASET --out {folder}` writes it")
    try:
        fitted = FittedPopulation.read(read_json(file))
        rule = _created(fitted)
    except (InputError, LookupError, TypeError) as error:
        raise InputError(f"{file} is not what `accordant population` writes: {error}") from None
    if not isinstance(rule, PopulationRule | PopulationByGroup) or not rule.fitted or rule.label != fitted.strategy:
        raise InputError(f"{file} is not what `accordant population` writes: its rule is no {fitted.strategy} with λ")
    return fitted


def with_population(run: Run, part: Part, fingerprint: str, options: Told) -> Run:
    """Return the run with the rule that was fitted in the folder ``options["fitted"]`` in place of its own.

    Parameters
    ----------
    run
        The run.
    part, fingerprint
        What is to be decided, and the hash of its rows.
    options
        Of the task: the folder, and under ``population`` the hash of what was fitted there.

    Raises
    ------
    InputError
        If these are other rows than those that it was fitted on, or the folder holds something else now.
    """
    folder = Path(options["fitted"])
    fitted = _read_as(folder, options["population"])
    if fitted.inputs[part.number] != fingerprint:
        raise InputError(f"{part.name} holds other rows than those that {folder} was fitted on; fit it on these")
    policy, changed = copy(run.policy), copy(run)
    policy.strategies_ = {**policy.strategies_, fitted.strategy: _created(fitted)}
    vars(changed)["policy"] = policy
    return changed


@lru_cache(maxsize=2)
def _read_as(folder: Path, sha256: str) -> FittedPopulation:
    if file_hash(folder / FITTED) != sha256:
        raise InputError(f"{folder} holds another fit than when this work began")
    return read_population(folder)


def _created(fitted: FittedPopulation) -> Any:
    return strategies.create(fitted.rule["name"], fitted.rule["parameters"])
