"""The certificate schema of Vineis, Perelli and Tolomei (2025), Definition 15 to Lemma 20, with constants.

The paper gives the form of the bound and leaves its constants open. What is the paper's and what is ours is told apart
in docs/methods/paper-certificates.md.

    perturbations  what a coalition may do to E (Definition 15)
    forms          differentiable scores of the compromise rules, their slopes, ranges, and bounds U and Q on both
    families       which form belongs to which strategy
    constants      L, β and κ; softmax and log-sum-exp in the place of the best action; Lemma 18, Corollary 19, and the
                   best temperature on a grid
    terms, bound   Theorem 16: the bound and what it is made of
    ranking        the composite score with frozen ranges as one metric; Lemma 20, which is not enough to certify a
                   ranking

``accordant certify RUN --schema paper`` prints it beside what is exact; ``benchmarks/paper_certificates.py`` compares
the two on many random problems.

The bound is sound where its constants are, and loose. Where the worst case can be computed exactly, do that.
"""

from __future__ import annotations

from accordant.certificates.schema.bound import PaperBound, paper_bound, paper_value_bound
from accordant.certificates.schema.constants import optimal_temperature, trade_off, uniform_bias
from accordant.certificates.schema.families import family_of
from accordant.certificates.schema.perturbations import PerturbationSet, perturbation_set
from accordant.certificates.schema.ranking import RankingTest, frozen_composite, lemma_20
from accordant.certificates.schema.terms import Terms

__all__ = [
    "PaperBound", "PerturbationSet", "RankingTest", "Terms", "family_of", "frozen_composite", "lemma_20",
    "optimal_temperature", "paper_bound", "paper_value_bound", "perturbation_set", "trade_off", "uniform_bias",
]  # fmt: skip
