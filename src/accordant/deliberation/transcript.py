"""The transcript of ``accordant deliberate``, printed while it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from accordant.agents import Answer, Ballot, Contestation, Proposal, Reason, Turn
from accordant.allocations import Allocation
from accordant.deliberation.record import Deliberation
from accordant.terminal.escaping import PlainConsole

WIDTH = 140  # columns of what is piped somewhere
MOST_REASONS = 6  # of a proposal that the terminal shows; all are in the JSON and on the page
MOST_VOID = 6  # sentences on what is void in a turn that the terminal shows; all are in the JSON and on the page


class Teller:
    """Prints a transcript.

    Ballots are printed at the end, after the candidates that they rank: a turn does not hold these.

    Parameters
    ----------
    stream
        Where to; standard error if standard output carries JSON.
    unit
        What a step is called: ``round`` of a debate, or ``offer``.
    """

    def __init__(self, stream: TextIO, unit: str = "round") -> None:
        self._unit = unit
        self._console = PlainConsole(stream, width=WIDTH, soft_wrap=True)
        self._step = 0
        self._standing: dict[str, Allocation] = {}
        self._ballots: list[Turn] = []

    def opening(self, lines: Sequence[str]) -> None:
        """Print who deliberates about what."""
        for line in lines:
            self._console.print(line)

    def turn(self, turn: Turn) -> None:
        """Print one turn, or keep a ballot for the end."""
        if isinstance(turn.move, Ballot):
            self._ballots.append(turn)
            return
        self._begin(turn.step)
        self._console.print(f"  {_by(turn)} {self._headline(turn)}")
        for line in _details(turn):
            self._console.print(f"      {line}")
        for line in capped(list(dict.fromkeys(turn.void)), MOST_VOID):
            self._console.print(f"      void: {line}")

    def closing(self, held: Deliberation) -> None:
        """Print what no turn holds: proposals that were asked for again, and candidates with the ballots on them."""
        if held.struck:
            self._console.print()
            self._console.print("struck after round 2")
        for name, proposal in held.struck.items():
            self._console.print(f"  {name}, asked again without the protected facts, proposes {_granted(proposal)}")
        if not self._ballots:
            return
        self._begin(self._ballots[0].step)
        for number, candidate in enumerate(held.settled.details["candidates"], 1):
            self._console.print(f"  candidate {number}: {', '.join(candidate) or 'nobody'}")
        for turn in self._ballots:
            if isinstance(turn.move, Ballot):
                ranked = ", ".join(str(position + 1) for position in turn.move.ranking)
                self._console.print(f"  {_by(turn)} ranks the candidates {ranked}")

    def _begin(self, step: int) -> None:
        """Print the heading of a step once."""
        if step != self._step:
            self._step = step
            self._console.print()
            self._console.print(f"{self._unit} {step}")

    def _headline(self, turn: Turn) -> str:
        """Return what a turn does in a few words, and remember what the agent stands by."""
        move = turn.move
        if isinstance(move, Answer) and move.accepts is not None:
            return f"accepts the proposal of {move.accepts}"
        if isinstance(move, Answer):
            proposal = move.counter
        elif isinstance(move, Contestation):
            proposal = move.revised
        else:
            assert isinstance(move, Proposal)  # ballots are kept for the end
            proposal = move
        same = self._standing.get(turn.agent) == proposal.allocation
        self._standing[turn.agent] = proposal.allocation
        if isinstance(move, Contestation):
            return f"{'keeps' if same else 'revises to'} {_granted(proposal)}"
        if isinstance(move, Answer):
            return f"{'stands by' if same else 'offers'} {_granted(proposal)}"
        return f"proposes {_granted(proposal)}"


def capped(lines: Sequence[str], most: int) -> list[str]:
    """Return at most so many lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], f"and {more} more"] if more > 0 else list(lines)


def _by(turn: Turn) -> str:
    """Return who moved, and who wrote the texts where no template did."""
    by = "" if turn.generated_by == "template" else f" ({turn.generated_by})"
    return f"{turn.agent}{by}{' (a rule stood in)' if turn.fallback else ''}"


def _details(turn: Turn) -> list[str]:
    if isinstance(turn.move, Proposal):
        return _reasons(turn.move)
    if isinstance(turn.move, Contestation):
        replies = [
            f"{reply.kind} {reply.patient}" + ("" if reply.reason is None else f": {_said(reply.reason)}")
            for reply in turn.move.replies
        ]
        return [*replies, *_reasons(turn.move.revised)]
    return []


def _reasons(proposal: Proposal) -> list[str]:
    return capped([f"{each.patient}: {_said(each)}" for each in proposal.reasons], MOST_REASONS)


def _said(reason: Reason) -> str:
    cited = f" [{', '.join(reason.passages)}]" if reason.passages else ""
    return f"{reason.text or reason.code}{cited}"


def _granted(proposal: Proposal) -> str:
    return ", ".join(proposal.allocation.patients) or "nobody"
