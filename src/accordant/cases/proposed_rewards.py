"""What a table seems to say of good and bad, so that a first case runs at once; people have to say it themselves.

With g_o, the place of an outcome between the worst, 0, and the best, 1, a stakeholder who is affected gets
0.2 [a favourable] + 0.8 g_o, and whoever decides, and pays for it, 0.3 [a not favourable] + 0.7 g_o; without favourable
actions both get g_o. The numbers are ours and mean nothing: they make a conflict to look at until somebody is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accordant.cases.proposal import Proposal, words_of

FAVOURABLE_WORDS = frozenset({
    "grant", "granted", "offer", "offered", "approve", "approved", "admit", "admitted", "accept", "accepted", "treat",
    "treated", "treatment", "support", "supported", "scholarship", "give", "given", "yes", "true", "1", "trial", "help",
    "intervention", "tutoring", "allocated", "assigned", "funded", "hire", "hired", "release", "released",
})  # fmt: skip
NEGATIONS = frozenset({
    "no", "not", "none", "non", "never", "without", "un", "0", "false", "reject", "rejected", "refuse", "refused",
    "deny", "denied", "wait", "control", "nothing",
})  # fmt: skip
GOOD_WORDS = frozenset({
    "good", "graduate", "graduated", "success", "successful", "repaid", "paid", "yes", "true", "pass", "passed",
    "complete", "completed", "survived", "alive", "well", "healthy", "finished", "employed", "improved", "recovered",
    "distinction", "high", "1",
})  # fmt: skip
BAD_WORDS = frozenset({
    "bad", "dropout", "fail", "failed", "failure", "default", "defaulted", "charged", "no", "false", "died", "dead",
    "death", "unwell", "sick", "ill", "left", "withdrawn", "withdrew", "late", "recidivism", "recid", "readmitted",
    "unemployed", "worse", "low", "loss", "error", "0", "drop", "out",
})  # fmt: skip
FAVOURED, PAID = 0.2, 0.3  # what a favourable action itself gives, and what not taking it saves


@dataclass(frozen=True)
class Guess:
    """Names, and why they were guessed.

    Attributes
    ----------
    names
        Of actions or outcomes.
    why
        As a phrase.
    """

    names: tuple[str, ...]
    why: str


def favourable_actions(proposal: Proposal) -> Guess:
    """Guess which actions benefit whoever is decided about; none if no name says so."""
    names = tuple(proposal.action.values)
    against = [name for name in names if words_of(name) & NEGATIONS]
    favourable = tuple(name for name in names if name not in against and words_of(name) & FAVOURABLE_WORDS)
    if favourable:
        return Guess(favourable, "by name")
    rest = tuple(name for name in names if name not in against)
    if len(names) == 2 and len(rest) == 1:
        return Guess(rest, f"as the other is {against[0]}")
    return Guess((), "no name says so")


def outcomes_best_first(proposal: Proposal) -> Guess:
    """Guess the order of outcomes, the best first; of numbers, the largest unless the name of the column is bad."""
    values = tuple(proposal.outcome.values)
    turned = -1 if words_of(proposal.outcome.name) & BAD_WORDS else 1
    if proposal.bounds is not None:
        ends = proposal.ends
        return Guess(ends if turned < 0 else ends[::-1], "more is taken to be better" if turned > 0 else "by name")
    try:
        numbers = {name: float(name) for name in values}
    except ValueError:
        scores = {name: _goodness(name) for name in values}
        if len(set(scores.values())) == 1:
            return Guess(values, "the commonest first, as no name says more")
        return Guess(tuple(sorted(values, key=lambda name: -scores[name])), "by name")
    return Guess(tuple(sorted(values, key=lambda name: -turned * numbers[name])), "as numbers")


def guessed_rewards(
    actions: Sequence[str], best_first: Sequence[str], favourable: Sequence[str], *, deciding: bool
) -> Mapping[str, Mapping[str, float]]:
    """Return action to outcome to a reward in [0, 1], see the formula above.

    Parameters
    ----------
    actions, best_first
        All actions; outcomes, the best first.
    favourable
        Actions that benefit whoever is decided about.
    deciding
        Whether the stakeholder decides and pays.
    """
    last = max(len(best_first) - 1, 1)
    size = 0.0 if not favourable else PAID if deciding else FAVOURED
    return {
        action: {
            outcome: round(size * ((action in favourable) != deciding) + (1 - size) * (1 - place / last), 2)
            for place, outcome in enumerate(best_first)
        }
        for action in actions
    }


def _goodness(name: str) -> int:
    words = words_of(name)
    value = bool(words & GOOD_WORDS) - bool(words & BAD_WORDS)
    negated = words & {"not", "non", "never", "un"}
    return -value if negated else value
