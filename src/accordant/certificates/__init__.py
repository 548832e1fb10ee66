"""Certificates: how far E may move before a decision, or a metric, changes.

    radius(rule, E)             the radius up to which no misreport changes a decision, one per context
    reachable(rule, E, delta)   the actions that misreports could make win, (action, context)
    certify(rule, E, threat)    the same with what is known to be attainable, and witnesses

Words used here: a *coalition* may misreport its expected rewards by at most the *radius* δ, entry by entry, within a
*box*; a set or bound is *exact* if some misreport attains it, and *sound* if no misreport gets past it.
"""

from __future__ import annotations

from accordant.certificates.certificate import Certificate, certify, reachable
from accordant.certificates.method import Method, Reach, certifies
from accordant.certificates.radius import radius
from accordant.certificates.reports import Known, Reports
from accordant.certificates.threat import Threat

__all__ = [
    "Certificate",
    "Known",
    "Method",
    "Reach",
    "Reports",
    "Threat",
    "certifies",
    "certify",
    "radius",
    "reachable",
]
