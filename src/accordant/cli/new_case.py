"""A first case file from a table: what is guessed, what is asked, what is written."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from accordant.cases.proposal import Proposal, Told, check_values, propose
from accordant.cases.proposal_text import Statement, case_text
from accordant.cases.proposed_rewards import Guess, favourable_actions, outcomes_best_first
from accordant.cases.schema import case_schema
from accordant.errors import InputError, UnknownNameError
from accordant.naming import path_name, plain
from accordant.tables.databases import query_of
from accordant.tables.output import check_output, write_output
from accordant.tables.whole_tables import COLUMNAR, QUERY, read_frame
from accordant.tables.workbooks import SUFFIX, parted
from accordant.terminal import PlainConsole

SEPARATORS = (",", ";", "\t", "|")
NOTHING = frozenset({"", "-", "none"})  # answers that name nothing
SCHEMA = "accordant-case.schema.json"  # beside the case, for editors


@dataclass(frozen=True)
class Said:
    """What somebody said of a table beforehand; what was not said is asked or guessed.

    Attributes
    ----------
    stakeholders
        Who is concerned; the last of several decides.
    favourable, best_first
        Actions that benefit whoever is decided about; outcomes, the best first. None where nothing was said.
    scarce
        Action to the share of people for whom there is enough, as it was typed.
    """

    stakeholders: tuple[str, ...]
    favourable: tuple[str, ...] | None = None
    best_first: tuple[str, ...] | None = None
    scarce: Mapping[str, str] = field(default_factory=dict)


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
                {"name": column.name, "role": column.role, "type": column.type, "why": column.why}
                for column in self.proposal.columns
            ],
            "actions": dict(self.proposal.action.values),
            "outcomes": dict(self.proposal.outcome.values) if self.proposal.bounds is None else None,
            "bounds": None if self.proposal.bounds is None else list(self.proposal.bounds),
            "favourable_actions": list(self.statement.favourable),
            "best_first": list(self.statement.best_first),
            "scarce": dict(self.statement.scarce or {}),
            "guesses": dict(self.statement.guesses),
            "open": ["rewards", "scope"],
        }


def new_case(file: str, told: Told, said: Said, *, out: Path | None, ask: bool) -> Written:
    """Look at a table, ask or guess what cannot be seen in it, and write a case file that runs.

    Raises
    ------
    InputError
        If the table cannot be read, a name is unknown, a share is no number in (0, 1), or the place is taken.
    """
    name, sheet = parted(file)
    source = Path(name)
    path = source.with_suffix(".yaml") if out is None else out
    if path.exists():
        raise InputError(f"{path} exists; choose another place with --out, so that nothing is lost")
    check_output(path, [source])
    separator = "," if source.suffix.lower() in {*COLUMNAR, SUFFIX, QUERY} else _separator(source)
    frame = read_frame(source, separator, sheet=sheet)
    proposal = _corrected(frame, told) if ask else propose(frame, told)
    statement = replace(
        _statement(proposal, said, ask=ask),
        name=path_name(source.stem), file=source.name, separator=separator, sheet=sheet,
        query=query_of(source) if source.suffix.lower() == QUERY else None, schema=f"./{SCHEMA}",
    )  # fmt: skip
    write_output(path, case_text(proposal, statement), [source])
    _write_schema(path.with_name(SCHEMA))
    return Written(path, proposal, statement)


def _write_schema(path: Path) -> None:
    """Write the schema that editors check the case by, unless something is there."""
    if not path.exists():
        write_output(path, json.dumps(case_schema(), ensure_ascii=False, indent=1) + "\n")


def _statement(proposal: Proposal, said: Said, *, ask: bool) -> Statement:
    """Return what was said, asked or guessed of a table."""
    guesses: dict[str, str] = {}

    def known(what: str, question: str, given: tuple[str, ...] | None, guess: Guess) -> tuple[str, ...]:
        """Return what was given, else what a person answers, else the guess, and note why it was guessed."""
        if given is not None:
            return given
        if ask:
            return _asked_names(question, guess.names)
        guesses[what] = guess.why
        return guess.names

    favourable = known(
        "favourable", f"Which of {', '.join(proposal.action.values)} benefit whoever is decided about?",
        said.favourable, favourable_actions(proposal),
    )  # fmt: skip
    check_values("action in --favourable:", favourable, proposal)
    order = "In which order are outcomes good, the best first?"
    best = known("best_first", order, said.best_first, outcomes_best_first(proposal))
    _check_order(best, proposal)
    logged = {name: f"{proposal.action.values[name]:.3f}" for name in favourable if name in proposal.action.values}
    scarce = said.scarce
    if not scarce and ask:
        scarce = _asked_budgets(proposal, logged)
    elif not scarce and _limiting(logged):
        scarce, guesses["scarce"] = _limiting(logged), "as many as in the log"
    check_values("action in --scarce:", tuple(scarce), proposal)
    shares = {name: _share(name, value) for name, value in scarce.items()}
    return Statement("", "", said.stakeholders, favourable, shares, best, guesses)


def _limiting(logged: Mapping[str, str]) -> dict[str, str]:
    """Return the shares that limit anything."""
    return {name: share for name, share in logged.items() if 0 < float(share) < 1}


def _check_order(best_first: Sequence[str], proposal: Proposal) -> None:
    """Refuse an order that does not name every outcome once."""
    known = tuple(proposal.outcome.values) if proposal.bounds is None else proposal.ends
    for name in best_first:
        if name not in known:
            raise UnknownNameError("outcome in --best-first:", name, known)
    if sorted(best_first) != sorted(known):
        raise InputError(f"--best-first is {', '.join(best_first)!r}; allowed: each of {', '.join(known)} once")


def print_new_case(written: Written) -> None:
    """Print what each column was taken for, what is open, and what to do next."""
    console, statement = PlainConsole(), written.statement
    for role in ("action", "outcome", "sensitive", "feature", "person", "time", "left out"):
        for column in written.proposal.columns:
            if column.role == role:
                console.print(f"{role:>10}  {column.name}  ({column.why})")
    console.print()
    for what, words, names in (
        ("favourable", "actions that benefit", ", ".join(statement.favourable) or "none"),
        ("best_first", "outcomes, the best first", ", ".join(statement.best_first)),
        ("scarce", "scarce", ", ".join(f"{name} for {share:.0%}" for name, share in (statement.scarce or {}).items())),
    ):
        if what in statement.guesses:
            console.print(f"guessed: {words}: {names} ({statement.guesses[what]})")
    if not statement.scarce:
        console.print("Nothing is said to be scarce: always taking the action that most like may win by itself.")
    console.print("Rewards are guesses, which every result says until you replace them; the scope card is open.")
    console.print(f"case: {written.path}, which runs as it is:")
    console.print(f"    accordant run {written.path}")


def _separator(file: Path) -> str:
    """Return what stands between columns: what the header holds most often."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            header = stream.readline(10**6)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    return max(SEPARATORS, key=header.count)


def _corrected(frame: pd.DataFrame, told: Told) -> Proposal:
    """Ask which columns are what, each with the guess as the answer that Enter gives; it keeps its reason then."""
    guessed = propose(frame, told)
    action = told.action or _asked("Which column holds the action that was taken?", guessed.action.name)
    outcome = told.outcome or _asked("Which column holds what followed?", guessed.outcome.name)
    if (action, outcome) != (guessed.action.name, guessed.outcome.name):
        told = replace(told, action=action, outcome=outcome)
        guessed = propose(frame, told)
    if told.sensitive is None:
        names = tuple(column.name for column in guessed.of("sensitive"))
        answer = _asked_names("Which columns make groups that are to be compared?", names)
        told = told if answer == names else replace(told, sensitive=answer)
        guessed = propose(frame, told)
    if told.features is None:
        names = tuple(column.name for column in guessed.of("feature"))
        answer = _asked_names("Which columns were known before, and may be used?", names)
        told = told if answer == names else replace(told, features=answer)
    return propose(frame, told)


def _asked(question: str, guess: str = "") -> str:
    answer: str = typer.prompt(plain(question), default=guess, err=True, show_default=bool(guess))
    return answer.strip()


def _asked_names(question: str, guess: Sequence[str]) -> tuple[str, ...]:
    """Ask for names; those that hold a comma cannot be typed, and are only in the guess."""
    shown = ", ".join(guess)
    answer = _asked(f"{question} (with commas between, or none)", shown or "none")
    if answer == shown:
        return tuple(guess)
    return () if answer.lower() in NOTHING else tuple(part.strip() for part in answer.split(",") if part.strip())


def _asked_budgets(proposal: Proposal, logged: Mapping[str, str]) -> dict[str, str]:
    shares = ", ".join(f"{name}={share:.2f}" for name, share in proposal.action.values.items())
    guess = ", ".join(f"{name}={share}" for name, share in _limiting(logged).items())
    answer = _asked(
        "What is scarce, and for which share of people is there enough? Without a limit, always taking what most like "
        f"wins by itself. As logged: {shares}",
        guess or "none",
    )
    if answer.lower() in NOTHING:
        return {}
    budgets = {}
    for part in filter(None, (part.strip() for part in answer.split(","))):
        name, equals, share = (piece.strip() for piece in part.rpartition("="))
        if not equals:
            raise InputError(
                f"{part!r} is no action with a share; allowed: ACTION=SHARE, such as {shares.split(',')[0]}"
            )
        budgets[name] = share
    return budgets


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
