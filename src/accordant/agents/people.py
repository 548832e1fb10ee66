"""People: an agent that shows the view at a terminal and asks for the move."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar, get_args

from accordant.agents.agent import Agent, View, agents
from accordant.agents.concession import Concession, concession_of
from accordant.agents.frameworks.framework import fact_text
from accordant.agents.moves import WITH_REASON, Answer, Answering, Ballot, Contestation, Move, Proposal, Reason, Reply
from accordant.agents.parameters import text, texts
from accordant.agents.rules.outlook import contradiction
from accordant.agents.rules.rule import stated_utility
from accordant.allocations import Allocation
from accordant.errors import InputError, InvalidMoveError, UnknownNameError
from accordant.naming import plain_lines
from accordant.tables.text import finite_number, read_line

KINDS: tuple[Answering, ...] = get_args(Answering)


def read_proposal(view: View, line: str) -> Proposal:
    """Return the proposal that a line stands for.

    Ids of claimants, the most important first. An id alone grants the whole demand; ``resource=units`` after it grants
    that much of that resource and nothing of those not named. Of n claimants the first named is worth 1, the next
    (n − 1)/n, and so on; who is not named is worth 0.

    Raises InputError if the line cannot be read or the allocation is not feasible.
    """
    granted: dict[str, dict[str, float]] = {}
    for word in line.replace(",", " ").split():
        name, equals, units = word.partition("=")
        if equals and not granted:
            noun = view.scenario.noun
            raise InputError(f"{word!r} comes before any {noun}; allowed: the id of one, then resource=units")
        if equals:
            granted[next(reversed(granted))][name] = _number(units, word)
        elif name in granted:
            raise InputError(f"{view.scenario.noun} {name!r} is named twice")
        else:
            view.scenario.index(name)
            granted[name] = {}
    named = {name: units or _demand(view, name) for name, units in granted.items()}
    allocation = Allocation.of(view.scenario, named)
    n = len(view.scenario.ids)
    utility = stated_utility(view.scenario, {name: (n - place) / n for place, name in enumerate(granted)})
    reasons = [
        Reason(name, "stated", text=f"named in place {place} of {len(granted)}")
        for place, name in enumerate(granted, start=1)
        if name in allocation.claimants
    ]
    return Proposal(allocation, utility, tuple(reasons))


def read_reply(claimant: str, line: str) -> Reply:
    """Return the reply on a disputed claimant: its kind, and the text of a reason behind it.

    Raises InputError if there is no such kind, or a reason is missing.
    """
    word, _, text = line.partition(" ")
    kind = next((known for known in KINDS if known == word), None)
    if kind is None:
        raise UnknownNameError("answer", word, KINDS)
    if text.strip():
        return Reply(claimant, kind, Reason(claimant, "stated", text=text.strip()))
    if kind in WITH_REASON:
        raise InputError(f"{kind!r} needs a reason behind it, such as: {kind} waits the longest")
    return Reply(claimant, kind)


def read_accepted(view: View, line: str) -> str | None:
    """Return whose proposal is accepted; None for an empty line, which counters.

    Raises UnknownNameError if nobody of that name has a proposal.
    """
    if not line:
        return None
    if line not in view.others:
        raise UnknownNameError("agent", line, sorted(view.others))
    return line


def read_ranking(view: View, line: str) -> tuple[int, ...]:
    """Return positions of candidates, best first, from their numbers, which start at 1.

    Raises InputError if not every number is there exactly once.
    """
    words = line.replace(",", " ").split()
    n = len(view.candidates)
    if sorted(words) != sorted(str(number) for number in range(1, n + 1)):
        raise InputError(f"ranking is {line!r}; allowed: each number from 1 to {n} once")
    return tuple(int(word) - 1 for word in words)


def _demand(view: View, claimant: str) -> dict[str, float]:
    """Return the units that a claimant demands of each resource."""
    portions = view.scenario.demand[view.scenario.index(claimant)]
    return {
        resource.name: float(n * resource.portion)
        for resource, n in zip(view.scenario.resources, portions, strict=True)
    }


def _number(units: str, word: str) -> float:
    """Return a number of units, or say in which word it is none."""
    number = finite_number(units)
    if number is None:
        raise InputError(f"{word!r} grants {units!r} units; allowed: a number")
    return number


NOTE = 60  # characters of a text that are shown in a cell


def scenario_table(view: View) -> str:
    """Return who asks, the resources with their capacity, and the claimants with the facts that may be seen."""
    scenario = view.scenario
    resources = "; ".join(f"{resource.name}: {resource.capacity:g} units" for resource in scenario.resources)
    rows = [[scenario.noun, *scenario.facts, *(f"needs {resource.name}" for resource in scenario.resources)]]
    for claimant, portions in zip(scenario.claimants, scenario.demand.tolist(), strict=True):
        needs = [f"{n * resource.portion:g}" for n, resource in zip(portions, scenario.resources, strict=True)]
        rows.append([claimant.id, *(_cell(fact_text(claimant.facts[name])) for name in scenario.facts), *needs])
    return f"{view.agent}: {view.phase}, step {view.step}. {resources}\n{_aligned(rows)}"


def standing_table(view: View) -> str:
    """Return the standing proposals, with the disputed claimants marked by a star."""
    names = sorted(view.proposals)
    shares = {name: view.proposals[name].allocation.shares for name in names}
    rows = [[view.scenario.noun, *names, "disputed"]]
    for place, claimant in enumerate(view.scenario.ids):
        rows.append([claimant, *(f"{shares[name][place]:.0%}" for name in names), "*" * (claimant in view.disputed)])
    return f"standing proposals, share of the demand that is met\n{_aligned(rows)}"


def candidates_table(view: View) -> str:
    """Return the candidates of a vote, numbered from 1."""
    rows = [[f"{number}", _granted(candidate)] for number, candidate in enumerate(view.candidates, start=1)]
    return f"candidates\n{_aligned(rows)}"


def _granted(allocation: Allocation) -> str:
    """Return who gets what in one line."""
    units = allocation.to_json().items()
    return ", ".join(f"{claimant} ({' '.join(f'{r}={n:g}' for r, n in grants.items())})" for claimant, grants in units)


def _cell(text: str) -> str:
    """Return a text of unknown origin in one short line without control characters."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line if len(line) <= NOTE else f"{line[: NOTE - 1]}…"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


Ask = Callable[[str], str]
Tell = Callable[[str], None]
Read = TypeVar("Read")

QUIT = "q"


def ask_terminal(question: str) -> str:
    """Return a line from standard input; the question goes to standard error, which keeps standard output clean."""
    sys.stderr.write(plain_lines(question))
    sys.stderr.flush()
    line = read_line(sys.stdin, "standard input")
    if not line:
        raise EOFError
    return line


def tell_terminal(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{plain_lines(text)}\n")


class HumanAgent(Agent):
    """Asks a person for every move; what is wrong is explained and asked again.

    Its stated utility comes from the order in which the person names claimants, the most important first: of n
    claimants the first named is worth 1, the next (n − 1)/n, and so on; who is not named is worth 0.

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

    Raises InputError if the name is no text, the facts are no list, or the concession is no strategy.
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

        Raises InvalidMoveError if the person enters ``q``, or the input ends.
        """
        self._tell(scenario_table(view))
        if view.phase == "vote":
            self._tell(candidates_table(view))
            return Ballot(self._until("ranking, best first: ", partial(read_ranking, view)))
        if view.proposals:
            self._tell(standing_table(view))
        if view.phase == "contest":
            replies = tuple(self._reply(claimant) for claimant in view.disputed)
            return Contestation(replies, self._proposal(view, replies))
        if view.phase in ("answer", "offer"):
            question = f"accept the proposal of {' or '.join(sorted(view.others))}, or an empty line to counter: "
            return Answer(self._until(question, partial(read_accepted, view)), self._proposal(view))
        return self._proposal(view)

    def _proposal(self, view: View, replies: tuple[Reply, ...] = ()) -> Proposal:
        """Ask whom to grant what; who was conceded must not get the same share as before.

        Who was maintained may be dropped: answers were entered before, and an allocation that fits them may not exist.
        """
        conceded = [reply.patient for reply in replies if reply.kind == "concede"]
        own = view.own

        def read(line: str) -> Proposal:
            """Return the proposal of a line."""
            proposal = read_proposal(view, line)
            for claimant in conceded:
                wrong = None if own is None else contradiction(claimant, "concede", own.allocation, proposal.allocation)
                if wrong is not None:
                    raise InputError(wrong)
            return proposal

        form = "ids, most important first" + (
            "; id resource=units for parts" if len(view.scenario.resources) > 1 else ""
        )
        return self._until(f"grant ({form}): ", read)

    def _reply(self, claimant: str) -> Reply:
        """Ask for the answer on one disputed claimant."""
        question = f"{claimant}: {', '.join(KINDS[:-1])} or {KINDS[-1]} ({' and '.join(WITH_REASON)} with a reason): "
        return self._until(question, partial(read_reply, claimant))

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
