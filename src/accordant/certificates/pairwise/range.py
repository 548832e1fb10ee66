"""Range voting with grades stretched to the whole range, which on E is relative utilitarianism."""

from __future__ import annotations

from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import Contest, Marks
from accordant.certificates.pairwise.relative_utilitarian import RelativeSums, compare_stretched
from accordant.certificates.reports import Reports
from accordant.strategies.strategy import Strategy
from accordant.voting.rules.range import Range


@certifies("range")
class RangePairs(RelativeSums):
    """Sums of stretched grades, exact for every pair."""

    made_for = Range

    def compare(self, rule: Strategy, contest: Contest, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        del rule, reports
        return compare_stretched(contest, contest.weights / min(1.0, contest.weights.sum()), contest.tolerance)
