"""A proposed case as commented YAML, with everything that only people can say left open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from accordant.cases.proposal import Proposal
from accordant.cases.proposed_rewards import guessed_rewards, outcomes_best_first

RULES = (
    "utilitarian",
    "maximin",
    "nash_social_welfare",
    "nash_bargaining",
    "kalai_smorodinsky",
    "compromise_programming",
)
LIMITED_RULES = ("utilitarian", "maximin")  # compared under a budget too


@dataclass(frozen=True)
class Statement:
    """What people say about a proposed case.

    Attributes
    ----------
    name, file
        Of the case, and of its data beside it.
    stakeholders
        Who is affected by, takes, or provides for the decision.
    favourable
        Actions that benefit whoever is decided about; empty if nobody said.
    scarce
        Action to the share of people for whom there is enough.
    best_first
        Outcomes, the best first; of numbers, the better bound first. Empty to guess.
    guesses
        What was guessed of these, ``favourable``, ``scarce`` and ``best_first``, to why.
    separator
        What stands between columns.
    sheet, query
        Of a workbook; what is read instead of a file.
    schema
        Name of the schema of case files beside the case, for editors; empty for none.
    """

    name: str
    file: str
    stakeholders: tuple[str, ...] = ("Person", "Institution")
    favourable: tuple[str, ...] = ()
    scarce: Mapping[str, float] | None = None
    best_first: tuple[str, ...] = ()
    guesses: Mapping[str, str] = field(default_factory=dict)
    separator: str = ","
    sheet: str | None = None
    query: str | None = None
    schema: str = ""


def case_text(proposal: Proposal, statement: Statement) -> str:
    """Return the YAML of a case, which runs as it is, on rewards that are guesses."""
    parts = (
        _head(proposal, statement), _problem(proposal, statement), _data(proposal, statement),
        _rewards(proposal, statement), _strategies(proposal, statement), _metrics(proposal, statement),
        _scope(proposal, statement),
    )  # fmt: skip
    return "\n".join("\n".join(part) for part in parts) + "\n"


def _head(proposal: Proposal, statement: Statement) -> list[str]:
    return [
        *([f"# yaml-language-server: $schema={statement.schema}"] if statement.schema else []),
        f"# A first case, from {proposal.rows} rows of {_plain(statement.file)}.",
        "# Guesses say why; correct what is wrong.",
        "# Rewards are guesses too, which every result says: what each stakeholder wants is theirs to say.",
        f"name: {_text(statement.name)}",
        f"title: {_text(f'Who gets what: {statement.name}')}  # in words that everybody concerned understands",
    ]


def _problem(proposal: Proposal, statement: Statement) -> list[str]:
    action, outcome = proposal.action, proposal.outcome
    logged = ", ".join(f"{_plain(name)} {share:.0%}" for name, share in action.values.items())
    lines = [
        "problem:",
        "  stakeholders:  # whoever is affected by, takes, or provides for the decision; weights are a value judgement",
        *(f"    - {{name: {_text(name)}, role: {role}, weight: 1}}" for name, role in _roles(statement.stakeholders)),
        f"  actions: {_list(action.values)}  # logged: {logged}",
    ]
    if len(action.values) < 2:
        lines.append("  # the log holds one action only: name the others that can be taken, first of all doing nothing")
    if proposal.bounds is None:
        lines.append(f"  outcomes: {_list(outcome.values)}")
    else:
        low, high = proposal.ends
        lines.append(f"  outcomes: {{name: {_text(outcome.name)}, low: {low}, high: {high}}}  # bounds: as logged")
    if statement.favourable:
        benefit = "which benefit whoever is decided about; gaps between groups are about them"
        lines.append(f"  favourable_actions: {_list(statement.favourable)}  # {benefit}{_why(statement, 'favourable')}")
    else:
        lines.append(
            "  # favourable_actions: []  # which benefit whoever is decided about? gaps between groups need it"
        )
    lines.append("  # status_quo: ACTION  # what happens if nobody agrees")
    groups = proposal.of("sensitive")
    if groups:
        lines.append("  sensitive_attributes:  # groups that are compared; models do not read them")
        lines += [f"    - {_text(column.name)}  # {_plain(column.why)}" for column in groups]
    return lines


def _roles(stakeholders: Sequence[str]) -> list[tuple[str, str]]:
    """Return names with roles: the last of several takes the decision, until somebody says otherwise."""
    last = len(stakeholders) - 1
    return [(name, "deciding" if place == last and place else "affected") for place, name in enumerate(stakeholders)]


def _data(proposal: Proposal, statement: Statement) -> list[str]:
    lines = ["data:", *_source(statement)]
    if statement.separator != ",":
        lines.append(f"  separator: {json.dumps(statement.separator)}")
    lines += [
        f"  action: {_text(proposal.action.name)}  # {_plain(proposal.action.why)}",
        f"  outcome: {_text(proposal.outcome.name)}  # {_plain(proposal.outcome.why)}",
        "  features:  # what models may read: known before the decision, and rightly used for it",
        *(f"    {_text(column.name)}: {column.type}" for column in proposal.of("feature")),
    ]
    lines += [
        f"  group: {_text(column.name)}  # rows of one person stay together: {column.why}"
        for column in proposal.of("person")[:1]
    ]
    lines += [f"  # time: {_text(column.name)}  # to test on the latest rows" for column in proposal.of("time")[:1]]
    unread = (*proposal.of("left out"), *proposal.of("person")[1:], *proposal.of("time")[1:])
    if unread:
        lines.append("  # not read:")
        lines += [f"  #   {_plain(column.name)}: {_plain(column.why)}" for column in unread]
    return lines


def _source(statement: Statement) -> list[str]:
    if statement.query is not None:
        start = "  query: |-  # one SELECT; the address of the database stands in $ACCORDANT_DATABASE, never here"
        return [start, *(f"    {line}" for line in statement.query.strip().splitlines())]
    sheet = [] if statement.sheet is None else [f"  sheet: {_text(statement.sheet)}"]
    return [f"  file: {_text(statement.file)}", *sheet]


def _why(statement: Statement, what: str) -> str:
    """Return that something was guessed, and why, as the end of a comment."""
    return f"; a guess, {_plain(statement.guesses[what])}" if what in statement.guesses else ""


def _rewards(proposal: Proposal, statement: Statement) -> list[str]:
    lines = ["rewards:  # in [0, 1]: how good is it for each stakeholder if this is done and that follows?"]
    bounds = proposal.bounds
    best_first = statement.best_first or outcomes_best_first(proposal).names
    lines.append(f"  # outcomes, the best first: {_plain(', '.join(best_first))}{_why(statement, 'best_first')}")
    lines.append("  # numbers are made up; put in what each stakeholder says, and take `guessed` away")
    if bounds is not None:
        lines.append("  # between the outcomes that you name, rewards lie on straight lines; name more where they bend")
    for name, role in _roles(statement.stakeholders):
        table = guessed_rewards(
            tuple(proposal.action.values), best_first, statement.favourable, deciding=role == "deciding"
        )
        lines += [f"  {_text(name)}:", "    guessed: true", "    table:"]
        for action, row in table.items():
            cells = ", ".join(f"{_text(name) if bounds is None else name}: {value:g}" for name, value in row.items())
            lines.append(f"      {_text(action)}: {{{cells}}}")
    lines += [
        "  # instead of a table: {column: COLUMN} for what people said about the action they got, or",
        "  # {signal: comparisons, file: answers.csv} for answers to `accordant elicit`",
    ]
    return lines


def _strategies(proposal: Proposal, statement: Statement) -> list[str]:
    lines = ["strategies:", *(f"  - {{name: {name}}}" for name in RULES)]
    if statement.scarce:
        lines.append(f"  # what is scarce: these rules may not take it for more people{_why(statement, 'scarce')}")
        lines += _limited(statement.scarce)
        return lines
    usual = statement.favourable or tuple(proposal.action.values)[:1]
    logged = {name: round(proposal.action.values[name], 3) for name in usual}
    lines.append("  # is an action scarce? nothing was said, so always taking the best liked one may win; to limit it:")
    return lines + [f"  #{line[1:]}" for line in _limited(logged)]


def _limited(budgets: Mapping[str, float]) -> list[str]:
    shares = ", ".join(f"{_text(name)}: {share:g}" for name, share in budgets.items())
    titles = {rule: _text(f"{rule} within limits") for rule in LIMITED_RULES}
    return [
        f"  - {{name: constrained, parameters: {{title: {title}, rule: {rule}, budgets: {{{shares}}}}}}}"
        for rule, title in titles.items()
    ]


def _metrics(proposal: Proposal, statement: Statement) -> list[str]:
    groups = proposal.of("sensitive") if statement.favourable else ()
    lines = [
        "metrics:  # weights say what counts when the rule is chosen, and sum to 1; without a weight it is only shown",
        "  Worst_Off_Reward: {metric: min_reward, weight: 0.5}",
        "  Mean_Reward: {metric: mean_reward, weight: 0.5}",
    ]
    for column in groups:
        parameters = f"{{attributes: [{_text(column.name)}]}}"
        lines.append(f"  {_text(f'Gap {column.name}')}: {{metric: demographic_parity, parameters: {parameters}}}")
    for name in proposal.action.values:
        parameters = f"{{action: {_text(name)}, percent: true}}"
        lines.append(f"  {_text(f'Percent {name}')}: {{metric: share_of_action, parameters: {parameters}}}")
    return lines


def _scope(proposal: Proposal, statement: Statement) -> list[str]:
    lines = [
        "scope:  # the card that every result refers to; fill in what is open",
        f"  id: {_text(statement.name)}",
        '  version: "0"',
        f"  title: {_text(statement.name)}",
        "  decision: to be filled in  # what is decided about whom",
        "  in_scope_uses: [comparing decision strategies on past decisions]",
        "  out_of_scope_uses: [deciding about anybody before this card is complete]",
        "  stakeholders:",
        *(
            f"    - {{name: {_text(name)}, role: {role}, consulted: false}}"
            for name, role in _roles(statement.stakeholders)
        ),
    ]
    groups = proposal.of("sensitive")
    if groups:
        lines.append("  sensitive_attributes:")
        lines += [
            f"    - {{name: {_text(column.name)}, permitted_use: audit_only, why: to be filled in}}"
            for column in groups
        ]
    return lines


def _text(value: str) -> str:
    """Return a scalar as YAML on one line, such as may stand inside brackets too."""
    return yaml.safe_dump([value], default_flow_style=True, width=10**6, allow_unicode=True).strip()[1:-1]


def _list(values: Iterable[str]) -> str:
    return yaml.safe_dump(list(values), default_flow_style=True, width=10**6, allow_unicode=True).strip()


def _plain(text: str) -> str:
    """Return a text for a comment."""
    return " ".join(text.split())
