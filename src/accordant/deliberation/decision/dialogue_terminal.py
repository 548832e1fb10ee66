"""What ``accordant deliberate RUN --protocol dialogue`` does and prints, and how a person asks at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from accordant.agents.people import Ask, Tell, ask_terminal, tell_terminal
from accordant.deliberation.decision.contrast import Contrast
from accordant.deliberation.decision.dialogue import PERSON, asking_in, because, dialogue_on_decision, move_words
from accordant.deliberation.decision.dialogue_result import DIALOGUE_DISCLAIMER, DecisionDialogue, HeldDialogue, Said
from accordant.deliberation.decision.opened_decision import OpenedDecision, open_decision, run_of
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.dialogue import Move, State
from accordant.deliberation.page import write_dialogue
from accordant.errors import InputError
from accordant.runs.chain import Link, add_section
from accordant.tables.output import is_standard_output
from accordant.terminal import PlainConsole, print_json


def conduct_dialogue(
    case: str, file: str | None, options: DecisionOptions, out: Path | None, *, run_seed: int | None, add: bool,
    json: bool,
) -> None:  # fmt: skip
    """Let stakeholders ask, tell it turn by turn, add the section to the run, and print and write what was found.

    Whatever can be refused is refused before the first line is printed. `case`, `run_seed`: see `run_of`.
    """
    run, options = run_of(case, file, options, out, run_seed=run_seed, add=add, json=json)
    opened = open_decision(run, sys.stdin if file == "-" else file, options)
    asking = asking_in(opened)
    if file == "-" and PERSON in asking.values():
        raise InputError("a person asks, and rows come from standard input; allowed: rows of a file or of the run")
    quiet = json or is_standard_output(out)
    teller = _Teller(sys.stderr if quiet else sys.stdout)
    teller.opening(opened)
    result = dialogue_on_decision(opened, person=person_at_the_terminal, watch=teller.dialogue)
    page = None if out is None else write_dialogue(result, out)
    link = add_section(run.manifest, result) if add else None
    if json:
        print_json(result.to_json())
    elif not quiet:
        _print_end(result, link, page)


class _Teller:
    """Prints dialogues as they end."""

    def __init__(self, stream: TextIO) -> None:
        self._console = PlainConsole(stream, soft_wrap=True)

    def opening(self, opened: OpenedDecision) -> None:
        """Print what is asked about."""
        self._console.print(
            f"{opened.run.case.title}: why this action; row {opened.options.rows[0]} of {opened.source}; "
            f"seed {opened.options.seed}"
        )

    def dialogue(self, held: HeldDialogue) -> None:
        """Print one dialogue turn by turn, and what came of it."""
        self._console.print()
        self._console.print(f"{held.who} asks ({held.policy})")
        for move in held.moves:
            for line in _lines(move):
                self._console.print(f"  {line}")
        known = f"knows {held.known_after} of {held.reasons} reasons, {held.known_before} before"
        ending = "" if held.understood else f" ({held.ending.replace('_', ' ')})"
        self._console.print(f"  {held.outcome}{ending}: {held.who} {known}")
        for reason in held.unknown:
            self._console.print(f"    not accepted or not known: {reason}")
        if held.would_change:
            self._console.print(f"  what would change it, for {held.who}:")
        for sentence in held.would_change:
            self._console.print(f"    {sentence}")


def _lines(move: Said) -> list[str]:
    """Return a move as lines: what is said, the premises, and what is given up."""
    return [
        f"{move.time} {move.speaker} {move.words}",
        *(f"    because {premise}" for premise in move.because),
        *(f"    and gives up: {reason}" for reason in move.gives_up),
    ]


def _print_end(content: DecisionDialogue, link: Link | None, page: Path | None) -> None:
    console = PlainConsole(soft_wrap=True)
    console.print()
    console.print(f"why {content.row.settled} (D*, {content.run.selected}): {content.outcome}")
    if content.would_change:
        console.print("\nwhat would change it:")
    for sentence in content.would_change:
        console.print(f"  {sentence}")
    print_closing(console, content.warnings, (DIALOGUE_DISCLAIMER,), link, page)


def print_closing(
    console: PlainConsole, warnings: Sequence[str], lines: Sequence[str], link: Link | None, page: Path | None
) -> None:
    """Print what to mind, some last lines, what was added to the run, and where the page is."""
    if warnings:
        console.print("\nmind:")
    for warning in warnings:
        console.print(f"- {warning}")
    console.print()
    for line in lines:
        console.print(line)
    if link is not None:
        console.print(link.receipt)
    if page is not None:
        console.print(f"page: {page}")


def person_at_the_terminal(
    about: Contrast, ask: Ask = ask_terminal, tell: Tell = tell_terminal
) -> Callable[[State, tuple[Move, ...]], Move | None]:
    """Return the policy that shows what was said and asks a person for each move of a stakeholder.

    Parameters
    ----------
    about
        What the dialogue is about.
    ask, tell
        From a question to the line that was answered, and what shows a line; standard input and error.
    """

    def human(state: State, legal: tuple[Move, ...]) -> Move | None:
        """Ask for the number of a move; an empty line leaves the turn out."""
        if state.moves:
            last = state.moves[-1]
            answered = last.speaker == "explainer"
            tell(f"{about.rule} {move_words(about, last) if answered else 'says nothing'}")
            for line in because(about, last) if answered else ():
                tell(f"    because {line}")
        choices: dict[str, Move] = {}  # two moves with the same words differ in the move that they reply to: the first
        for move in legal:
            reasons = "; ".join(because(about, move))
            choices.setdefault(f"{move_words(about, move)}{f', because {reasons}' if reasons else ''}", move)
        for number, said in enumerate(choices, 1):
            tell(f"  {number} {said}")
        place = _number(about.who, len(choices), ask, tell)
        return list(choices.values())[place - 1] if place else None

    return human


def _number(who: str, most: int, ask: Ask, tell: Tell) -> int:
    """Return the number that a person enters, 0 for an empty line."""
    while True:
        try:
            line = ask(f"{who}, number of your move, or an empty line to say nothing: ").strip()
        except EOFError:
            raise InputError("the input ended before the dialogue; allowed: numbers of moves, empty lines") from None
        if not line:
            return 0
        if line.isdecimal() and 1 <= int(line[:9]) <= most:
            return int(line[:9])
        tell(f"{line!r:.40} is no move; allowed: 1 to {most}, or an empty line")
