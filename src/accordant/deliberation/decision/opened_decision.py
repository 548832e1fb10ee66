"""What is found in a run before a decision is debated: rows, E, decisions of strategies, and who debates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from accordant import limits
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.deliberation.decision.claims import Claims
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.participants import NO_CORPUS, Cast, cast_of, spoken_by
from accordant.deliberation.section import check_ending, named_settlement
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.recommendation import Recommendations
from accordant.runs.chain import check_addable
from accordant.runs.folder import Run
from accordant.runs.opened_run import open_run
from accordant.runs.pages import check_page
from accordant.runs.untouched_rows import contexts_of, inputs_of
from accordant.tables.output import is_run
from accordant.terminal import check_out
from accordant.utilities import ExpectedRewards

BARGAIN = Named("bargain", {})
FIXTURE = "fixture"


def run_of(
    case: str, file: str | None, options: DecisionOptions, out: Path | None, *, kept: Sequence[str | Path | None] = (),
    run_seed: int | None, add: bool, json: bool,
) -> tuple[Run, DecisionOptions]:  # fmt: skip
    """Return the run, and the options with where its data are; refuse first what cannot be written.

    Parameters
    ----------
    case
        A run folder, or a case whose run is made first, with `run_seed`.
    file, options, out
        Rows, what was asked for, and where the page goes.
    kept
        Recordings that must not be written over.
    add, json
        Whether a section is added, and whether only JSON is printed.
    """
    check_out(out, (case, file, options.data, *kept), json=json, check=check_page)
    if add and is_run(case):
        check_addable(Path(case))
    source = open_run(case, seed=run_seed, data=options.data)
    options = replace(options, data=source.data_for(file))
    check_out(out, (*inputs_of(source.run, file, options.data), *kept), json=json, check=check_page)
    return source.run, options


@dataclass(frozen=True, eq=False)
class OpenedDecision:
    """A debate of a run's decision that is about to begin.

    Attributes
    ----------
    run, options
        As given; with the other action filled in where there are two.
    source, file
        Where the rows come from, in words, and the name of their file.
    expected, contexts
        E and contexts on the rows that are debated.
    batch, recommended
        All contexts of the file or the run, and recommendations for them.
    decisions
        Strategy to its decisions on these rows, D* first; those that need the whole file have seen it.
    with_weight
        Stakeholders with positive weight.
    claims
        What is debated.
    """

    run: Run
    options: DecisionOptions
    source: str
    file: str | None
    expected: ExpectedRewards
    contexts: Contexts
    batch: Contexts
    recommended: Recommendations
    decisions: dict[str, Decisions]
    with_weight: tuple[str, ...]
    claims: Claims


def open_decision(run: Run, source: str | Path | IO[str] | None, options: DecisionOptions) -> OpenedDecision:
    """Find rows, E and decisions of a run.

    Parameters
    ----------
    run
        From `accordant.runs.read_run`.
    source
        A CSV file with new rows, or an open text stream; None for the untouched rows of the run.
    options
        Which rows, and how they are debated.

    Raises
    ------
    InputError
        If the rows cannot be read, one does not exist, or actions and capacity do not fit.
    """
    policy, problem = run.policy, run.case.problem
    options = _complete(options, problem.actions)
    contexts, origin = contexts_of(run, source, options.data)
    for row in options.rows:
        if row >= contexts.n_contexts:
            raise InputError(f"row {row} is to be debated; allowed: 0 to {contexts.n_contexts - 1}")
    rows = np.array(options.rows, dtype=np.intp)
    expected = policy.expected_rewards(contexts)
    prediction = policy.outcome_model_.predict(contexts)
    labels = [label for label, rule in policy.strategies_.items() if rule.candidate]
    decisions = {
        label: policy.strategies_[label](expected, prediction=prediction, contexts=contexts)
        for label in sorted(labels, key=lambda label: label != policy.selected_)
    }
    with_weight = tuple(
        name for name, weight in zip(problem.stakeholder_names, problem.weights, strict=True) if weight > 0
    )
    debated = expected.take(rows)
    if options.grant is None or options.otherwise is None or options.capacity is None:
        claims = Claims.of_actions(debated, with_weight)
    else:
        claims = Claims.of_rows(debated, options.rows, options.grant, options.otherwise, options.capacity, with_weight)
    place, file = (run.path, None) if source is None else (source, _named(source))
    return OpenedDecision(
        run, options, origin.replace(str(place), file or "the run"), file, debated, contexts.take(rows),
        contexts, policy.recommend(contexts), decisions, with_weight, claims,
    )  # fmt: skip


def _named(source: str | Path | IO[str]) -> str:
    """Return the name of a file, or the one of standard input."""
    return Path(source).name if isinstance(source, str | Path) else "-"


def _complete(options: DecisionOptions, actions: Sequence[str]) -> DecisionOptions:
    """Return options that go together, with the other action where there are two."""
    if options.grant is None:
        idle = [name for name in ("otherwise", "capacity") if getattr(options, name) is not None]
        if idle or len(options.rows) > 1:
            given = f"--{idle[0]}" if idle else f"--rows with {len(options.rows)} rows"
            raise InputError(f"{given} needs --grant, the action that the rows compete for; one row alone is --row")
        return options
    others = [name for name in actions if name != options.grant]
    if options.grant not in actions:
        raise UnknownNameError("action of --grant", options.grant, actions)
    if options.otherwise is None and len(others) > 1:
        raise InputError(f"--otherwise is missing: the action without the grant; allowed: {', '.join(others)}")
    otherwise = options.otherwise or others[0]
    if otherwise not in others:
        raise UnknownNameError("action of --otherwise", otherwise, others)
    most = len(options.rows) - 1
    if most < 1:
        raise InputError(f"--rows names {len(options.rows)} row; allowed with --grant: 2 or more, which compete for it")
    if options.capacity is None or not 1 <= options.capacity <= most:
        given = "missing" if options.capacity is None else str(options.capacity)
        raise InputError(f"--capacity is {given}; allowed for {most + 1} rows: 1 to {most}")
    limits.CLAIMANTS.check(len(options.rows), "--rows")
    return replace(options, otherwise=otherwise)


def cast_for(opened: OpenedDecision) -> Cast:
    """Return who debates: the stakeholders with positive weight, or those who are named.

    Raises
    ------
    UnknownNameError
        If an agent does not exist.
    InputError
        If there are fewer than two, one reads facts of patients, or options do not go together.
    """
    options, names = opened.options, opened.run.case.problem.stakeholder_names
    named = options.agents or tuple(Named(who, {}) for who in opened.with_weight)
    if len(named) < 2:
        raise InputError(f"{named[0].name!r} has nobody to debate with; allowed: at least 2 agents")
    limits.AGENTS.check(len(named), "the debate")
    rules = cast_of(named, corpus=NO_CORPUS, allow_adversarial=True, stakeholders=names)
    for agent in rules.agents:
        if agent.kind == FIXTURE:
            raise InputError(f"agent {agent.name!r} is a fixture for patients; allowed: {', '.join(names)}")
        for fact in agent.facts or ():
            if fact not in names:
                raise InputError(
                    f"agent {agent.name!r} reads {fact!r} of patients, and here stand expected rewards alone; allowed: "
                    f"{', '.join(names)}, and agents that read no facts, such as egalitarian"
                )
    check_ending(options.protocol, options.settle, lambda: named_settlement(options.settle, BARGAIN), rules.agents)
    return rules if options.model is None else spoken_by(options.model, named, rules)
