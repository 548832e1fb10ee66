"""`HumanAgent`: a person at a terminal, or at any two streams."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeVar

from accordant.agents.agent import Agent, agents
from accordant.agents.concession import Concession, concession_of
from accordant.agents.moves import Answer, Ballot, Contestation, Move, Proposal, Reply
from accordant.agents.parameters import text, texts
from accordant.agents.people.entries import KINDS, WITH_REASON, read_accepted, read_proposal, read_ranking, read_reply
from accordant.agents.people.tables import candidates_table, scenario_table, standing_table
from accordant.agents.rules.replies import contradiction
from accordant.agents.view import View
from accordant.errors import InputError, InvalidMoveError

Ask = Callable[[str], str]
Tell = Callable[[str], None]
Read = TypeVar("Read")

QUIT = "q"


def ask_terminal(question: str) -> str:
    """Return a line from standard input; the question goes to standard error, which keeps standard output clean."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def tell_terminal(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{text}\n")


class HumanAgent(Agent):
    """Asks a person for every move; what is wrong is explained and asked again.

    Its stated utility comes from the order in which the person names patients, the most important first: of n
    patients the first named is worth 1, the next (n − 1)/n, and so on; who is not named is worth 0.

    Parameters
    ----------
    name
        Unique in a deliberation.
    facts
        Names of the facts that are shown; None for all.
    concession
        What settlement by bargaining takes for the person: a strategy, or the name of one.
    ask
        From a question to the line that was answered; `EOFError` at the end of the input.
    tell
        Shows a text.

    Raises
    ------
    InputError
        If the name is no text, the facts are no list, or the concession is no strategy.
    """

    kind: ClassVar[str] = "person"
    about = "A person: every move is asked for; utilities follow the order in which the person names patients."

    def __init__(
        self,
        name: str = "human",
        facts: tuple[str, ...] | None = None,
        concession: str | Concession = "linear",
        ask: Ask = ask_terminal,
        tell: Tell = tell_terminal,
    ) -> None:
        self.name, self.facts = text(name, "name"), None if facts is None else texts(facts, "facts")
        self.concession = concession_of(concession)
        self._ask, self._tell = ask, tell

    @property
    def generated_by(self) -> str:
        """``person``."""
        return "person"

    def act(self, view: View) -> Move:
        """Show the view, ask, and return the move.

        Raises
        ------
        InvalidMoveError
            If the person enters ``q``, or the input ends.
        """
        self._tell(scenario_table(view))
        if view.phase == "vote":
            self._tell(candidates_table(view))
            return Ballot(self._until("ranking, best first: ", partial(read_ranking, view)))
        if view.proposals:
            self._tell(standing_table(view))
        if view.phase == "contest":
            replies = tuple(self._reply(patient) for patient in view.disputed)
            return Contestation(replies, self._proposal(view, replies))
        if view.phase in ("answer", "offer"):
            question = f"accept the proposal of {' or '.join(sorted(view.others))}, or an empty line to counter: "
            return Answer(self._until(question, partial(read_accepted, view)), self._proposal(view))
        return self._proposal(view)

    def _proposal(self, view: View, replies: tuple[Reply, ...] = ()) -> Proposal:
        """Ask whom to grant what; who was conceded must not get the same share as before.

        Who was maintained may be dropped: answers were entered before, and an allocation that fits them may not exist.
        """
        conceded = [each.patient for each in replies if each.kind == "concede"]
        own = view.own

        def read(line: str) -> Proposal:
            """Return the proposal of a line."""
            found = read_proposal(view, line)
            for patient in conceded:
                wrong = None if own is None else contradiction(patient, "concede", own.allocation, found.allocation)
                if wrong is not None:
                    raise InputError(wrong)
            return found

        form = "ids, most important first" + (
            "; id resource=units for parts" if len(view.scenario.resources) > 1 else ""
        )
        return self._until(f"grant ({form}): ", read)

    def _reply(self, patient: str) -> Reply:
        """Ask for the answer on one disputed patient."""
        question = f"{patient}: {', '.join(KINDS[:-1])} or {KINDS[-1]} ({' and '.join(WITH_REASON)} with a reason): "
        return self._until(question, partial(read_reply, patient))

    def _until(self, question: str, read: Callable[[str], Read]) -> Read:
        """Ask until the answer can be read."""
        while True:
            try:
                line = self._ask(question).strip()
            except EOFError:
                raise InvalidMoveError("the input ended before the move was made") from None
            if line == QUIT:
                raise InvalidMoveError(f"the person left ({QUIT!r})")
            try:
                return read(line)
            except InputError as error:
                self._tell(f"{error}; {QUIT!r} leaves")


@agents.register("human")
def human_at_the_terminal(
    name: str = "human", facts: tuple[str, ...] | None = None, concession: str | Concession = "linear"
) -> HumanAgent:
    """Return a person at the terminal; other streams are for Python alone, see `HumanAgent`."""
    return HumanAgent(name, facts, concession)
