"""`accordant vote`: count the ballots of a file by several rules; a file with a budget is spent (`budgeting`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer

from accordant.cli.budget_vote import SUFFIX, print_spent, spent_file
from accordant.errors import InputError, UnknownNameError
from accordant.strategies import Strategy, strategies
from accordant.terminal.output import print_records
from accordant.voting import Profile, read_preflib
from accordant.voting.rules.rule import Counted, VotingRule
from accordant.voting.rules.tally import tally_of_profile

ALL = "all"


def count(file: Path, rules: str) -> dict[str, Any]:
    """Count the ballots of a file by voting rules, or spend its budget if it is one of Pabulib.

    Raises
    ------
    InputError
        If the file cannot be read, or a rule is unknown or cannot be applied.
    """
    return spent_file(file, rules) if file.suffix.casefold() == SUFFIX else counted_file(file, rules)


def counted_file(file: Path, rules: str) -> dict[str, Any]:
    """Count the ballots of a file; the result is what ``vote --json`` prints.

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
        "rules": {name: _as_json(found) for name, found in counted.items()},
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
    typer.echo(f"{result['file']}: {result['votes']} votes on {len(result['alternatives'])} alternatives")
    winner = result["condorcet_winner"]
    typer.echo(f"Condorcet winner: {winner or 'none, nobody beats every other alternative'}\n")
    rows = [_row(name, found) for name, found in result["rules"].items()]
    if rows:
        print_records("Count", rows, as_json=False)
    for name, reason in result["left_out"].items():
        typer.echo(f"left out: {name}, {reason}")


def write_count(result: dict[str, Any], path: Path) -> None:
    """Write the result as JSON.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    try:
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"the count cannot be written to {path}: {error.strerror}") from None


def _row(name: str, found: dict[str, Any]) -> dict[str, str]:
    tied = " (tie)" if len(found["winners"]) > 1 else ""
    if "lottery" in found:
        ranking = ", ".join(f"{each} {share:.1%}" for each, share in found["lottery"].items() if share > 0)
    else:
        ranking = " > ".join(" = ".join(tier) for tier in found["ranking"])
    return {"rule": name, "winner": " = ".join(found["winners"]) + tied, "ranking": ranking}


def _as_json(counted: Counted) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "winners": list(counted.winners()),
        "ranking": [list(tier) for tier in counted.ranking()],
    }
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
