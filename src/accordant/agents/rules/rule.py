"""`RuleAgent`: proposes, contests, answers and votes by a utility and a concession strategy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.agent import Agent, View, agents
from accordant.agents.concession import Concession, concession_of
from accordant.agents.frameworks import Grounds
from accordant.agents.moves import WITH_REASON, Answer, Ballot, Contestation, Move, Proposal, Reason, Reply
from accordant.agents.parameters import text
from accordant.agents.rules.outlook import Outlook, stand, tied
from accordant.allocations import AdditiveUtility, Allocation, Scenario, Utility
from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError


class RuleAgent(Agent):
    """An agent whose moves follow from its utility; it keeps no state, and texts are templates over numbers and ids.

    - ``propose``: the allocation that it likes best, hard constraints first.
    - ``contest``: an answer on each disputed claimant, and the allocation nearest to the others' among those that its
      concession strategy still lets it like.
    - ``answer``: accept what is worth at least its own standing proposal and no agreement; otherwise stand by that.
    - ``offer``: accept what is worth at least its own next offer (ACNext, Baarslag et al. 2013) and no agreement;
      otherwise offer the allocation that it likes least among those that its concession strategy lets it like.
    - ``vote``: candidates by utility.

    Nothing is accepted for being late alone: ACTime of the same authors is not built. Towards the deadline an agent
    accepts more because its concession strategy lowers what it would offer next; one that never concedes never does.

    Parameters
    ----------
    name
        Unique in a deliberation.
    concession
        A strategy, or the name of one.

    Raises
    ------
    InputError
        If the name is no text, or the concession no strategy.
    """

    def __init__(self, name: str, concession: str | Concession) -> None:
        self.name = text(name, "name")
        self.concession = concession_of(concession)

    @abstractmethod
    def utility(self, view: View) -> Utility:
        """Return how much it likes allocations."""

    @abstractmethod
    def grounds(self, view: View, claimant: int) -> Grounds:
        """Return what speaks for the claimant at a position."""

    def violations(self, view: View, shares: Values) -> NDArray[np.int64]:
        """Return how many of its hard constraints allocations break, shape (option,), from shares of that length."""
        del view
        return np.zeros(len(shares), dtype=np.int64)

    def citations(self, code: str) -> tuple[str, ...]:
        """Return ids of the passages for the reasons of a code; none by default."""
        del code
        return ()

    def act(self, view: View) -> Move:
        """Return the move that the phase asks for."""
        utility = self.utility(view)
        if view.phase == "vote":
            return self._ballot(view, utility)
        outlook = Outlook.of(view, utility, lambda shares: self.violations(view, shares))
        case = Case(self, view, utility)
        if view.phase == "contest":
            return self._contestation(outlook, case)
        if view.phase == "answer" and view.own is not None:
            return self._answer(outlook, case, view.own.allocation)
        if view.phase in ("answer", "offer"):
            others = [proposal.allocation for _, proposal in sorted(view.others.items())]
            lowest = outlook.lowest(self.concession.target(outlook.progress()), others)
            return self._answer(outlook, case, outlook.options.allocation(lowest))
        return case.proposal(outlook.options.allocation(outlook.best()))

    def _contestation(self, outlook: Outlook, case: Case) -> Contestation:
        """Answer on each disputed claimant, and move towards the others."""
        view = outlook.view
        offers = [proposal.allocation for proposal in view.others.values()]
        revised = outlook.nearest(self.concession.target(outlook.progress()), offers)
        before = outlook.options.shares[outlook.best()] if view.own is None else view.own.allocation.shares
        others = np.array([offer.shares for offer in offers]).reshape(len(offers), len(view.scenario.ids))
        after = outlook.options.shares[revised]
        replies = tuple(case.reply(claimant, before, after, others) for claimant in view.disputed)
        return Contestation(replies, case.proposal(outlook.options.allocation(revised)))

    def _answer(self, outlook: Outlook, case: Case, own: Allocation) -> Answer:
        """Accept the best of the others' proposals that is worth one's own, or counter with that."""
        others = {name: proposal.allocation for name, proposal in sorted(outlook.view.others.items())}
        enough = max(outlook.utility(own), outlook.reservation)
        worth = {
            name: outlook.utility(allocation) for name, allocation in others.items() if outlook.allowed(allocation)
        }
        good = [name for name, value in worth.items() if value >= enough]
        accepted = max(good, key=lambda name: worth[name], default=None)
        return Answer(accepted, case.proposal(own))

    def _ballot(self, view: View, utility: Utility) -> Ballot:
        """Rank the candidates: fewest hard constraints broken, then own utility, then their order."""
        if not view.candidates:
            return Ballot(())
        shares = np.stack([candidate.shares for candidate in view.candidates])
        order = np.lexsort((-tied(utility.of(shares)), self.violations(view, shares)))
        return Ballot(tuple(order.tolist()))


@dataclass(frozen=True, eq=False)
class Case:
    """What an agent has to say for allocations: reasons as templates over numbers and passage ids."""

    agent: RuleAgent
    view: View
    utility: Utility

    @cached_property
    def values(self) -> Values:
        """What granting each claimant alone adds to the utility, shape (claimant,), see `tied`."""
        n = len(self.view.scenario.ids)
        alone = self.utility.of(np.concatenate([np.eye(n), np.zeros((1, n))]))
        return tied(alone[:n] - alone[n])

    def rank(self, claimant: int) -> str:
        """Return the place of a claimant by value, such as ``rank 2 of 12``."""
        return f"rank {1 + int((self.values > self.values[claimant]).sum())} of {len(self.values)}"

    def proposal(self, allocation: Allocation) -> Proposal:
        """Return an allocation as a proposal, with a reason for each claimant who is granted anything.

        Replies argue for claimants who are granted something, so their passages are among those of the proposal.
        """
        granted = np.flatnonzero(allocation.granted.sum(axis=1)).tolist()
        reasons = tuple(self._reason(claimant) for claimant in granted)
        retrieved = dict.fromkeys(passage for reason in reasons for passage in reason.passages)
        return Proposal(allocation, self.utility, reasons, tuple(retrieved))

    def _reason(self, claimant: int) -> Reason:
        """Return what speaks for a claimant."""
        grounds = self.agent.grounds(self.view, claimant)
        cited = self.agent.citations(grounds.code)
        text = f"{grounds.text}: {self.rank(claimant)}"
        return Reason(self.view.scenario.ids[claimant], grounds.code, grounds.facts, cited, text)

    def reply(self, name: str, before: Values, after: Values, others: Values) -> Reply:
        """Return the answer on one disputed claimant."""
        claimant = self.view.scenario.index(name)
        taken = stand(claimant, self.values, before, after, others)
        if taken.kind not in WITH_REASON:
            return Reply(name, taken.kind)
        return Reply(name, taken.kind, self._comparison(claimant, taken.kind == "challenge", taken.against))

    def _comparison(self, claimant: int, challenged: bool, against: int | None) -> Reason:
        """Return a reason that puts the numbers of two claimants side by side, and cites what is read of both."""
        first, second = (against, claimant) if challenged and against is not None else (claimant, against)
        grounds = self.agent.grounds(self.view, first)
        text, facts = self._side(first, grounds), grounds.facts
        if second is not None:
            other = self.agent.grounds(self.view, second)
            text += f"; {self._side(second, other)}"
            facts = tuple(dict.fromkeys((*facts, *other.facts)))
        cited = self.agent.citations(grounds.code)
        return Reason(self.view.scenario.ids[claimant], grounds.code, facts, cited, text)

    def _side(self, claimant: int, grounds: Grounds) -> str:
        """Return the numbers of one claimant."""
        return f"{self.view.scenario.ids[claimant]}: {grounds.text}, {self.rank(claimant)}"


def stated_utility(scenario: Scenario, values: Mapping[str, float]) -> AdditiveUtility:
    """Return the utility of stated values; who is not named is worth 0.

    Raises UnknownNameError if a claimant who is named does not exist.
    """
    for claimant in values:
        if claimant not in scenario.ids:
            raise UnknownNameError(scenario.noun, claimant, scenario.ids)
    return AdditiveUtility(np.array([values.get(claimant, 0.0) for claimant in scenario.ids], dtype=np.float64))


@agents.register("utility")
class UtilityAgent(RuleAgent):
    """A rule agent with stated values; it is shown no facts.

    Parameters
    ----------
    name
        Unique in a deliberation.
    values
        Claimant to the worth of meeting the whole demand; who is not named is worth 0.
    concession
        A strategy, or the name of one.

    Raises
    ------
    InputError
        If the values are no mapping, or one is not a finite number.
    """

    about = "Rule agent, no language model: follows stated values of patients; its texts are templates over numbers."

    def __init__(self, name: str, values: Mapping[str, float], concession: str | Concession = "linear") -> None:
        super().__init__(name, concession)
        self.facts = ()
        if not isinstance(values, Mapping):
            raise InputError(f"values is {values!r:.60}; allowed: patients with what each is worth")
        for claimant, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise InputError(f"the stated value of patient {claimant!r} is {value!r}; allowed: a finite number")
        self.values = dict(values)

    def utility(self, view: View) -> AdditiveUtility:
        """Return the stated values as a utility."""
        return stated_utility(view.scenario, self.values)

    def grounds(self, view: View, claimant: int) -> Grounds:
        """Return the stated value."""
        return Grounds("stated", (), f"stated value {self.values.get(view.scenario.ids[claimant], 0.0):g}")

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with its values."""
        return super().to_json() | {"values": dict(sorted(self.values.items()))}
