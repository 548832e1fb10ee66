"""Slates of offers: the actions of a decision case become items, and its own models say what each is worth to whom."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from accordant.arrays import Mask, Values
from accordant.cases.loaders import CaseData
from accordant.cases.spec import CaseSpec
from accordant.contexts import Log
from accordant.errors import InputError, UnknownNameError, allowed_names
from accordant.fitted_policy import FittedPolicy
from accordant.runs.execution import RunOptions, build_policy, case_data, split, subset
from accordant.runs.folder import Run
from accordant.runs.reward_sources import located_signals
from accordant.runs.stakeholder_groups import naming_groups, with_groups
from accordant.runs.untouched_rows import untouched_rows
from accordant.slates.case import SlateSpec
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.market import Expected, ExpectedUptake, Market
from accordant.slates.slates import State
from accordant.slates.sources import MarketSource, service_days, with_capacities
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)

PARAMETERS = ("requests", "per_day", "batch", "learn_from")
BATCH = 25  # rows that are served at once: what they take is known to the next [ours]
REQUESTS = 1000  # untouched rows that are served: enough for intervals of about three points [ours]
LEARN_FROM = 5000  # training rows: E of a demonstration needs no more, and fitting takes seconds, not minutes [ours]


@dataclass(frozen=True, eq=False)
class LearnedExpectations:
    """E of requests that were known beforehand: position in E by the id of the request."""

    expected: ExpectedRewards
    position: dict[str, int]

    def __call__(self, requests: Requests, state: State) -> ExpectedRewards:
        """Return E of a batch; it does not depend on what happened so far."""
        del state
        return self.expected.take(np.array([self.position[request] for request in requests.ids], dtype=np.intp))


def market_of_run(run: Run, declared: SlateSpec, data: str | None) -> MarketSource:
    """Return a market in which untouched rows of a finished run are offered lists of its actions, by its own models.

    Parameters of the section ``slates``: see `market_of_offers`; ``learn_from`` has no effect, for nothing is learned.

    Raises
    ------
    InputError
        If a parameter, a party, the user or an item does not exist, or the run's data cannot be used.
    """
    with naming_groups(run.record.stakeholder_groups):
        _check_names(run.case, declared)
    rows = untouched_rows(run, data)
    catalogue = _catalogue(run.case, declared, _taken(run.case, rows.training))
    return _market(run.case, declared, run.policy, catalogue, rows.data, "the rows of the run")


def market_of_offers(
    case: CaseSpec, declared: SlateSpec, seed: int, data: str | None, beside: Path | None
) -> MarketSource:
    """Return a market in which untouched rows of a decision case are offered lists of its actions.

    The case's models are fitted on training rows. What was really done is the target. Parameters of the section
    ``slates``: ``requests`` (rows served), ``per_day`` (rows of one day), ``batch`` (rows served at once),
    ``learn_from`` (training rows). Raises `InputError` if a parameter, a party, the user or an item does not exist, or
    the data cannot be used.
    """
    split_case = with_groups(case, beside, data, {})
    case = split_case.case
    with naming_groups(split_case.parts):
        _check_names(case, declared)
    options = RunOptions(seed=seed, data=data)
    signals = located_signals(case, beside, data)
    loaded = case_data(case, beside, options, signals)
    train, test = split(loaded, case.evaluation.test_size, seed)
    learned = subset(train, RunOptions(seed=seed, rows=min(_sizes(declared)["learn_from"], len(train.log))))
    catalogue = _catalogue(case, declared, _taken(case, train))
    policy = build_policy(case.replace(strategies=()), options)
    logger.info("%s: learning from %d rows", loaded.source, len(learned.log))
    policy.fit_log(learned.log, signals)
    market = _market(case, declared, policy, catalogue, test, f"{len(learned.log)} rows")
    return replace(market, notes=(*market.notes, *(words for part in split_case.parts for words in part.sentences)))


def _check_names(case: CaseSpec, declared: SlateSpec) -> None:
    """Refuse parties and a user that are no stakeholders of the case, and parameters that do not exist."""
    _sizes(declared)
    for name in declared.parties:
        if name not in case.problem.stakeholder_names:
            raise UnknownNameError("party", name, case.problem.stakeholder_names)
    if declared.user is not None and declared.user not in case.problem.stakeholder_names:
        raise UnknownNameError("user", declared.user, case.problem.stakeholder_names)


def _market(
    case: CaseSpec, declared: SlateSpec, policy: FittedPolicy, catalogue: Catalogue, test: CaseData, learned_from: str
) -> MarketSource:
    """Return the market of untouched rows under a fitted policy."""
    sizes = _sizes(declared)
    served = test.take(np.arange(min(sizes["requests"], len(test.log))))
    expected = policy.expected_rewards(served.log.contexts)
    relevance = _relevance(expected, declared.user)
    batches = _batches(served.log, catalogue.n_items, relevance, sizes["per_day"], sizes["batch"], case.data.group)
    ids = [request for batch in batches for request in batch.ids]
    learned = LearnedExpectations(expected, {request: t for t, request in enumerate(ids)})
    market = _offered(case, declared, catalogue, learned, batches)
    notes = (
        f"What an item is worth to whom comes from the case's own models; they learned from {learned_from}.",
        f"{len(served.log)} untouched rows are served.",
        "The target of a row is what was really done: it says nothing of what would have been better.",
    )
    label = f"SIMULATED: {test.source}" if test.simulated else f"{test.source} (sha256 {test.sha256[:12]})"
    described = {
        stakeholder.name: {"role": stakeholder.role, "description": stakeholder.description}
        for stakeholder in case.problem.stakeholders
    }
    sha256 = None if test.simulated else test.sha256
    return MarketSource(market, label, sha256, test.simulated, notes, described=described)


def _offered(
    case: CaseSpec, declared: SlateSpec, catalogue: Catalogue, expected: Expected, batches: Sequence[Requests]
) -> Market:
    """Return the market in which requests are offered lists of a case's actions."""
    weights = {stakeholder.name: stakeholder.weight for stakeholder in case.problem.stakeholders}
    return Market(
        catalogue,
        case.problem.stakeholder_names,
        expected,
        batches,
        weights | {name: party.weight for name, party in declared.parties.items() if party.weight is not None},
        {name: party.floor for name, party in declared.parties.items() if party.floor is not None},
        ExpectedUptake(declared.visits),
        declared.user,
        close_when_full=declared.close_when_full,
        staleness=declared.staleness,
    )


def market_of_rows(case: CaseSpec, declared: SlateSpec, expected: ExpectedRewards) -> Market:
    """Return a market in which rows whose E is known come at once, before whom nothing was shown.

    Parameters
    ----------
    case, declared
        The decision case, and what is declared of lists.
    expected
        E, shape (stakeholder, action, row), of at least one row.

    Raises
    ------
    InputError
        If a parameter, a party, the user or an item does not exist.
    """
    _check_names(case, declared)
    n_items, n_rows = len(case.problem.actions), expected.values.shape[2]
    names = tuple(f"row {t + 1}" for t in range(n_rows))
    asked = _requests(names, names, 0, _relevance(expected, declared.user), None)
    known = LearnedExpectations(expected, {name: t for t, name in enumerate(names)})
    return _offered(case, declared, _catalogue(case, declared, np.zeros(n_items)), known, [asked])


def _requests(
    names: tuple[str, ...], users: tuple[str, ...], day: int, relevance: Values, targets: Mask | None
) -> Requests:
    """Return requests from nowhere, by users without a past, who may be shown everything."""
    nowhere = np.full(len(names), np.nan)
    return Requests(
        names, users, day, nowhere, nowhere, relevance, np.zeros(relevance.shape),
        np.ones(relevance.shape, dtype=bool), targets,
    )  # fmt: skip


def _sizes(declared: SlateSpec) -> dict[str, int]:
    """Return the parameters that say how many rows are used."""
    sizes = {"requests": REQUESTS, "per_day": REQUESTS, "batch": BATCH, "learn_from": LEARN_FROM}
    for key, value in declared.parameters.items():
        if key not in PARAMETERS:
            raise InputError(f"slates: unknown parameter {key!r}; {allowed_names(PARAMETERS, key)}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"slates: {key} is {value!r}; allowed: a whole number of at least 1")
        sizes[key] = value
    return sizes


def _catalogue(case: CaseSpec, declared: SlateSpec, taken: Values) -> Catalogue:
    """Return the actions as items: without categories, providers, positions or prices, which nobody declared.

    How often each was taken, shape (item,), is its popularity.
    """
    n_items = len(case.problem.actions)
    unknown = (None,) * n_items
    missing = [np.full(n_items, np.nan) for _ in range(4)]
    every = Catalogue(tuple(case.problem.actions), unknown, unknown, taken, np.full(n_items, np.inf), *missing)
    return with_capacities(every, declared.capacity)


def _taken(case: CaseSpec, train: CaseData) -> Values:
    """Return how often each action was taken in training rows, shape (action,)."""
    return np.bincount(train.log.actions, minlength=len(case.problem.actions)).astype(np.float64)


def _relevance(expected: ExpectedRewards, user: str | None) -> Values:
    """Return the expected reward of the user, shape (item, request); of everybody's mean if nobody is the user."""
    relevance = expected.values.mean(axis=0) if user is None else expected.of(user)
    return np.asarray(relevance, dtype=np.float64)


def _batches(
    served: Log, n_items: int, relevance: Values, per_day: int, at_once: int, group: str | None
) -> Sequence[Requests]:
    """Return the rows day by day, some at once; each row is a user, unless rows come in groups."""
    done, batches = served.actions, []
    for day, rows in service_days(len(done), per_day, at_once):
        names = tuple(f"row {t + 1}" for t in range(rows.start, rows.stop))
        users = names if served.groups is None else tuple(f"{group} {code + 1}" for code in served.groups[rows])
        batches.append(_requests(names, users, day, relevance[:, rows], done[rows] == np.arange(n_items)[:, None]))
    return tuple(batches)
