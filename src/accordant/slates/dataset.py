"""Lists for the rows of a dataset, part by part: each row is a request of its own, before which nothing was shown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from accordant.arrays import AnyArray, Mask, Values
from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.naming import Named, read_names
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks
from accordant.runs.folder import Run
from accordant.runs.row_batches import read_batches
from accordant.slates.candidates import Gains, gains_of
from accordant.slates.case import SlateSpec, slates_of
from accordant.slates.market import Market
from accordant.slates.offers import market_of_rows
from accordant.slates.rule import ALL, InOrder, SlateRule, rules_of
from accordant.slates.rules.baselines import RandomSlate
from accordant.slates.rules.floors import Floored
from accordant.slates.slates import NOTHING, Slates, State
from accordant.tables.arrow import arrow_output
from accordant.tables.datasets import Part
from accordant.unusual import Unusual, UnusualCounts

FLAGS = ("floor_unmet", "floor_impossible", "changed")
AT_ONCE = 16_384  # rows whose lists are made together: what rules hold of each is far more than its E


@dataclass(frozen=True)
class Attained:
    """What a stakeholder gets of lists.

    Attributes
    ----------
    stakeholder
        Name.
    utility
        Mean over lists of the mean expected reward of their items, in [0, 1].
    attained
        Mean of where that lies between the worst list of a row (0) and the best (1); NaN if it is the same everywhere.
    """

    stakeholder: str
    utility: float
    attained: float


@dataclass(frozen=True)
class DatasetSlates:
    """The lists of a dataset.

    Attributes
    ----------
    rule
        Label of the rule.
    k
        Places in a list.
    rows
        How many lists there are.
    flags
        How many lists a floor changed, and how many are below one; see `accordant.slates.slates.Slates`.
    stakeholders
        What each gets.
    unusual
        How many rows are unlike the training rows, and for how many the case declares that a person decides, or an
        action: their lists are as those of others.
    """

    rule: str
    k: int
    rows: int
    flags: Mapping[str, int]
    stakeholders: tuple[Attained, ...]
    unusual: UnusualCounts

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        values: dict[str, Any] = json_value(dataclasses.asdict(self))
        return values


def slate_dataset(
    job: Job, named: Sequence[Named] = (), *, k: int | None = None, floors: bool = True, row_id: str | None = None
) -> DatasetSlates:
    """Write a list of the run's actions for every row of a dataset, a Parquet file for each part.

    Its columns are ``row``, ``item[1]`` to ``item[k]`` (empty where there are fewer items), ``tied``, ``unusual`` (in
    words), ``referred`` and ``fall_back`` (whether the case declares for such a row that a person decides, or an
    action), the flags of floors, and for each stakeholder ``utility[…]`` and ``attained[…]``, see `Attained`. Each list
    is the one that `accordant.slates.market.serve` shows first for the row: what other rows were shown does not count.

    Parameters
    ----------
    job
        Run, dataset and where.
    named
        The rule; empty for the one that the case names.
    k
        Places in a list; None for the case's.
    floors
        Whether lists are repaired until the case's hard floors hold.
    row_id
        Column with what rows are called; None for their numbers in their file.

    Raises
    ------
    InputError, AccordantError
        See `Job.carry_out`; and if there is not one rule, or its lists depend on what was shown before.
    """
    rule, options = _rule_and_options(job.run, named, k, floors, row_id)
    lines = job.carry_out("slate", "making lists", options)
    stakeholders = job.run.case.problem.stakeholder_names
    return DatasetSlates(
        rule.label, options["k"], sum(line["rows"] for line in lines),
        {name: sum(line["flags"][name] for line in lines) for name in FLAGS},
        tuple(_attained(name, [line["sums"][name] for line in lines]) for name in stakeholders),
        reduce(add, (UnusualCounts(**line["unusual"]) for line in lines), UnusualCounts()),
    )  # fmt: skip


def slate_options(run: Run, strategy: str | None = None) -> Told:
    """Return the options of the task, for a rule written as after ``--strategies``; None for the case's.

    Raises
    ------
    InputError
        See `slate_dataset`.
    """
    return _rule_and_options(run, () if strategy is None else read_names(strategy, "--strategy"))[1]


@plan_tasks.register("slate")
def slate_plan() -> PlanTask:
    """Return how the task is planned."""
    return PlanTask(
        slate_options, "make lists", "Make lists for", "make lists for each part",
        label=lambda run, options: _created(Named(**options["rule"]), run).label,
    )  # fmt: skip


@tasks.register("slate")
def slate_part(options: Told, item: Told) -> Told:
    """Write the lists of one part, and return its line."""
    with part_work(options, item, ".parquet") as (part, run, output):
        if output.line is None:
            sums, flags, counts = list[Values](), dict.fromkeys(FLAGS, 0), UnusualCounts()
            with arrow_output(output.path, [part.file]) as write:
                for listed in _lists(run, part, options):
                    columns = listed.columns()
                    write(columns)
                    sums.append(listed.sums())
                    flags = {name: flags[name] + int(columns[name].sum()) for name in FLAGS}
                    counts += UnusualCounts.of(*listed.handling)
            told = {"flags": flags, "sums": _by_stakeholder(run, sums), "unusual": counts.to_json()}
            output.told = described(part, counts.rows) | told
    return output.finished()


@dataclass(frozen=True, eq=False)
class _Listed:
    """Some rows with their lists.

    `handling` is what is unusual about the rows, and of which the case says that a person decides, or an action.
    """

    names: AnyArray
    slates: Slates
    gains: Gains
    stakeholders: tuple[str, ...]
    handling: tuple[Unusual, Mask, Mask]

    def columns(self) -> dict[str, AnyArray]:
        """Return what is written of the rows, by column."""
        slates, (unusual, referred, fall_back) = self.slates, self.handling
        items = np.array([*slates.item_names, ""], dtype=str)
        shown = items[np.where(slates.items == NOTHING, len(slates.item_names), slates.items)]
        nobody = np.zeros(slates.n_users, dtype=bool)
        return {
            "row": self.names,
            **{f"item[{place + 1}]": shown[:, place] for place in range(slates.k)},
            "tied": slates.tied,
            "unusual": unusual.remarks, "referred": referred, "fall_back": fall_back,
            **{name: slates.flags.get(name, nobody) for name in FLAGS},
            **{f"utility[{name}]": self.gains.utilities[i] for i, name in enumerate(self.stakeholders)},
            **{f"attained[{name}]": self.gains.attained[i] for i, name in enumerate(self.stakeholders)},
        }  # fmt: skip

    def sums(self) -> Values:
        """Return sums over rows of utility and of what is attained, and how many have each, shape (4, stakeholder)."""
        gains = [self.gains.utilities, self.gains.attained]
        there = [(~np.isnan(gain)).sum(axis=1) for gain in gains]
        return np.array([*(np.nansum(gain, axis=1) for gain in gains), *there])


def _lists(run: Run, part: Part, options: Told) -> Iterator[_Listed]:
    """Yield the rows of a part with their lists, some at once."""
    declared, stakeholders = slates_of(run.case).slates, run.case.problem.stakeholder_names
    rule = _created(Named(**options["rule"]), run)
    first = part.start
    columns = {*run.policy.features_, *run.policy.types_}
    for contexts, known in read_batches(run, part, at_once=False, columns=columns, row_id=options["id"]):
        names = np.arange(first, first + contexts.n_contexts) if known is None else known
        first += contexts.n_contexts
        for start in range(0, contexts.n_contexts, AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, contexts.n_contexts))
            some = contexts.take(rows)
            market = market_of_rows(run.case, declared, run.policy.expected_rewards(some))
            (asked,), begin = market.batches, _begin(market, options["k"])
            candidates = market.candidates(asked, begin)
            slates = rule(candidates, options["k"], state=begin, threads=1)
            gains, handling = gains_of(slates, candidates), run.policy.handling_of(some)
            yield _Listed(names[rows], slates, gains, stakeholders, handling)


def _begin(market: Market, k: int) -> State:
    return State.start(market.catalogue.n_items, len(market.stakeholders), k)


def _rule_and_options(
    run: Run, named: Sequence[Named], k: int | None = None, floors: bool = True, row_id: str | None = None
) -> tuple[SlateRule, Told]:
    """Return the rule, and what all parts have in common."""
    declared = slates_of(run.case).slates
    rule = _rule(run, declared, named, floors)
    asked = dataclasses.asdict(Named(rule.name, dict(rule.parameters)))
    return rule, json_value({"rule": asked, "k": k or declared.k, "id": row_id})


def _rule(run: Run, declared: SlateSpec, named: Sequence[Named], floors: bool) -> SlateRule:
    """Return the one rule, under the floors of the case."""
    given = tuple(named) or tuple(Named(named_rule.name, dict(named_rule.parameters)) for named_rule in declared.rules)
    if len(given) != 1 or given[0].name == ALL:
        said = "no rule" if not given else ", ".join(named_rule.name for named_rule in given)
        raise InputError(f"lists of a dataset are those of one rule, found {said}; name one")
    rule = _created(given[0], run)
    inner = rule.inner if isinstance(rule, Floored) else rule
    if isinstance(inner, InOrder | RandomSlate) or declared.close_when_full:
        reason = "the case closes items that are full" if declared.close_when_full else f"{inner.label} is such a rule"
        raise InputError(
            f"lists that depend on what was shown before cannot be made part by part, and {reason}; allowed: another "
            "rule, or a market without a DATASET, see --staleness"
        )
    wanted = {name: party.floor for name, party in declared.parties.items() if party.floor is not None}
    return Floored(rule=rule, floors=wanted) if floors and wanted and rule.kind != "baseline" else rule


def _created(named: Named, run: Run) -> SlateRule:
    problem, declared = run.case.problem, slates_of(run.case).slates
    (rule,) = rules_of([named], problem.stakeholder_names, declared.user, len(problem.actions))
    return rule


def _by_stakeholder(run: Run, sums: Sequence[Values]) -> dict[str, list[float]]:
    """Return the sums of a part for each stakeholder."""
    names = run.case.problem.stakeholder_names
    total = np.sum(sums, axis=0) if sums else np.zeros((4, len(names)))
    return {name: total[:, i].tolist() for i, name in enumerate(names)}


def _attained(stakeholder: str, sums: Sequence[Sequence[float]]) -> Attained:
    """Return the means over all parts."""
    utility, attained, lists, spans = (math.fsum(part[i] for part in sums) for i in range(4))
    return Attained(stakeholder, utility / lists if lists else math.nan, attained / spans if spans else math.nan)
