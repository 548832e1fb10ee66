"""`accordant vote FILE.pb`: spend a budget on the projects that people voted for, by several rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.table import Table

from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.terminal.escaping import PlainConsole
from accordant.voting import Election
from accordant.voting.budgets import BudgetRule, Funded, budget_rules, gain, reach
from accordant.voting.pabulib import read_pabulib

ALL = "all"
SUFFIX = ".pb"
YARDSTICK = "greedy"  # what most cities do; the other rules are compared with it
LONGEST_NAME = 48  # characters of a project's name that a table shows
WIDTH = 140  # columns where stdout is no terminal


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
    chosen = chosen_rules(rules)
    election = read_pabulib(file)
    if not len(election.scores):
        raise InputError(f"{file}: there are no votes; allowed: at least one")
    funded = [rule(election) for rule in chosen]
    yardstick = next((found for found in funded if found.rule == YARDSTICK), None)
    titles = election.project_facts.get("name", election.projects)
    return {
        "file": str(file),
        "vote_type": election.vote_type,
        "votes": len(election.scores),
        "budget": election.budget,
        "projects": [_project(election, position, title) for position, title in enumerate(titles)],
        "rules": {found.rule: _as_json(found, yardstick) for found in funded},
    }


def chosen_rules(names: str) -> list[BudgetRule]:
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
    console, rules = PlainConsole(width=WIDTH), result["rules"]

    def say(sentence: str) -> None:
        """Print a line as long as it is."""
        console.print(sentence, soft_wrap=True)

    say(
        f"{result['file']}: {result['votes']:,} votes ({result['vote_type']}) on {len(result['projects'])} projects, "
        f"budget {_money(result['budget'])}"
    )
    say("")
    console.print(_table("Rules", [_row(name, found) for name, found in rules.items()], texts=("rule",)))
    if any("gain" in found for found in rules.values()):
        say(f"more, fewer: voters with more, or fewer, funded projects of their own than by {YARDSTICK}")
    say("")
    places = {name: {each: n for n, each in enumerate(found["funded"], 1)} for name, found in rules.items()}
    rows = [_project_row(project, places) for project in result["projects"]]
    console.print(_table("Projects, and as which of its purchases a rule funds them", rows, texts=("id", "name")))
    for name, found in rules.items():
        for project, others in found["ties"].items():
            say(f"tie: {name} prefers {project} to {', '.join(others)}")


def _table(title: str, rows: Sequence[Mapping[str, str]], texts: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in rows[0]:
        table.add_column(column, justify="left" if column in texts else "right", overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    return table


def _project(election: Election, position: int, title: str) -> dict[str, Any]:
    return {
        "id": election.projects[position],
        "name": title,
        "cost": float(election.costs[position]),
        "votes": int(election.approvals[:, position].sum()),
        "score": float(election.scores[:, position].sum()),
    }


def _as_json(found: Funded, yardstick: Funded | None) -> dict[str, Any]:
    names, served = found.election.projects, reach(found)
    shown: dict[str, Any] = {
        "funded": list(found.projects),
        "spent": float(found.spent),
        "served": served.served,
        "projects_per_voter": served.projects,
        "score_share": served.score,
        "ties": {names[project]: [names[each] for each in others] for project, others in found.ties.items()},
        "completed": [names[project] for project in found.completed],
        "prices": {names[project]: _exact(price) for project, price in found.prices.items()},
        "voter_money": None if found.voter_money is None else _exact(found.voter_money),
    }
    if yardstick is not None and found is not yardstick:
        difference = gain(yardstick, found)
        shown["gain"] = {"over": yardstick.rule, "more": difference.more, "less": difference.less}
    return shown


def _exact(number: Fraction) -> dict[str, Any]:
    """Return a number as JSON has it, beside the fraction that it is."""
    return {"value": float(number), "fraction": str(number)}


def _row(name: str, found: dict[str, Any]) -> dict[str, str]:
    difference = found.get("gain")
    return {
        "rule": name,
        "projects": str(len(found["funded"])),
        "spent": _money(found["spent"]),
        "voters served": f"{found['served']:.1%}",
        "projects per voter": f"{found['projects_per_voter']:.2f}",
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
