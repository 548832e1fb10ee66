"""A first case file from a table: what is guessed, what is asked, what is written."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from accordant.cases.proposal import Proposal, Told, check_values, propose
from accordant.cases.proposal_text import Statement, case_text
from accordant.errors import InputError
from accordant.naming import path_name, plain
from accordant.tables.output import check_output, write_output
from accordant.tables.whole_tables import read_frame
from accordant.terminal import PlainConsole

SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Written:
    """A case file that was written.

    Attributes
    ----------
    path
        Where.
    proposal, statement
        What it says.
    """

    path: Path
    proposal: Proposal
    statement: Statement

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "case": str(self.path),
            "rows": self.proposal.rows,
            "columns": [
                {"name": each.name, "role": each.role, "type": each.type, "why": each.why}
                for each in self.proposal.columns
            ],
            "actions": dict(self.proposal.action.values),
            "outcomes": dict(self.proposal.outcome.values) if self.proposal.bounds is None else None,
            "bounds": None if self.proposal.bounds is None else list(self.proposal.bounds),
            "favourable_actions": list(self.statement.favourable),
            "scarce": dict(self.statement.scarce or {}),
            "open": ["rewards", "scope"],
        }


def new_case(
    file: Path,
    told: Told,
    *,
    stakeholders: tuple[str, ...],
    favourable: tuple[str, ...],
    scarce: Mapping[str, str],
    out: Path | None,
    ask: bool,
) -> Written:
    """Look at a table, ask what cannot be seen in it, and write a case file.

    Raises
    ------
    InputError
        If the table cannot be read, a name is unknown, a share is no number in (0, 1), or the place is taken.
    """
    path = file.with_suffix(".yaml") if out is None else out
    if path.exists():
        raise InputError(f"{path} exists; choose another place with --out, so that nothing is lost")
    check_output(path, [file])
    separator = _separator(file)
    proposal = propose(read_frame(file, separator), told)
    if ask:
        proposal = _corrected(proposal, file, told)
        favourable = favourable or _asked_names("Which actions benefit whoever is decided about?", proposal)
        scarce = scarce or _asked_budgets(proposal)
    check_values("action in --favourable:", favourable, proposal)
    check_values("action in --scarce:", tuple(scarce), proposal)
    statement = Statement(
        path_name(file.stem), file.name, stakeholders, favourable,
        {name: _share(name, value) for name, value in scarce.items()}, separator,
    )  # fmt: skip
    write_output(path, case_text(proposal, statement), [file])
    return Written(path, proposal, statement)


def print_new_case(written: Written) -> None:
    """Print what each column was taken for, what is open, and what to do next."""
    console = PlainConsole()
    for role in ("action", "outcome", "sensitive", "feature", "person", "time", "left out"):
        for column in written.proposal.columns:
            if column.role == role:
                console.print(f"{role:>10}  {column.name}  ({column.why})")
    scarce = written.statement.scarce
    console.print()
    if not scarce:
        console.print("Nothing is said to be scarce: always taking the action that most like may win by itself.")
    console.print(f"case: {written.path}")
    console.print("Left open: the rewards, and what the scope card asks. Fill them in, then:")
    console.print(f"    accordant run {written.path}")


def _separator(file: Path) -> str:
    """Return what stands between columns: what the header holds most often."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            header = stream.readline(10**6)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    return max(SEPARATORS, key=header.count)


def _corrected(proposal: Proposal, file: Path, told: Told) -> Proposal:
    """Ask whether the guessed columns are right."""
    action = told.action or _asked("Which column holds the action that was taken?", proposal.action.name)
    outcome = told.outcome or _asked("Which column holds what followed?", proposal.outcome.name)
    if (action, outcome) == (proposal.action.name, proposal.outcome.name):
        return proposal
    return propose(read_frame(file, _separator(file)), replace(told, action=action, outcome=outcome))


def _asked(question: str, guess: str = "") -> str:
    answer: str = typer.prompt(plain(question), default=guess, err=True, show_default=bool(guess))
    return answer.strip()


def _asked_names(question: str, proposal: Proposal) -> tuple[str, ...]:
    names = ", ".join(proposal.action.values)
    answer = _asked(f"{question} Some of {names}, with commas; empty if none")
    return tuple(part.strip() for part in answer.split(",") if part.strip())


def _asked_budgets(proposal: Proposal) -> dict[str, str]:
    logged = ", ".join(f"{name}={share:.2f}" for name, share in proposal.action.values.items())
    answer = _asked(
        f"What is scarce, and for which share of people is there enough? As logged: {logged}; empty if none"
    )
    found = {}
    for part in filter(None, (part.strip() for part in answer.split(","))):
        name, equals, share = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(
                f"{part!r} is no action with a share; allowed: ACTION=SHARE, such as {logged.split(',')[0]}"
            )
        found[name] = share
    return found


def _share(name: str, given: str) -> float:
    try:
        share = float(given)
    except ValueError:
        share = float("nan")
    if not 0 < share < 1:
        raise InputError(f"the share of people for {name!r} is {given!r}; allowed: a number between 0 and 1")
    return share


def can_ask() -> bool:
    """Return whether somebody sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()
