"""`reason`: why one action was decided, whatever the rule: draws, ties, limits, and what its family compares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from accordant.certificates import Known
from accordant.decisions import Decisions
from accordant.explanation.reasons.comparisons import compared
from accordant.explanation.reasons.contrast import SAME, Contrast
from accordant.explanation.reasons.sentences import Reason
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards


def reason(
    rule: Strategy, expected: ExpectedRewards, decisions: Decisions, at: int, *, runner_up: str = "",
    known: Known | None = None,
) -> Reason:  # fmt: skip
    """Return why an action was decided.

    Parameters
    ----------
    rule
        The rule that decided.
    expected
        E of this context alone.
    decisions
        Of the rule, in one or more contexts.
    at
        Position of the context among the decisions.
    runner_up
        The action with the next best score; empty where there is none.
    known
        What the rule read beside E, in this context alone.
    """
    return _of(Contrast.of(rule, expected, decisions, at, runner_up, known or Known()))


def _of(s: Contrast) -> Reason:
    actions = s.block.actions
    action = actions[s.action]
    if len(actions) == 1:
        return Reason("only_action", action)
    if s.decisions.policy is not None:
        return _drawn(s)
    if s.rule.name in FIXED:
        return FIXED[s.rule.name](s)
    if s.rule.name == "constrained":
        return _constrained(s)
    if s.rule.name == "population_by_group":
        rule: Any = s.rule
        return _of(replace(s, rule=rule.inner))
    if s.scores is None:
        return Reason("rule", action, words={"rule": s.rule.label})
    if s.flagged("no_agreement"):
        return _no_agreement(s)
    return _level(s) if s.decisions.tied[s.at] or s.other == s.action else compared(s)


def _drawn(s: Contrast) -> Reason:
    assert s.decisions.policy is not None
    chances = np.asarray(s.decisions.policy[:, s.at], dtype=np.float64)
    action, own = s.block.actions[s.action], float(chances[s.action])
    if own < chances.max() - SAME:
        return Reason("rule", action, words={"rule": s.rule.label})
    others = np.delete(chances, s.action)
    return Reason("drawn", action, better=own, worse=float(others.max()))


def _level(s: Contrast) -> Reason:
    """Return what decided between actions with the same score: the sum over those with a say, then the order."""
    level = s.level()
    action, others = s.block.actions[s.action], tuple(s.block.actions[a] for a in level)
    if not level:
        return Reason("rule", action, words={"rule": s.rule.label})
    totals, best = s.totals, float(max(s.totals[a] for a in level))
    kind = "level_alone"
    if totals[s.action] > best + SAME:
        kind = "level"
    elif totals[s.action] >= best - SAME and s.action < min(a for a in level if totals[a] >= best - SAME):
        kind = "level_order"
    return Reason(kind, action, words={"others": others}, better=float(totals[s.action]), worse=best)


def _no_agreement(s: Contrast) -> Reason:
    """Return that all fall short, if the decision brings the most together; else what is level."""
    rule: Any = s.rule
    best = float(np.delete(s.totals, s.action).max())
    if s.totals[s.action] < best - SAME:  # an action that leaves somebody below the status quo may bring more
        return _level(s) if s.level() else compared(s)
    own, action = float(s.totals[s.action]), s.block.actions[s.action]
    if s.rule.name == "debate":
        return Reason("never_accepted", action, better=own, worse=best)
    mode = rule.disagreement if isinstance(rule.disagreement, str) else "declared"
    words: dict[str, str | tuple[str, ...]] = {"start": mode, "status_quo": rule.status_quo or ""}
    return Reason("no_agreement", action, words=words, better=own, worse=best)


def _constrained(s: Contrast) -> Reason:
    """Return what limits ruled out, or else why the rule within them chose so."""
    rule: Any = s.rule
    terms, actions = rule.terms, s.block.actions
    inner = terms.rule(
        ExpectedRewards(s.block.values, stakeholders=s.block.stakeholders, actions=actions),
        **s.known.arguments(slice(None)),
    )
    admission = terms.admission(s.block, s.known.contexts)
    admissible = np.asarray(admission.admissible[:, 0])
    action, wanted = actions[s.action], int(inner.codes[0])
    if admission.unmet[0]:
        return Reason("least_unmet", action)
    if admissible.sum() == 1:
        return Reason("only_admitted", action)
    if wanted != s.action and not admissible[wanted]:
        return _ruled_out(s, terms, admission, wanted)
    best = int(np.where(admissible, np.asarray(inner.scores, dtype=np.float64)[:, 0], -np.inf).argmax())
    within = replace(s, rule=terms.rule, decisions=_within(inner, s, admissible), at=0)
    if s.action != best and s.action not in within.level_with(best):
        return Reason("no_room", action, actions[best])
    return _of(replace(within, other=_second(within, admissible)))


def _ruled_out(s: Contrast, terms: Any, admission: Any, wanted: int) -> Reason:
    actions, levels = s.block.actions, np.asarray(admission.levels[:, 0])
    short = levels - s.rewards[:, wanted]
    who = s.names(short > s.block.tolerance)
    forbidden = terms.forbidden(s.block, s.known.contexts)
    how = (("floor",) if who else ()) + (("forbidden",) if forbidden is not None and forbidden[wanted, 0] else ())
    return Reason("ruled_out", actions[s.action], actions[wanted], {"who": who}, how=how)


def _within(inner: Decisions, s: Contrast, admissible: Any) -> Decisions:
    """Return what the rule says of the admissible actions, with the decision that was taken."""
    assert inner.scores is not None
    scores = np.where(admissible[:, None], np.asarray(inner.scores, dtype=np.float64), -np.inf)
    if np.isneginf(scores).all():
        scores[admissible] = 0.0  # none of them has a score: they are level
    codes = np.array([s.action])
    tied = np.array([len(replace(s, decisions=replace(inner, scores=scores), at=0).level()) > 0])
    return replace(inner, codes=codes, scores=scores, tied=tied, policy=None)


def _second(s: Contrast, admissible: Any) -> int:
    assert s.scores is not None
    scores, totals = s.scores.tolist(), s.totals.tolist()
    rest: list[int] = [a for a in np.flatnonzero(admissible).tolist() if a != s.action]
    return max(rest, key=lambda a: (scores[a], totals[a], -a))


def _outcome_only(s: Contrast) -> Reason:
    rule: Any = s.rule
    action, prediction, scores = s.block.actions[s.action], s.known.prediction, s.scores
    if scores is None or prediction is None or s.decisions.tied[s.at]:
        return Reason("rule", action, words={"rule": s.rule.label})
    better, worse = float(scores[s.action]), float(np.delete(scores, s.action).max())
    if prediction.nodes is not None:
        return Reason("highest_level", action, better=better, worse=worse)
    if prediction.depends_on_action:
        return Reason("good_outcome", action, better=better, worse=worse)
    likeliest = int(prediction.weights[s.action, :, 0].argmax())
    if rule.action_of_outcome[likeliest] != s.action:
        return Reason("rule", action, words={"rule": s.rule.label})
    return Reason("likeliest", action, better=better, worse=worse)


FIXED = {
    "constant": lambda s: Reason("constant", s.block.actions[s.action]),
    "logged": lambda s: Reason("logged", s.block.actions[s.action]),
    "oracle": lambda s: Reason("oracle", s.block.actions[s.action]),
    "decided": lambda s: Reason("decided", s.block.actions[s.action]),
    "predictor": lambda s: Reason("predictor", s.block.actions[s.action]),
    "outcome_only": _outcome_only,
}
