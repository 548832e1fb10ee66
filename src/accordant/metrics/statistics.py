"""Sufficient statistics of decisions: counts and sums that add over contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence, Groups
from accordant.naming import position
from accordant.problem import DecisionProblem

MAX_GROUPS = 256  # more groups than this are a numeric column that somebody forgot to put into classes


@dataclass(frozen=True, eq=False)
class Cells:
    """The (outcome, group) cell of every context: all that counts need besides the decision.

    Attributes
    ----------
    problem
        The decision problem.
    groups
        The groups; one group of everybody if there are no attributes.
    codes
        Cell of each context, outcome code × number of groups + group code, shape (context,).
        A continuous outcome is one outcome.
    sizes
        Contexts in each group, shape (group,).
    """

    problem: DecisionProblem
    groups: Groups
    codes: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, evidence: Evidence, columns: Sequence[str]) -> Cells:
        """Return the cells of some evidence, grouped by the combinations of `columns`.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        InputError
            If there are more than 256 groups.
        """
        groups = evidence.groups(columns)
        if len(groups.labels) > MAX_GROUPS:
            raise InputError(
                f"{' × '.join(columns)} makes {len(groups.labels)} groups; at most {MAX_GROUPS}: put it into classes"
            )
        outcomes = 0 if evidence.problem.continuous else evidence.log.outcomes.astype(np.intp)
        codes = outcomes * len(groups.labels) + groups.codes
        return cls(evidence.problem, groups, codes, np.bincount(groups.codes, minlength=len(groups.labels)))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of actions, outcomes (1 if continuous) and groups."""
        return len(self.problem.actions), max(1, len(self.problem.outcome_names)), len(self.groups.labels)


@dataclass(frozen=True, eq=False)
class Contingency:
    """Counts N[..., action, outcome, group] of decided actions, observed outcomes and groups.

    Attributes
    ----------
    counts
        Shape (..., action, outcome, group); leading axes are resamples. Expected numbers if randomised.
    cells
        What the axes mean.
    """

    counts: Values
    cells: Cells

    @property
    def problem(self) -> DecisionProblem:
        """The decision problem."""
        return self.cells.problem


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over contexts of the contributions of decided actions.

    Attributes
    ----------
    totals
        Shape (..., column); leading axes are resamples.
    n
        Number of contexts summed over.
    problem
        The decision problem.
    """

    totals: Values
    n: int
    problem: DecisionProblem

    @property
    def means(self) -> Values:
        """Averages over contexts, shape (..., column)."""
        return self.totals / self.n

    def ratio(self, numerator: int, denominator: int) -> Values:
        """Return one column's sum divided by another's, shape (...); NaN where the denominator is 0."""
        return divide(self.totals[..., numerator], self.totals[..., denominator])


def divide(numerator: Values, denominator: Values) -> Values:
    """Return numerator / denominator, NaN where the denominator is 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.asarray(np.divide(numerator, denominator, out=np.full(shape, np.nan), where=denominator != 0))


def check_decisions(decisions: Decisions, evidence: Evidence) -> None:
    """Raise unless the decisions are about the contexts and actions of the evidence.

    Raises
    ------
    InputError
        If lengths or action names differ, or the randomised policy is no probability.
    """
    actions, n = evidence.problem.actions, evidence.n_contexts
    where = f"decisions of {decisions.strategy!r}"
    if decisions.codes.shape != (n,):
        raise InputError(
            f"{where} have shape {decisions.codes.shape}; the evidence has {n} contexts, so ({n},) is needed"
        )
    if tuple(decisions.action_names) != actions:
        raise InputError(f"{where} are about actions {decisions.action_names}; the problem declares {actions}")
    policy = decisions.policy
    if policy is not None and not ((policy >= 0).all() and (np.abs(policy.sum(axis=0) - 1) <= 1e-6).all()):
        raise InputError(f"{where}: action probabilities must be at least 0 and sum to 1")
    if decisions.follows_log and not (policy is None and np.array_equal(decisions.codes, evidence.log.actions)):
        raise InputError(f"{where} say that they follow the log, and differ from its actions")


def contingency(decisions: Decisions, cells: Cells) -> Contingency:
    """Return the counts of one strategy on all contexts; expected counts if it is randomised."""
    shape = cells.shape
    n_cells = shape[1] * shape[2]
    if decisions.policy is None:
        counts = np.bincount(
            np.multiply(decisions.codes, n_cells, dtype=np.intp) + cells.codes, minlength=shape[0] * n_cells
        ).astype(np.float64)
    else:
        counts = np.array([np.bincount(cells.codes, weights=row, minlength=n_cells) for row in decisions.policy])
    return Contingency(counts.reshape(shape), cells)


def expected_contributions(
    theta: Values, decisions: Decisions, contexts: NDArray[np.intp] | slice = slice(None)
) -> Values:
    """Return the contributions θ of decided actions, shape (column, context); expectations if randomised.

    Parameters
    ----------
    theta
        Shape (column, action, context).
    decisions
        One strategy's decisions on the same contexts.
    contexts
        Which contexts to return; all by default.
    """
    part = theta[:, :, contexts]
    if decisions.policy is not None:
        return np.asarray(np.einsum("cat,at->ct", part, decisions.policy[:, contexts]))
    codes = decisions.codes[contexts]
    return np.asarray(part[:, codes, np.arange(len(codes))])


def cell_values(evidence: Evidence, table: Mapping[tuple[str, str], float | Values]) -> Values:
    """Return the value of each action given the observed outcome, shape (action, context).

    Parameters
    ----------
    evidence
        Evidence with discrete outcomes.
    table
        ``{(action, outcome): value}``, a number or one per context; cells without an entry are 0.

    Raises
    ------
    UnknownNameError
        If an action or outcome is not declared.
    """
    problem = evidence.problem
    values = np.zeros((len(problem.actions), evidence.n_contexts))
    for (action, outcome), value in table.items():
        happened = evidence.log.outcomes == position("outcome", outcome, problem.outcome_names)
        values[position("action", action, problem.actions), happened] = np.broadcast_to(value, happened.shape)[happened]
    return values
