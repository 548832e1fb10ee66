"""What the answer to a question is worth, from samples of the reward and the decision that each leads to.

All are exact for the samples as they are: `likely[s, q]` is the probability that sample s answers "the first" to
question q, and every sample weighs the same. Entropies H are in nats.

    decision information     I(answer; decision) = H(mean_s p) − Σ_d P(d) H(mean_{s: d_s = d} p)
    parameter information    I(answer; θ) = H(mean_s p) − mean_s H(p)        (Houlsby et al. 2011, called BALD)
    regret reduction         min_a mean loss − Σ_answers P(answer) min_a E[loss | answer]
                             (value of information, Raiffa and Schlaifer 1961; knowledge gradient, Frazier et al. 2008)
    random                   the same for every question

The decision follows from θ, so decision information is at most parameter information: it leaves out what would be good
to know but changes no decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.elicitation.decision_value import Verdicts

Criterion = Literal["decision_information", "parameter_information", "expected_regret_reduction", "random"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

LEVEL = 1e-12  # questions whose worth differs by less, in units of the largest, are worth the same


def worth(criterion: Criterion, likely: Values, verdicts: Verdicts) -> Values:
    """Return what the answer to each question is worth, shape (question,).

    Parameters
    ----------
    criterion
        One of `CRITERIA`.
    likely
        Probability that a sample answers "the first", shape (sample, question).
    verdicts
        What the same samples lead to.

    Raises
    ------
    UnknownNameError
        If there is no such criterion.
    InputError
        If shapes do not match.
    """
    if criterion not in _WORTH:
        raise UnknownNameError("criterion", criterion, CRITERIA)
    if likely.ndim != 2 or len(likely) != len(verdicts.decided) or len(likely) == 0:
        raise InputError(
            f"likely has shape {likely.shape}; allowed: (sample, question), here ({len(verdicts.decided)}, …)"
        )
    return _WORTH[criterion](likely, verdicts)


def best_question(
    criterion: Criterion, likely: Values, verdicts: Verdicts, generator: np.random.Generator
) -> tuple[int, float]:
    """Return the position of the question that is worth most, and what it is worth.

    Among equals the one with more parameter information wins, then the first; ``random`` draws.
    """
    found = worth(criterion, likely, verdicts)
    if criterion == "random":
        return int(generator.integers(len(found))), 0.0
    top = np.flatnonzero(found >= found.max() - LEVEL * max(1.0, float(np.abs(found).max())))
    at = top[0] if len(top) == 1 else top[parameter_information(likely[:, top], verdicts).argmax()]
    return int(at), float(found[at])


def entropy(likely: Values) -> Values:
    """Return H(p) = −p log p − (1 − p) log(1 − p) in nats, shape as given."""
    other = 1.0 - likely
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -(likely * np.log(likely) + other * np.log(other))
    return np.asarray(np.where((likely <= 0) | (likely >= 1), 0.0, found))


def parameter_information(likely: Values, verdicts: Verdicts) -> Values:
    """Return the mutual information of answer and coefficients, shape (question,)."""
    del verdicts
    return np.asarray(np.maximum(entropy(likely.mean(axis=0)) - entropy(likely).mean(axis=0), 0.0))


def decision_information(likely: Values, verdicts: Verdicts, *, corrected: bool = True) -> Values:
    """Return the mutual information of answer and decision, shape (question,).

    A mean p̄ of n samples has E H(p̄) ≈ H(p) − Var(p) / (2 n p (1 − p)), which makes the plug-in value too high, the more
    so the fewer samples lead to a decision. The correction [ours] adds this term of second order back for the whole and
    for every decision (as Miller 1955 does for counts); a decision with one sample gets its largest value.

    Parameters
    ----------
    likely, verdicts
        As for `worth`.
    corrected
        False for the plug-in value. The corrected one may be slightly below 0.
    """
    found = entropy(likely.mean(axis=0)) + (_missing(likely) if corrected else 0.0)
    for decision in np.unique(verdicts.decided):
        members = likely[verdicts.decided == decision]
        missing = _missing(members) if corrected else 0.0
        found = found - len(members) / len(likely) * (entropy(members.mean(axis=0)) + missing)
    return np.asarray(found)


def _missing(likely: Values) -> Values:
    """Return by how much the entropy of the mean over samples is too low, on average, shape (question,)."""
    n, mean = len(likely), likely.mean(axis=0)
    bound = mean * (1.0 - mean)
    if n == 1:
        return np.where(bound > 0, 0.5, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(likely.var(axis=0, ddof=1) / bound, 1.0)
    return np.asarray(np.where(bound > 0, share, 0.0) / (2 * n))


def expected_regret_reduction(likely: Values, verdicts: Verdicts) -> Values:
    """Return by how much an answer lowers the loss of the best action on average, at least 0, shape (question,)."""
    losses, n = verdicts.losses, len(likely)
    first = (likely.T @ losses).min(axis=1)
    second = ((1.0 - likely).T @ losses).min(axis=1)
    return np.asarray(np.maximum(losses.mean(axis=0).min() - (first + second) / n, 0.0))


def _nothing(likely: Values, verdicts: Verdicts) -> Values:
    del verdicts
    return np.zeros(likely.shape[1])


_WORTH: dict[str, Callable[[Values, Verdicts], Values]] = {
    "decision_information": decision_information,
    "parameter_information": parameter_information,
    "expected_regret_reduction": expected_regret_reduction,
    "random": _nothing,
}
