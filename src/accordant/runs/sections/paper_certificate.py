"""The certificate schema of the paper on decisions of a run, beside what is exact.

The schema, that is the perturbation set (Definition 15), the bound (Theorem 16) and the temperature τ* (Lemma 18), is
from the paper [paper]; its constants L and κ, the search for a better temperature and the exact values are ours [ours].
"""

from __future__ import annotations

import numpy as np

from accordant.certificates import Certificate, Threat, certify
from accordant.certificates.schema import PaperBound, family_of, paper_bound, paper_value_bound
from accordant.certificates.schema.perturbations import DEFAULT_MU
from accordant.errors import UnknownNameError
from accordant.sections import Number, Part

SCHEMAS = ("paper",)
STAYS, OWN_SCORE = "share of decisions that stay", "the rule's own score of its decisions"
SOURCES = {
    "perturbation set, bound and τ*": "[paper] Vineis, Perelli and Tolomei 2025: Definition 15, Theorem 16, Lemma 18",
    "constants L and κ, best τ, exact value": "[ours]",
}


class PaperFigure(Part):
    """A lower bound of one figure under all perturbations.

    Attributes
    ----------
    figure
        What is bounded, as a mean over rows.
    tau_star, at_star
        Temperature of Lemma 18, and the bound there, with the linear bias κ τ.
    smooth_score, gradient, curvature, bias
        The terms of Theorem 16 at τ*: ``smooth_score − gradient − curvature − bias`` is the bound.
    kappa
        κ of Assumption 4; None if there is no finite one.
    best_tau, at_best
        The best temperature on a grid that contains τ*, and the bound there.
    exact, exact_status
        The worst case itself; ``exact``, or ``sound`` if the true one may be higher.
    reason
        Why the trivial bound stands in some rows; empty if in none.
    """

    figure: str
    tau_star: Number
    at_star: Number
    smooth_score: Number
    gradient: Number
    curvature: Number
    bias: Number
    kappa: Number
    best_tau: Number
    at_best: Number
    exact: Number
    exact_status: str
    reason: str


class PaperPart(Part):
    """The schema of the paper on decisions of a rule.

    Attributes
    ----------
    form, substitute
        The differentiable score, and whether it is that of another rule in the place of this one.
    delta, coalition, mu
        The perturbation set: E is clipped into [μ, 1 − μ].
    clipped
        How many entries of E that changed.
    meets_definition
        Whether δ is as small as Definition 15 also asks; the bound does not need it.
    figures
        What is bounded.
    sources
        What is the paper's and what is ours.
    """

    form: str
    substitute: bool
    delta: float
    coalition: tuple[str, ...]
    mu: float
    clipped: int
    meets_definition: bool
    figures: tuple[PaperFigure, ...]
    sources: dict[str, str]

    def sentences(self) -> tuple[str, ...]:
        """Return what was found, in plain sentences."""
        sentences = [
            f"schema of the paper, score {self.form}, E clipped into [{self.mu:g}, {1 - self.mu:g}]"
            + (": a smooth rule in the place of this one, which may decide otherwise" if self.substitute else "")
        ]
        for part in self.figures:
            sentences.append(
                f"{part.figure}: at least {_number(part.at_star)} at τ* = {_number(part.tau_star)} [paper, constants "
                f"ours], {_number(part.at_best)} at the best τ = {_number(part.best_tau)} [ours]; "
                f"{part.exact_status}: {_number(part.exact)} [ours]"
            )
            if part.reason:
                sentences.append(f"{part.figure}: {part.reason}")
        return tuple(sentences)


def _number(value: float | None) -> str:
    return "nothing finite" if value is None else f"{value:.4f}"


def check_schema(schema: str | None) -> None:
    """Raise `UnknownNameError` for the name of a schema that there is not; None is none."""
    if schema is not None and schema not in SCHEMAS:
        raise UnknownNameError("schema", schema, SCHEMAS)


def paper_certificate(certificate: Certificate) -> PaperPart:
    """Return the schema of the paper for the rule, E and threat of a certificate.

    Raises
    ------
    InputError
        If the rule has no scoring form, as where reference points come from the context.
    """
    rule, expected, threat = certificate.rule, certificate.expected, certificate.threat
    form = family_of(rule, expected)
    box = (DEFAULT_MU, 1 - DEFAULT_MU)
    inside = certify(rule, expected, Threat(threat.delta, threat.coalition, box), known=certificate.known)
    stays = (np.arange(len(expected.actions))[:, None] == inside.decided).astype(np.float64)
    star = paper_bound(form, expected, stays, delta=threat.delta, coalition=threat.coalition, tau="star", bias="linear")
    best = paper_bound(form, expected, stays, delta=threat.delta, coalition=threat.coalition)
    own_star = paper_value_bound(form, expected, delta=threat.delta, coalition=threat.coalition, tau="star")
    own_best = paper_value_bound(form, expected, delta=threat.delta, coalition=threat.coalition)
    perturbed = star.perturbations
    worst = form.extremes(perturbed.low, perturbed.high).lowest.max(axis=0).mean()  # columns of E vary by themselves
    return PaperPart(
        form=form.name, substitute=star.substitute, delta=perturbed.delta, coalition=perturbed.coalition,
        mu=perturbed.mu, clipped=perturbed.n_clipped, meets_definition=perturbed.meets_definition,
        figures=(
            _figure(STAYS, star, best, float(inside.certified.mean()), exact=bool(inside.exact.all())),
            _figure(OWN_SCORE, own_star, own_best, float(worst), exact=True),
        ),
        sources=SOURCES,
    )  # fmt: skip


def _figure(figure: str, star: PaperBound, best: PaperBound, worst: float, *, exact: bool) -> PaperFigure:
    return PaperFigure(
        figure=figure, tau_star=star.tau, at_star=star.value, smooth_score=star.smooth_score, gradient=star.gradient,
        curvature=star.curvature, bias=star.bias, kappa=star.kappa, best_tau=best.tau, at_best=best.value,
        exact=worst, exact_status="exact" if exact else "sound", reason=best.reason,
    )  # fmt: skip
