"""Carrying out the debate of a run's decision on the run's own E; nothing is learned again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from accordant import __version__
from accordant.agents import Agent, Turn
from accordant.decisions import Decisions
from accordant.deliberation.decision.claims import Claims, row_names
from accordant.deliberation.decision.opened_decision import BARGAIN, OpenedDecision
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.decision.result import (
    DebatedRow,
    DebatedRun,
    DecisionDebate,
    Scarce,
    Standing,
    StrategyDecision,
)
from accordant.deliberation.participants import Cast
from accordant.deliberation.protocols import alternating_offers, debate, vote_after_debate
from accordant.deliberation.record import Deliberation
from accordant.deliberation.section import ballot_rule, named_settlement
from accordant.deliberation.usage import stood_in
from accordant.json_values import json_value
from accordant.naming import listed

RULE = "rule"
FOLLOWED: dict[str, str] = {
    "": "E may not hold for it",
    "referred": "recommend leaves it to a person, and a debate among agents is none",
    "fall_back": "recommend takes the declared fall-back",
}


def debate_decision(opened: OpenedDecision, cast: Cast, watch: Callable[[Turn], None] | None = None) -> DecisionDebate:
    """Debate, and return what was settled beside what strategies of the run decide.

    `opened`, `cast`: what, and who; `watch`: called with every turn as it happens.
    """
    options = opened.options
    held = hold(opened.claims, options, cast.agents, watch)
    settled = _settled(opened, held)
    rows = tuple(debated_row(opened, place, settled[place]) for place in range(len(options.rows)))
    scarce = Scarce.model_validate(options) if options.grant is not None else None
    return DecisionDebate.read({
        "accordant": __version__, "run": header(opened), "source": opened.source, "file": opened.file,
        "seed": options.seed, "options": options, "stakeholders": opened.expected.stakeholders,
        "actions": opened.expected.actions, "with_weight": opened.with_weight, "scarce": scarce, "rows": rows,
        "hash": held.hash, "deliberation": held.to_json(),
        "standings": _standings(opened, settled), "usage": cast.usage(), "warnings": _warnings(opened, cast, rows),
    })  # fmt: skip


def header(opened: OpenedDecision) -> DebatedRun:
    """Return which run it is about."""
    run = opened.run
    return DebatedRun(
        case=run.case.name, title=run.case.title, folder=run.path.resolve().name,
        manifest_sha256=run.manifest.sha256, selected=run.policy.selected_,
        simulated=opened.file is None and run.record.data.simulated,
    )  # fmt: skip


def hold(
    claims: Claims, options: DecisionOptions, agents: Sequence[Agent], watch: Callable[[Turn], None] | None = None
) -> Deliberation:
    """Carry out the protocol.

    Rule agents accept by formula, so the settlement rule decides in any case; where a person or a language model takes
    part, a proposal that all stand by is the decision.
    """
    common: dict[str, Any] = {
        "seed": options.seed, "disagreement": claims.without_agreement(), "allow_adversarial": True, "watch": watch,
        "options": claims.options(),
    }  # fmt: skip
    if options.protocol == "offers":
        return alternating_offers(claims.scenario, agents, **common)
    if options.protocol == "vote":
        return vote_after_debate(claims.scenario, agents, rule=ballot_rule(options.settle), **common)
    return debate(
        claims.scenario, agents, settle=named_settlement(options.settle, BARGAIN),
        agreement_ends=any(agent.kind != RULE for agent in agents), **common,
    )  # fmt: skip


def _settled(opened: OpenedDecision, held: Deliberation) -> list[str]:
    """Return the action of each row."""
    options, granted = opened.options, held.joint.claimants
    if options.grant is None:
        return list(granted)
    assert options.otherwise is not None
    return [options.grant if name in granted else options.otherwise for name in row_names(options.rows)]


def debated_row(opened: OpenedDecision, place: int, settled: str) -> DebatedRow:
    """Return what the run says of one of the rows, by its place among them, and the action that is settled on."""
    row, expected, recommended = opened.options.rows[place], opened.expected, opened.recommended
    referred = bool(recommended.referred[row])
    fall_back = recommended.fall_back is not None and bool(recommended.fall_back[row])
    unusual = "" if recommended.unusual is None else str(recommended.unusual.remarks[row])
    features = opened.run.policy.features_
    return DebatedRow(
        row=row,
        context={name: json_value(opened.contexts[name][place]) for name in features},
        expected={
            who: {what: float(expected.values[i, a, place]) for a, what in enumerate(expected.actions)}
            for i, who in enumerate(expected.stakeholders)
        },
        settled=settled,
        recommended=str(recommended.decisions.actions[row]) or None,
        unusual=unusual,
        handling="referred" if referred else "fall_back" if fall_back else "",
        decisions={label: _decision(decisions, row) for label, decisions in opened.decisions.items()},
    )  # fmt: skip


def _decision(decisions: Decisions, row: int) -> StrategyDecision:
    names, screened = decisions.action_names, "floor_unmet" in decisions.flags and decisions.scores is not None
    barred = (
        np.isneginf(decisions.scores[:, row])
        if screened and decisions.scores is not None
        else np.zeros(len(names), bool)
    )
    return StrategyDecision(
        action=names[int(decisions.codes[row])],
        tied=bool(decisions.tied[row]),
        chances=None
        if decisions.policy is None
        else dict(zip(names, map(float, decisions.policy[:, row]), strict=True)),
        flags=tuple(name for name, flag in decisions.flags.items() if flag[row]),
        inadmissible=tuple(name for name, out in zip(names, barred, strict=True) if out),
    )


def _standings(opened: OpenedDecision, settled: Sequence[str]) -> dict[str, Standing]:
    """Return what each stakeholder gets; where a person decides, D* is what its rule would have chosen."""
    expected, rows = opened.expected, np.array(opened.options.rows)
    codes = np.array([expected.actions.index(action) for action in settled])
    decisions = opened.recommended.decisions
    chances = decisions.probabilities()[:, rows].T
    certain = np.eye(len(expected.actions))[decisions.codes[rows]]
    chances = np.where(np.isnan(chances), certain, chances)
    return {
        who: Standing(
            settled=float(values[codes, np.arange(len(rows))].mean()),
            selected=float((values.T * chances).sum(axis=1).mean()),
            best=float(values.max(axis=0).mean()),
            worst=float(values.min(axis=0).mean()),
        )
        for who, values in zip(expected.stakeholders, expected.values, strict=True)
    }


def _warnings(opened: OpenedDecision, cast: Cast, rows: Sequence[DebatedRow]) -> tuple[str, ...]:
    """Return what a reader must see, the worst first."""
    selected, warnings = opened.run.policy.selected_, stood_in(cast.usage())
    for row in rows:
        barred = row.decisions[selected].inadmissible
        where = f"row {row.row}"
        if row.settled in barred:
            warnings.append(f"{where}: constraints of D* do not admit {row.settled}, which was settled on")
        elif barred:
            warnings.append(f"{where}: constraints of D* do not admit {listed(barred)}; agents do not know of them")
        warnings += unusual_words(row)
    silent = [name for name in opened.expected.stakeholders if name not in opened.with_weight]
    if silent and not opened.options.agents:
        warnings.append(f"{listed(silent)}: weight 0 in the run, so nobody speaks for them")
    if opened.options.grant is not None:
        taken = sum(row.recommended == opened.options.grant for row in rows)
        if taken != opened.options.capacity:
            warnings.append(
                f"D* knows nothing of the capacity of {opened.options.capacity}: it decides for {opened.options.grant} "
                f"in {taken} of {len(rows)} rows"
            )
        forced = [row.row for row in rows if row.settled == opened.options.grant and _nobody_gains(opened, row)]
        warnings += [
            f"row {number}: no stakeholder gains from {opened.options.grant}; all units are given" for number in forced
        ]
    return tuple(warnings)


def unusual_words(row: DebatedRow) -> list[str]:
    """Return in what a row is unlike the training rows and what follows, or nothing."""
    if not row.unusual:
        return []
    return [f"row {row.row} is unlike the training rows: {row.unusual}; {FOLLOWED[row.handling]}"]


def _nobody_gains(opened: OpenedDecision, row: DebatedRow) -> bool:
    grant, otherwise = str(opened.options.grant), str(opened.options.otherwise)
    return all(rewards[grant] <= rewards[otherwise] for rewards in row.expected.values())
