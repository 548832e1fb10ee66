"""The robustness lower bound (RLB) of the schema, and everything it was made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Mask, Values
from accordant.certificates.schema.constants import SMALLEST, best_temperature, beta
from accordant.certificates.schema.families import family_of
from accordant.certificates.schema.forms import ScoringForm
from accordant.certificates.schema.perturbations import DEFAULT_MU, REGIONS, PerturbationSet, Region, perturbation_set
from accordant.certificates.schema.terms import BIASES, Bias, DecisionSchema, Schema, Terms, ValueSchema
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Temperature = Literal["best", "star", "per_context"]
Total = Literal["mean", "sum"]
TEMPERATURES: tuple[Temperature, ...] = ("best", "star", "per_context")
TOTALS: tuple[Total, ...] = ("mean", "sum")


@dataclass(frozen=True, eq=False)
class PaperBound:
    """A lower bound on a score under every admissible perturbation; sound, and usually far from the exact value.

    Totals are means or sums over contexts, as `total` says; ``rlb = smooth_score − gradient − curvature − bias``.

    Attributes
    ----------
    value
        What is certified: in each context the larger of the bound and the trivial one, then the total.
    rlb
        The four terms of Theorem 16 together, without help from the trivial bound; for the exact argmax, whichever way
        it breaks ties.
    smooth_score, gradient, curvature, bias
        S^τ(E), δ ‖∇_V S^τ‖₁, δ² L / 2, and the bound on |S^τ − S^0|.
    tau
        The temperature; NaN if every context has its own (see `terms`).
    margin
        m, the smallest lead over contexts; −inf if a score has no bounded slope somewhere (see `reason`), NaN for value
        metrics, which need none.
    kappa
        κ of Assumption 4; inf if there is none.
    smoothness, beta
        L at this temperature, and the same in the paper's form L = β / (τ² μ²); NaN if τ is.
    trivial
        Total of what the score cannot fall below whatever happens; −inf for value metrics.
    reason
        Why the trivial bound stands in some contexts, or nothing.
    rule, form
        What is certified: a strategy's name, and the scoring form.
    perturbations
        The set, with coalition, δ and μ.
    region
        Whether U and Q hold on the whole ``tube`` or only on the set (``box``).
    total
        ``mean`` or ``sum`` over contexts.
    metric
        ``decision`` or ``value``.
    usable
        Where the bound is more than trivial, shape (context,).
    terms
        The terms in each context.
    margins
        m in each context, shape (context,).
    entries
        ∇_V S^τ of each context's own score, shape (member, action, context).
    exact
        Always false.
    """

    value: float
    rlb: float
    smooth_score: float
    gradient: float
    curvature: float
    bias: float
    tau: float
    margin: float
    kappa: float
    smoothness: float
    beta: float
    trivial: float
    reason: str
    rule: str
    form: ScoringForm
    perturbations: PerturbationSet
    region: Region
    total: Total
    metric: Literal["decision", "value"]
    usable: Mask = field(repr=False)
    terms: Terms = field(repr=False)
    margins: Values = field(repr=False)
    entries: Values = field(repr=False)
    exact: Literal[False] = False

    @property
    def substitute(self) -> bool:
        """Whether this certifies a smooth rule in the place of the strategy, which may decide otherwise."""
        return self.form.substitute


def paper_bound(
    rule: Strategy | ScoringForm, expected: ExpectedRewards, theta: ArrayLike, *, delta: float,
    coalition: Iterable[str] | None, mu: float = DEFAULT_MU, tau: float | Temperature = "best",
    bias: Bias = "exponential", total: Total = "mean", region: Region = "tube",
) -> PaperBound:  # fmt: skip
    """Return a lower bound on a metric of decisions: Theorem 16 of Vineis, Perelli and Tolomei 2025 with our constants.

    Parameters
    ----------
    rule
        A strategy that `family_of` knows, or a scoring form.
    expected
        E; clipped into [μ, 1 − μ] first.
    theta
        Metric value of each action in each context, shape (action, context), or (action,) if all contexts are alike.
    delta, coalition, mu
        The perturbation set; see `perturbation_set`.
    tau
        A temperature of at least 1e-12 in units of the score; ``"star"`` for Lemma 18's; ``"best"`` for the best on a
        grid that contains it; ``"per_context"`` for the best in every context, which is tighter and not in the paper.
    bias
        ``"exponential"``, or ``"linear"`` for the looser κ τ that Assumption 4 asks for.
    total
        ``"mean"`` (γ = 1) or ``"sum"`` (γ = 0) over contexts.
    region
        Bound slopes over the ``"tube"`` as the paper does, or over the perturbation set (``"box"``), which is tighter.

    Raises
    ------
    InputError
        If the rule has no family, θ does not fit E or is not finite, or a number is out of range.
    UnknownNameError
        If a name is unknown.
    """
    _check("bias", bias, BIASES)
    _check("region", region, REGIONS)
    perturbations = perturbation_set(expected, delta=delta, coalition=coalition, mu=mu)
    form = _form(rule, expected)
    schema = DecisionSchema(form, perturbations, region, _metric_values(theta, expected), bias)
    return _assemble(schema, form, perturbations, tau, total, region, "decision")


def paper_value_bound(
    rule: Strategy | ScoringForm, expected: ExpectedRewards, *, delta: float, coalition: Iterable[str] | None,
    mu: float = DEFAULT_MU, tau: float | Temperature = "best", total: Total = "mean", region: Region = "tube",
) -> PaperBound:  # fmt: skip
    """Return a lower bound on the rule's own score of its decisions, max_a Φ_a, by the log-sum-exp surrogate.

    Parameters are those of `paper_bound`; here ``"star"`` minimises δ² L(τ) / 2 + τ log k, with L of order 1 / τ.

    Raises
    ------
    InputError, UnknownNameError
        As `paper_bound`.
    """
    _check("region", region, REGIONS)
    perturbations = perturbation_set(expected, delta=delta, coalition=coalition, mu=mu)
    form = _form(rule, expected)
    return _assemble(ValueSchema(form, perturbations, region), form, perturbations, tau, total, region, "value")


def _form(rule: Strategy | ScoringForm, expected: ExpectedRewards) -> ScoringForm:
    """Return the scoring form, which must fit E."""
    form = rule if isinstance(rule, ScoringForm) else family_of(rule, expected)
    if form.weights.shape != (len(expected.stakeholders),):
        raise InputError(f"{form.name} is for {form.weights.size} stakeholders; E has {len(expected.stakeholders)}")
    return form


def _assemble(
    schema: Schema, form: ScoringForm, perturbations: PerturbationSet, tau: float | Temperature, total: Total,
    region: Region, metric: Literal["decision", "value"],
) -> PaperBound:  # fmt: skip
    """Choose the temperature and add up the terms."""
    _check("total", total, TOTALS)
    temperatures = _temperatures(schema, tau)
    terms = schema.terms(temperatures)
    common = tau != "per_context"
    share = 1 / len(temperatures) if total == "mean" else 1.0

    def added(values: Values) -> float:
        """Return the total of something over contexts."""
        return float(values.sum() * share)

    at, smoothness = float(temperatures[0]) if common else float("nan"), added(terms.smoothness)
    return PaperBound(
        value=added(schema.value(temperatures)), rlb=added(np.where(schema.defined, terms.rlb, -np.inf)),
        smooth_score=added(terms.smooth_score), gradient=added(terms.gradient), curvature=added(terms.curvature),
        bias=added(np.where(schema.defined, terms.bias, np.inf)), tau=at, margin=float(schema.margin.min()),
        kappa=added(np.where(schema.defined, schema.kappa, np.inf)), smoothness=smoothness,
        beta=float(beta(smoothness, at, perturbations.mu)), trivial=added(schema.trivial),
        reason=_reason(schema, terms, metric), rule=form.name, form=form, perturbations=perturbations, region=region,
        total=total, metric=metric, usable=schema.usable, terms=terms, margins=schema.margin,
        entries=schema.gradient(temperatures),
    )  # fmt: skip


def _temperatures(schema: Schema, tau: float | Temperature) -> Values:
    """Return a temperature for every context."""
    if isinstance(tau, str):
        _check("tau", tau, TEMPERATURES)
        jointly = tau != "per_context"
        star = schema.temperature(jointly=jointly)
        if tau == "star":
            return star
        return best_temperature(lambda at: np.where(schema.usable, schema.value(at), 0.0), star, jointly=jointly)
    if not SMALLEST <= tau < np.inf:
        raise InputError(f"tau is {tau}; allowed: at least {SMALLEST:g}, or {', '.join(map(repr, TEMPERATURES))}")
    return np.full(schema.scores.shape[1], float(tau))


def _reason(schema: Schema, terms: Terms, metric: str) -> str:
    """Return why the trivial bound stands in some contexts."""
    n_contexts = len(schema.usable)
    causes = (
        (~schema.defined, "somebody's gain over the disagreement point may vanish, and with it any bound on slopes"),
        (
            schema.defined & ~schema.usable,
            "the margin is not above 0: an action with another metric value may win, and no finite κ exists",
        ),
        (
            schema.usable & (terms.rlb < schema.trivial),
            "the bound is below the smallest metric value, which cannot be missed",
        ),
    )  # fmt: skip
    said = [f"{int(where.sum())} of {n_contexts} contexts: {cause}" for where, cause in causes if where.any()]
    stands = "there is no bound" if metric == "value" else "the trivial bound stands"
    return f"{stands} in " + "; in ".join(said) if said else ""


def _metric_values(theta: ArrayLike, expected: ExpectedRewards) -> Values:
    """Return θ as an array of shape (action, context)."""
    n_actions, n_contexts = len(expected.actions), expected.n_contexts
    try:
        array = np.asarray(theta, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"theta must be an array of numbers: {error}") from None
    if array.shape == (n_actions,):
        array = array[:, None]
    if array.shape not in {(n_actions, n_contexts), (n_actions, 1)}:
        raise InputError(
            f"theta has shape {np.shape(theta)}; allowed: (action, context), here {(n_actions, n_contexts)}"
        )
    if not np.isfinite(array).all():
        raise InputError("theta holds a NaN or an infinite number; allowed: finite numbers")
    return np.array(np.broadcast_to(array, (n_actions, n_contexts)))


def _check(parameter: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UnknownNameError(parameter, given, allowed)
