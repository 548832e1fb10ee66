"""Certificates: how far E may move before a decision, or a metric, changes.

    radius(rule, E)             the radius up to which no misreport changes a decision, one per context
    reachable(rule, E, delta)   the actions that misreports could make win, (action, context)
    certify(rule, E, threat)    the same with what is known to be attainable, and witnesses
    survey(rule, E)             radii against every coalition: shares, quantiles, how many must collude
    bounds(rule, E, metric, …)  the smallest and largest value that misreports can give a metric
    manipulability(rule, E)     what each stakeholder alone can gain by misreporting
    ranking(rules, E, …)        whether the order of strategies survives misreports
    random_attack(rule, E, …)   misreports that a search finds, to set beside a bound; also coordinate_attack(…)

The certificate of the paper is in `accordant.certificates.schema`.

Words used here: a *coalition* may misreport its expected rewards by at most the *radius* δ, entry by entry, within a
*box*; a set or bound is *exact* if some misreport attains it, and *sound* if no misreport gets past it.

Parameters that mean the same everywhere: `rule` is any strategy, `expected` is E as honestly reported, `threat` says
who may misreport and by how much, or else `delta`, the `coalition` (names; None for everybody), `box` and `frozen` do
(see `Threat`), and `known` is what the rule reads beside E. Arrays into which a function writes come last.
"""

from __future__ import annotations

from accordant.certificates.attacks import Attack, AttackedMetric, coordinate_attack, random_attack
from accordant.certificates.bounds import (
    Bounds,
    LiveComposite,
    Ranking,
    Scale,
    bounds,
    composite_bounds,
    honest_scales,
    live_composite,
    ranking,
    ranking_by_own_scores,
)
from accordant.certificates.certificate import Certificate, certify, certify_each, reachable
from accordant.certificates.manipulation import Manipulation, manipulability
from accordant.certificates.method import Method, Reach, certifies
from accordant.certificates.radius import radius
from accordant.certificates.reports import Known, Reports
from accordant.certificates.survey import Survey, survey
from accordant.certificates.threat import Threat

__all__ = [
    "Attack", "AttackedMetric", "Bounds", "Certificate", "Known", "LiveComposite", "Manipulation", "Method", "Ranking",
    "Reach", "Reports", "Scale", "Survey", "Threat", "bounds", "certifies", "certify", "certify_each",
    "composite_bounds", "coordinate_attack", "honest_scales", "live_composite", "manipulability", "radius",
    "random_attack", "ranking", "ranking_by_own_scores", "reachable", "survey",
]  # fmt: skip
