"""Arguments: smallest consistent sets of formulas that derive a literal, all of them, and which attacks which.

[standard] An argument ⟨Φ, φ⟩ is a consistent, subset-minimal Φ that derives φ (Besnard and Hunter 2001, here for
definite rules). [ours] The search: in a minimal Φ every derived literal is the head of exactly one formula, and every
formula is needed. So minimal arguments are the ways to choose one formula for each needed literal without a circle.
The search chooses literal by literal and goes on only while the goal can still be reached; without inconsistencies
there are no dead ends, and the time between two arguments is polynomial. Their number can be exponential.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from typing import Literal as OneOf

from accordant.deliberation.dialogue.knowledge import Formula, Literal, derivations, in_order, is_consistent, used
from accordant.errors import InputError

LIMIT = 200  # arguments for one literal: more than anybody reads, and few enough to list before each move
BRANCHES_PER_ARGUMENT = 50  # choices tried per argument of the limit: a stop for searches among inconsistent formulas


@dataclass(frozen=True)
class Argument:
    """Premises that derive a conclusion, consistent, and none of them to spare.

    Parameters
    ----------
    premises
        Facts and rules; kept in text order.
    conclusion
        What they derive.

    Raises
    ------
    InputError
        If the premises do not derive the conclusion, are inconsistent, or one of them is not needed.
    """

    premises: tuple[Formula, ...]
    conclusion: Literal

    def __post_init__(self) -> None:
        object.__setattr__(self, "premises", in_order(self.premises))
        origins = derivations(self.premises)
        if self.conclusion not in origins:
            raise InputError(f"{self}: the premises do not derive {self.conclusion}")
        if not is_consistent(self.premises):
            raise InputError(f"{self}: the premises are inconsistent")
        spare = self.held - used(origins, self.conclusion)
        if spare:
            raise InputError(f"{self}: not needed: {', '.join(map(str, in_order(spare)))}")

    @cached_property
    def held(self) -> frozenset[Formula]:
        """The premises, as a set."""
        return frozenset(self.premises)

    @cached_property
    def said(self) -> frozenset[Formula]:
        """Premises and conclusion: what putting the argument forward commits to."""
        return self.held | {self.conclusion}

    @property
    def facts(self) -> tuple[Literal, ...]:
        """The premises that are literals."""
        return tuple(premise for premise in self.premises if isinstance(premise, Literal))

    def attack_on(self, other: Argument) -> OneOf["rebut", "undercut"] | None:
        """Return how this argument attacks another: ``rebut`` its conclusion, ``undercut`` a premise, or None."""
        opposed = self.conclusion.complement
        if opposed == other.conclusion:
            return "rebut"
        return "undercut" if opposed in other.held else None

    def to_json(self) -> dict[str, Any]:
        """Return premises and conclusion as text."""
        return {"premises": [str(premise) for premise in self.premises], "conclusion": str(self.conclusion)}

    def __str__(self) -> str:
        return f"{self.conclusion} because {', '.join(map(str, self.premises))}"


@dataclass(frozen=True)
class Arguments:
    """The arguments for a literal.

    Attributes
    ----------
    found
        Few premises first, then by text.
    truncated
        Whether the search stopped at its limit, so that there may be more.
    """

    found: tuple[Argument, ...]
    truncated: bool


def arguments_for(formulas: Iterable[Formula], goal: Literal, *, limit: int = LIMIT) -> Arguments:
    """Return all arguments for a literal, up to a limit.

    Parameters
    ----------
    formulas
        Facts and rules; they may be inconsistent together.
    goal
        The conclusion.
    limit
        Most arguments returned, at least 1; at most 50 times as many choices are tried.

    Raises
    ------
    InputError
        If the limit is below 1.
    """
    if limit < 1:
        raise InputError(f"limit is {limit}; allowed: at least 1")
    search = _Search(in_order(formulas), goal)
    pending: list[dict[Literal, Formula | None]] = [{goal: None}] if goal in search.derivable else []
    arguments: list[Argument] = []
    tried = 0
    while pending and len(arguments) < limit and tried < limit * BRANCHES_PER_ARGUMENT:
        chosen = pending.pop()
        tried += 1
        children = search.grown(chosen)
        if children is None:
            arguments.append(Argument(tuple(formula for formula in chosen.values() if formula is not None), goal))
        else:
            pending.extend(reversed(children))
    return Arguments(tuple(sorted(arguments, key=by_size)), bool(pending))


def by_size(argument: Argument) -> tuple[int, str]:
    """Order arguments for a literal: few premises first, then by text."""
    return len(argument.premises), str(argument)


class _Search:
    """Ways to choose one formula for each needed literal.

    `formulas`: in text order; `goal`: the conclusion.
    """

    def __init__(self, formulas: tuple[Formula, ...], goal: Literal) -> None:
        self.goal = goal
        self.derivable = frozenset(derivations(formulas))
        self.by_head: dict[Literal, list[Formula]] = {}
        for formula in sorted(formulas, key=lambda formula: len(formula.body) > 0):  # facts before rules
            if self.derivable.issuperset(formula.body):
                self.by_head.setdefault(formula.head, []).append(formula)

    def grown(self, chosen: dict[Literal, Formula | None]) -> list[dict[Literal, Formula | None]] | None:
        """Choose where there is no choice, then branch; None if nothing is left to choose.

        `chosen`: needed literal to the formula that gives it, None if not chosen yet; completed in place.
        """
        agenda = [literal for literal, formula in chosen.items() if formula is None]
        while agenda:
            literal = agenda.pop()
            candidates = self.by_head[literal]
            if len(candidates) > 1:
                branches = [(dict(chosen), candidate) for candidate in candidates]
                return [
                    branch for branch, formula in branches if _taken(branch, literal, formula) and self.reaches(branch)
                ]
            agenda.extend(condition for condition in candidates[0].body if condition not in chosen)
            if not _taken(chosen, literal, candidates[0]):
                return []
        return None

    def reaches(self, chosen: dict[Literal, Formula | None]) -> bool:
        """Return whether the goal still follows if chosen literals come from their chosen formula alone."""
        allowed: list[Formula] = []
        for literal, candidates in self.by_head.items():
            only = chosen.get(literal)
            allowed.extend(candidates if only is None else [only])
        return self.goal in derivations(allowed)


def _taken(chosen: dict[Literal, Formula | None], literal: Literal, formula: Formula) -> bool:
    """Choose a formula for a literal and note what it needs; False if two needed literals exclude each other."""
    chosen[literal] = formula
    for condition in formula.body:
        chosen.setdefault(condition, None)
    return not any(condition.complement in chosen for condition in formula.body)
