"""What the scrutiny of a run says, section by section; each module reads one part of the record and nothing else.

trust.py           certificates, by_strategy     how far the decisions can be trusted
misreports.py      bounds, ranking               what misreports can make of the metrics, and who gains by them
deciders.py        influence                     who decides
weight_regions.py  weights                       the weights behind the winner, and other choices behind the score
disputes.py        conflict                      whether conflicts are real, and what bounds on group gaps cost
confounding.py     sensitivity                   what hidden reasons behind past decisions could change
"""

from __future__ import annotations

from accordant.report.scrutiny.findings import Findings, findings

__all__ = ["Findings", "findings"]
