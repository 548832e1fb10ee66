"""The weights behind the winner: how much of a ranking is a value judgement, and how much is in the data.

Words used here:

    region     the weights at which one strategy has the highest composite score
    share      its volume as a share of all weights
    border     weights at which two strategies are level
    overtake   draw level with the winner; beyond that, be ahead

weigh(...)                 everything below, from the arguments of `evaluate`
weigh_leaderboard(...)     regions and borders of a leaderboard; weigh_scores(...) of normalised values
weight_regions(...)        the simplex of weights divided among the strategies (regions.py, undominated_scores.py)
weight_sensitivity(...)    the smallest change of weights that changes the winner (weight_sensitivity.py)
sampling_error(...)        shares and wins over resamples of contexts (weight_sensitivity.py)
other_choices(...)         other normalisations, candidates left out, rank reversal (choices.py)
"""

from __future__ import annotations

from accordant.evaluation.weighting.choices import OtherChoices, ScoreTable, other_choices
from accordant.evaluation.weighting.ranking_robustness import Weighing, weigh, weigh_leaderboard, weigh_scores
from accordant.evaluation.weighting.regions import Inequality, Region, WeightRegions, weight_regions
from accordant.evaluation.weighting.undominated_scores import UndominatedScores
from accordant.evaluation.weighting.weight_sensitivity import (
    SamplingError,
    Shift,
    Survival,
    WeightSensitivity,
    sampling_error,
    weight_sensitivity,
)

__all__ = [
    "Inequality",
    "OtherChoices",
    "Region",
    "SamplingError",
    "ScoreTable",
    "Shift",
    "Survival",
    "UndominatedScores",
    "Weighing",
    "WeightRegions",
    "WeightSensitivity",
    "other_choices",
    "sampling_error",
    "weigh",
    "weigh_leaderboard",
    "weigh_scores",
    "weight_regions",
    "weight_sensitivity",
]
