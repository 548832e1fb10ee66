"""Cells for what is known of contexts and what was decided there: E, decisions, recommendations, certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accordant.certificates import Certificate, Survey
from accordant.decisions import Decisions
from accordant.explanation import Explanation
from accordant.explanation.sentences import HEADINGS
from accordant.faces import representations
from accordant.naming import counted, listed
from accordant.recommendation import Recommendations
from accordant.report.labels import readable, renamed, shortened
from accordant.report.notebook.snippet import (
    MOST_COLUMNS,
    MOST_ROWS,
    Mark,
    Rows,
    Shown,
    Table,
    cut,
    figure,
    left_out,
    snippet,
)
from accordant.report.scale import Cell, count, number, percent
from accordant.utilities import ExpectedRewards

FEW_CELLS = 12  # stakeholders × actions up to which contexts are shown one by one
RADII = (0.01, 0.05, 0.1)


@representations.register("ExpectedRewards")
def expected_rewards(expected: ExpectedRewards) -> str:
    """Return E: of one context as it is, of many the mean and the lowest and highest value, and the first contexts."""
    who, what, n = expected.stakeholders, expected.actions, expected.n_contexts
    size = f"{counted(len(who), 'stakeholder')} × {counted(len(what), 'action')} × {count(n)} context{'s' * (n != 1)}"
    title = f"Expected rewards: {size}"
    if n == 0:
        return snippet(Shown(title))
    tables = [_by_stakeholder(expected)]
    if n > 1 and len(who) * len(what) <= FEW_CELLS:
        tables.append(_first_contexts(expected))
    lead = "Bold: the best action of each stakeholder" + ("." if n == 1 else ", by its mean over contexts.")
    return snippet(Shown(title, (lead,), tuple(tables)))


def _by_stakeholder(expected: ExpectedRewards) -> Table:
    values = expected.values[:MOST_ROWS, :MOST_COLUMNS]
    means, lows, highs = values.mean(axis=2), values.min(axis=2), values.max(axis=2)
    best = expected.values[:MOST_ROWS].mean(axis=2).max(axis=1)
    rows, many = [], expected.n_contexts > 1
    for i, name in enumerate(expected.stakeholders[:MOST_ROWS]):
        cells: list[str | Mark | Cell] = [shortened(name)]
        for a in range(values.shape[1]):
            spread = f"{number(float(lows[i, a]))} to {number(float(highs[i, a]))}" if many else ""
            cells.append(figure(float(means[i, a]), chosen=bool(means[i, a] == best[i]), detail=spread))
        rows.append(tuple(cells))
    more = left_out(
        ("stakeholders", MOST_ROWS, len(expected.stakeholders)), ("actions", MOST_COLUMNS, len(expected.actions))
    )
    caption = "Mean over contexts; below it the lowest and the highest value" if many else ""
    return Table(("Stakeholder", *cut(expected.actions, MOST_COLUMNS)), tuple(rows), caption, more)


def _first_contexts(expected: ExpectedRewards) -> Table:
    n = min(MOST_ROWS, expected.n_contexts)
    head = [f"{who}: {what}" for who in cut(expected.stakeholders) for what in cut(expected.actions)]
    rows: Rows = tuple(
        (str(t), *(figure(float(value)) for value in expected.values[:, :, t].ravel())) for t in range(n)
    )
    return Table(("Context", *head), rows, "The first contexts", left_out(("contexts", n, expected.n_contexts)))


@representations.register("Decisions")
def decisions(decisions: Decisions) -> str:
    """Return which action is taken how often, and the first decisions."""
    n = decisions.n_contexts
    title = f"{readable(shortened(decisions.strategy))}: {counted(n, 'decision')}"
    if n == 0:
        return snippet(Shown(title))
    shares = decisions.share()
    order = np.argsort(-shares, kind="stable")[:MOST_ROWS]
    taken = tuple((shortened(decisions.action_names[a]), Mark(percent(float(shares[a])), number=True)) for a in order)
    share = Table(
        ("Action", "Share of contexts"), taken, "", left_out(("actions", len(taken), len(decisions.action_names)))
    )  # fmt: skip
    lead = [f"Another action had the same score in {percent(float(decisions.tied.mean()))} of contexts."]
    if decisions.policy is not None:
        lead.append("Actions are drawn: shares are probabilities.")
    if decisions.referred is not None:
        lead.append(f"{count(int(decisions.referred.sum()))} of them are left to a person.")
    raised = {name: int(flag.sum()) for name, flag in decisions.flags.items() if flag.any()}
    lead += [f"{name.replace('_', ' ')}: {count(times)} contexts." for name, times in raised.items()]
    return snippet(Shown(title, tuple(lead), (share, _first_decisions(decisions))))


def _first_decisions(decisions: Decisions) -> Table:
    n, actions = min(MOST_ROWS, decisions.n_contexts), decisions.actions
    rows: Rows = tuple(
        (str(t), shortened(str(actions[t])) or "a person decides", _remarks(decisions, t)) for t in range(n)
    )
    more = left_out(("decisions", n, decisions.n_contexts))
    return Table(("Context", "Action", "Remarks"), rows, "The first decisions", more, numbers=False)


def _remarks(decisions: Decisions, t: int) -> str:
    """Return what else must be known of one decision."""
    raised = [name.replace("_", " ") for name, flag in decisions.flags.items() if flag[t]]
    return ", ".join([*(["tied"] if decisions.tied[t] else []), *raised])


@representations.register("Recommendations")
def recommendations(recommended: Recommendations) -> str:
    """Return the first recommendations with runner-up and margin."""
    n = min(MOST_ROWS, recommended.decisions.n_contexts)
    actions = recommended.decisions.actions
    unusual = [""] * n if recommended.unusual is None else [str(words) for words in recommended.unusual.remarks[:n]]
    rows: Rows = tuple(
        (
            str(t),
            Mark(shortened(str(actions[t])) or "a person decides", chosen=bool(str(actions[t]))),
            shortened(str(recommended.runner_up[t])),
            figure(float(recommended.margin[t])),
            ", ".join(words for words in (_remarks(recommended.decisions, t), unusual[t]) if words),
        )
        for t in range(n)
    )
    total = recommended.decisions.n_contexts
    table = Table(
        ("Row", "Action", "Runner-up", "Margin", "Remarks"), rows, "", left_out(("rows", n, total)), numbers=False
    )  # fmt: skip
    lead = (recommended.counts.sentence(),) if recommended.counts.unusual else ()
    title = f"{counted(total, 'recommendation')} of {readable(shortened(recommended.decisions.strategy))}"
    return snippet(Shown(title, lead, (table,)))


@representations.register("Certificate")
def certificate(certificate: Certificate) -> str:
    """Return how many decisions no misreport changes, and what could win in the first contexts."""
    names, n = certificate.expected.actions, certificate.expected.n_contexts
    who = listed(certificate.threat.coalition) if certificate.threat.coalition else "everybody together"
    rule, delta = readable(certificate.rule.label), number(certificate.threat.delta)
    title = f"{rule}: misreports of up to {delta} by {shortened(who)}"
    if n == 0:
        return snippet(Shown(title))
    certified, attackable = int(certificate.certified.sum()), int(certificate.attackable.sum())
    lead = (
        f"{count(certified)} of {count(n)} decisions are certified: no such misreport changes them.",
        f"{count(attackable)} are known to be changed by one; of the others neither is known.",
    )
    shown = min(MOST_ROWS, n)
    rows: Rows = tuple(
        (
            str(t),
            Mark(shortened(names[certificate.decided[t]]), chosen=True),
            _others(names, certificate.outer[:, t], certificate.decided[t]),
            _others(names, certificate.inner[:, t], certificate.decided[t]),
        )
        for t in range(shown)
    )
    head = ("Context", "Decision", "Could not be ruled out", "Known to win by a misreport")
    table = Table(head, rows, "The first contexts", left_out(("contexts", shown, n)), numbers=False)
    return snippet(Shown(title, lead, (table,), (("", (f"How it was found: {certificate.method}.",)),)))


def _others(names: Sequence[str], reached: Any, decided: int) -> str:
    """Return the names of the reached actions but for the decision."""
    others = [name for a, name in enumerate(names) if reached[a] and a != decided]
    shown = ", ".join(cut(others, MOST_COLUMNS))
    return (shown + (f" and {len(others) - MOST_COLUMNS} more" if len(others) > MOST_COLUMNS else "")) or "none"


@representations.register("Survey")
def survey(survey: Survey) -> str:
    """Return the share of decisions that each coalition cannot change, by radius."""
    total = survey.radii.shape[1]
    shares = [survey.certified(delta) for delta in RADII]
    middle = survey.quantiles((0.5,))[:, 0]
    rows: Rows = tuple(
        (
            shortened(listed(members)),
            *(Mark(_share(share[k]), number=True) for share in shares),
            Mark("never" if np.isinf(middle[k]) else figure(float(middle[k])).words, number=True),
        )
        for k, members in enumerate(survey.coalitions[:MOST_ROWS])
    )
    head = ("Coalition", *(f"certified at δ = {number(delta, 2)}" for delta in RADII), "median radius")
    more = left_out(("coalitions", len(rows), len(survey.coalitions)))
    title = f"{readable(survey.rule)}: how far {counted(total, 'decision')} withstand misreports"
    kind = "Radii are the largest ones." if survey.exact else "Radii are certified; the largest ones may be larger."
    return snippet(Shown(title, (kind,), (Table(head, rows, "", more),)))


def _share(value: float) -> str:
    return "–" if np.isnan(value) else percent(float(value))


@representations.register("Explanation")
def explanation(explanation: Explanation) -> str:
    """Return why one decision was taken: E with the decision marked, what it gave against others, the sentences."""
    title = f"Context {explanation.row}: {readable(explanation.rule)} decides {shortened(explanation.choice.action)}"
    expected = {
        who: dict(zip(explanation.actions, row, strict=True))
        for who, row in zip(explanation.stakeholders, explanation.expected, strict=True)
    }
    scores = (
        None
        if explanation.choice.scores is None
        else dict(zip(explanation.actions, explanation.choice.scores, strict=True))
    )
    tables = (_expected_here(expected, scores, explanation.choice.action),)
    names = {explanation.rule: readable(explanation.rule)}
    said = tuple(
        (HEADINGS.get(topic, topic), tuple(renamed(said, names) for said in sentences))
        for topic, sentences in explanation.by_topic().items()
        if sentences
    )
    return snippet(Shown(title, (), tables, said))


def _expected_here(
    expected: Mapping[str, Mapping[str, float]], scores: Mapping[str, float] | None, action: str
) -> Table:
    """Return expected rewards by action, the decision first."""
    actions = next(iter(expected.values()))
    order = [action, *(option for option in actions if option != action)][:MOST_ROWS]
    who = list(expected)[:MOST_COLUMNS]
    rows: Rows = tuple(
        (
            shortened(option),
            *(figure(expected[name][option], chosen=option == action) for name in who),
            *(() if scores is None else (figure(scores[option], chosen=option == action),)),
        )
        for option in order
    )
    more = left_out(("actions", len(order), len(actions)), ("stakeholders", len(who), len(expected)))
    head = ("Action", *cut(who), *(() if scores is None else ("score of the rule",)))
    return Table(head, rows, "Expected reward of each stakeholder; the decision stands first", more)
