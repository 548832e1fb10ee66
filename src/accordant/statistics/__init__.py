"""Statistics that every room shares: estimates, resampling, intervals for small counts, comparisons of many.

Estimate                      a value with its interval, and why either is missing
weight_blocks                 bootstrap weights of units, patterns or clusters
percentile_interval           limits from resampled values; percentile_estimate for a single one
wilson, newcombe, spread      intervals of shares and of their differences that know small counts
standard_error                of means, of independent units or of units in clusters
mean_estimate, share_estimate a mean or a share of few units; sparse_mean where nearly all are the same, student_mean
                              for a handful
gini, theil, atkinson, jain   inequality of numbers of at least 0
dominates, dominated_by       Pareto dominance of points, and of alternatives for everybody; front in the plane
best_set                      which of many candidates cannot be told from the best
joint_level                   the level of single percentile intervals that hold together
joint_band                    intervals of several paired values that hold together
difference_bounds             bounds of differences from the intervals of both, whatever they have in common
ChangeEvidence                evidence against "nothing changes" that may be looked at after every record;
                              ReferenceRanks of new values, and RunningMean with its confidence sequence
betting_limits                limits of a mean in a known range, right for any number of values
"""

from accordant.statistics.comparison import BestSet, best_set, difference_bounds, joint_band, joint_level, leaders
from accordant.statistics.dominance import dominated_by, dominates, front
from accordant.statistics.estimate import Estimate, standard_error
from accordant.statistics.inequality import atkinson, gini, jain, theil
from accordant.statistics.proportions import bounded, newcombe, normal_quantile, ratio, spread, wilson
from accordant.statistics.resampling import (
    Interval,
    Units,
    WeightBlock,
    cluster_codes,
    percentile_estimate,
    percentile_interval,
    refit_variance,
    resample_counts,
    weight_blocks,
    wider_level,
)
from accordant.statistics.sequential import ChangeEvidence, ReferenceRanks, RunningMean, betting_limits
from accordant.statistics.small_samples import mean_estimate, share_estimate, sparse_mean, student_mean, widened

__all__ = [
    "BestSet",
    "ChangeEvidence",
    "Estimate",
    "Interval",
    "ReferenceRanks",
    "RunningMean",
    "Units",
    "WeightBlock",
    "atkinson",
    "best_set",
    "betting_limits",
    "bounded",
    "cluster_codes",
    "difference_bounds",
    "dominated_by",
    "dominates",
    "front",
    "gini",
    "jain",
    "joint_band",
    "joint_level",
    "leaders",
    "mean_estimate",
    "newcombe",
    "normal_quantile",
    "percentile_estimate",
    "percentile_interval",
    "ratio",
    "refit_variance",
    "resample_counts",
    "share_estimate",
    "sparse_mean",
    "spread",
    "standard_error",
    "student_mean",
    "theil",
    "weight_blocks",
    "widened",
    "wider_level",
    "wilson",
]
