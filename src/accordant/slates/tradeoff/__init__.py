"""Whether diversity costs accuracy on given data, or only seems to because all that is shown is taken as consumed.

check      the check itself: a path of lists from accurate to diverse, judged under two readings
verdicts   what lists are judged by, logged or modelled outcomes; the exponent γ of lists of many users together;
           and the verdict: artefact, real, none or undecided
"""

from __future__ import annotations

from accordant.slates.tradeoff.check import TradeoffCheck, check_served, check_tradeoff
from accordant.slates.tradeoff.verdicts import LoggedOutcomes, ModelledOutcomes

__all__ = ["LoggedOutcomes", "ModelledOutcomes", "TradeoffCheck", "check_served", "check_tradeoff"]
