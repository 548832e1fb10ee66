"""`Ranking`: the order in which one voter puts items for one user, with scores and reasons where there are any."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.errors import InputError


@dataclass(frozen=True)
class Ranking:
    """What a voter says about items for one user.

    Attributes
    ----------
    voter
        Who says it.
    order
        Items, best first; those left out are below all others and tied.
    scores
        One finite number per item of `order`, never rising; empty if the voter gave an order alone.
    reasons
        One text per item of `order`, or empty. Nothing reads them but people.
    generated_by
        ``rule``, ``model NAME`` or ``person``.
    fallback
        Whether a rule stood in for a language model that gave no valid order.
    """

    voter: str
    order: tuple[str, ...]
    scores: tuple[float, ...] = ()
    reasons: tuple[str, ...] = ()
    generated_by: str = "rule"
    fallback: bool = False

    def __post_init__(self) -> None:
        if len(set(self.order)) < len(self.order):
            raise InputError(f"the order of {self.voter!r} names an item twice")
        for name in ("scores", "reasons"):
            given = getattr(self, name)
            if given and len(given) != len(self.order):
                raise InputError(f"{self.voter!r} gives {len(given)} {name} for {len(self.order)} items")
        if any(not after <= before for before, after in zip(self.scores, self.scores[1:], strict=False)):
            raise InputError(f"scores of {self.voter!r} rise along the order, or one is no number")
