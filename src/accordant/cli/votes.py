"""`accordant vote`: count the ballots of a file by several rules; of a file with a budget, spend it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.strategies import Strategy, strategies
from accordant.tables.output import write_output
from accordant.terminal import PlainConsole, print_records, say
from accordant.terminal_table import FittedTable
from accordant.voting import Election, Profile, read_preflib
from accordant.voting.budgets import BudgetRule, Funded, budget_rules, gain, reach
from accordant.voting.pabulib import read_pabulib
from accordant.voting.rules.rule import Counted, VotingRule
from accordant.voting.rules.tally import tally_of_profile

ALL = "all"  # what stands for every rule that the ballots allow
SUFFIX = ".pb"  # of files that have a budget
YARDSTICK = "greedy"  # what most cities do; the other rules are compared with it
LONGEST_NAME = 48  # characters of a project's name that a table shows


def spent_file(file: Path, rules: str) -> dict[str, Any]:
    """Spend the budget of a file; the result is what ``vote --json`` prints.

    Parameters
    ----------
    file
        A file in the format of Pabulib.
    rules
        ``"all"``, or names of budget rules with commas between, each ``name`` or ``name[parameter=value,…]``.

    Raises
    ------
    DataError
        If the file cannot be read.
    UnknownNameError
        If a rule is unknown.
    InputError
        If a parameter is refused, or the file has no voters.
    """
    chosen = chosen_budget_rules(rules)
    election = read_pabulib(file)
    if not len(election.scores):
        raise InputError(f"{file}: there are no votes; allowed: at least one")
    funded = [rule(election) for rule in chosen]
    yardstick = next((funding for funding in funded if funding.rule == YARDSTICK), None)
    titles = election.project_facts.get("name", election.projects)
    return {
        "file": str(file),
        "vote_type": election.vote_type,
        "votes": len(election.scores),
        "budget": election.budget,
        "projects": _projects(election, titles),
        "rules": {funding.rule: _budget_json(funding, yardstick) for funding in funded},
    }


def chosen_budget_rules(names: str) -> list[BudgetRule]:
    """Return the rules of these names, each once, or every registered budget rule."""
    if names.strip() == ALL:
        return [budget_rules.create(name) for name in budget_rules]
    made = []
    for named in read_names(names, "--rules"):
        if named.name not in budget_rules:
            raise UnknownNameError("budget rule", named.name, (*budget_rules.names(), ALL))
        made.append(budget_rules.create(named.name, named.parameters))
    return list({rule.label: rule for rule in made}.values())


def print_spent(result: dict[str, Any]) -> None:
    """Print what each rule spends and whom it serves, then project by project which rules fund it."""
    console, rules = PlainConsole(), result["rules"]

    say(
        f"{result['file']}: {result['votes']:,} votes ({result['vote_type']}) on {len(result['projects'])} projects, "
        f"budget {_money(result['budget'])}"
    )
    say("")
    console.print(_table("Rules", [_rule_row(name, funding) for name, funding in rules.items()], texts=("rule",)))
    if any("gain" in funding for funding in rules.values()):
        say(f"more, fewer: voters with more, or fewer, funded projects of their own than by {YARDSTICK}")
    say("")
    places = {name: {project: n for n, project in enumerate(funding["funded"], 1)} for name, funding in rules.items()}
    rows = [_project_row(project, places) for project in result["projects"]]
    console.print(_table("Projects, and as which of its purchases a rule funds them", rows, texts=("id", "name")))
    for name, funding in rules.items():
        for project, others in funding["ties"].items():
            say(f"tie: {name} prefers {project} to {', '.join(others)}")


def _table(title: str, rows: Sequence[Mapping[str, str]], texts: Sequence[str]) -> FittedTable:
    table = FittedTable(title)
    for column in rows[0]:
        table.add(column, number=column not in texts)
    for row in rows:
        table.add_row(*row.values())
    return table


def _projects(election: Election, titles: Sequence[str]) -> list[dict[str, Any]]:
    votes, scores = election.approvals.sum(axis=0).tolist(), election.scores.sum(axis=0).tolist()
    rows = zip(election.projects, titles, election.costs.tolist(), votes, scores, strict=True)
    return [dict(zip(("id", "name", "cost", "votes", "score"), row, strict=True)) for row in rows]


def _budget_json(funding: Funded, yardstick: Funded | None) -> dict[str, Any]:
    names, served = funding.election.projects, reach(funding)
    shown: dict[str, Any] = {
        "funded": list(funding.projects),
        "spent": float(funding.spent),
        "served": served.served,
        "projects_per_voter": served.projects,
        "score_share": served.score,
        "ties": {names[project]: [names[other] for other in others] for project, others in funding.ties.items()},
        "completed": [names[project] for project in funding.completed],
        "prices": {names[project]: _exact(price) for project, price in funding.prices.items()},
        "voter_money": None if funding.voter_money is None else _exact(funding.voter_money),
    }
    if yardstick is not None and funding is not yardstick:
        difference = gain(yardstick, funding)
        shown["gain"] = {"over": yardstick.rule, "more": difference.more, "less": difference.less}
    return shown


def _exact(number: Fraction) -> dict[str, Any]:
    """Return a number as JSON has it, beside the fraction that it is."""
    return {"value": float(number), "fraction": str(number)}


def _rule_row(name: str, funding: dict[str, Any]) -> dict[str, str]:
    difference = funding.get("gain")
    return {
        "rule": name,
        "projects": str(len(funding["funded"])),
        "spent": _money(funding["spent"]),
        "voters served": f"{funding['served']:.1%}",
        "projects per voter": f"{funding['projects_per_voter']:.2f}",
        "more": f"{difference['more']:.1%}" if difference else "",
        "fewer": f"{difference['less']:.1%}" if difference else "",
    }


def _project_row(project: dict[str, Any], places: dict[str, dict[str, int]]) -> dict[str, str]:
    title = project["name"]
    return {
        "id": project["id"],
        "name": title if len(title) <= LONGEST_NAME else title[: LONGEST_NAME - 1] + "…",
        "cost": _money(project["cost"]),
        "votes": f"{project['votes']:,}",
        "score": f"{project['score']:,g}",
        **{name: str(bought.get(project["id"], "")) for name, bought in places.items()},
    }


def _money(amount: float) -> str:
    return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.2f}"


def count(file: Path, rules: str) -> dict[str, Any]:
    """Count the ballots of a file by voting rules, or spend its budget if it is one of Pabulib.

    Raises
    ------
    InputError
        If the file cannot be read, or a rule is unknown or cannot be applied.
    """
    return spent_file(file, rules) if file.suffix.casefold() == SUFFIX else counted_file(file, rules)


def counted_file(file: Path, rules: str) -> dict[str, Any]:
    """Count the ballots of a file without a budget; the result is what ``vote --json`` prints.

    Parameters
    ----------
    file
        A file in the format of PrefLib.
    rules
        ``"all"``, which leaves out the rules that the ballots do not allow and says why, or names with commas between.

    Raises
    ------
    DataError
        If the file cannot be read.
    UnknownNameError
        If a rule is unknown.
    InputError
        If a rule that was asked for by name cannot count these ballots.
    """
    chosen = chosen_rules(rules)
    profile = read_preflib(file)
    refused = {rule.name: reason for rule in chosen if (reason := rule.refusal(profile)) is not None}
    if refused and rules.strip() != ALL:
        raise InputError(
            "; ".join(f"{file}: {name} cannot count these ballots: {why}" for name, why in refused.items())
        )
    counted = {rule.name: rule.count(profile) for rule in chosen if rule.name not in refused}
    return {
        "file": str(file),
        "alternatives": list(profile.alternatives),
        "votes": int(profile.weights.sum()),
        "condorcet_winner": condorcet_winner(profile),
        "rules": {name: _as_json(count) for name, count in counted.items()},
        "left_out": refused,
    }


def chosen_rules(names: str) -> list[VotingRule]:
    """Return the rules of these names, each once, or every registered voting rule."""
    known = {name: rule for name in strategies if isinstance(rule := _made(name), VotingRule)}
    full = {alias: name for name in known for alias in (name, *strategies.aliases(name))}
    asked = list(known) if names.strip() == ALL else [name.strip() for name in names.split(",")]
    for name in asked:
        if name not in full:
            raise UnknownNameError("voting rule", name, (*known, ALL))
    return [known[name] for name in dict.fromkeys(full[name] for name in asked)]


def condorcet_winner(profile: Profile) -> str | None:
    """Return the alternative that beats every other one, or None."""
    beats_all = np.flatnonzero(tally_of_profile(profile).condorcet[:, 0])
    return profile.alternatives[beats_all[0]] if len(beats_all) else None


def print_count(result: dict[str, Any]) -> None:
    """Print winners and rankings rule by rule, and what was left out; or what a budget is spent on."""
    if "budget" in result:
        print_spent(result)
        return
    say(f"{result['file']}: {result['votes']} votes on {len(result['alternatives'])} alternatives")
    winner = result["condorcet_winner"]
    say(f"Condorcet winner: {winner or 'none, nobody beats every other alternative'}\n")
    rows = [_row(name, count) for name, count in result["rules"].items()]
    if rows:
        print_records("Count", rows, as_json=False)
    for name, reason in result["left_out"].items():
        say(f"left out: {name}, {reason}")


def write_count(result: dict[str, Any], path: Path) -> None:
    """Write the result as JSON.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    write_output(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n", [result["file"]])


def _row(name: str, count: dict[str, Any]) -> dict[str, str]:
    tied = " (tie)" if len(count["winners"]) > 1 else ""
    if "lottery" in count:
        ranking = ", ".join(
            f"{alternative} {share:.1%}" for alternative, share in count["lottery"].items() if share > 0
        )
    else:
        ranking = " > ".join(" = ".join(tier) for tier in count["ranking"])
    return {"rule": name, "winner": " = ".join(count["winners"]) + tied, "ranking": ranking}


def _as_json(counted: Counted) -> dict[str, Any]:
    shown: dict[str, Any] = {"winners": list(counted.winners()), "ranking": [list(tier) for tier in counted.ranking()]}
    if counted.lottery:
        order = np.argsort(-counted.scores[:, 0], kind="stable")
        shown["lottery"] = {counted.alternatives[a]: float(counted.scores[a, 0]) for a in order}
    return shown


def _made(name: str) -> Strategy | None:
    """Return the strategy with default parameters, or None if it cannot do without some."""
    try:
        return strategies.create(name)
    except InputError:
        return None
