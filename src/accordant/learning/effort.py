"""How much work learning may take: a first look, the standard, or the last per cent.

Whatever the effort, tuning, selecting and reporting use different data, and probabilities are calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from accordant.errors import UnknownNameError

Effort = Literal["quick", "standard", "thorough"]


@dataclass(frozen=True)
class EffortLimits:
    """What learning may try.

    Attributes
    ----------
    all_pairs
        Whether everything is compared on all pairs of folds, and nothing drops out of a race.
    candidates
        Names of the default outcome models that are tried; None for all.
    level_candidates, grid_bases
        The same for numeric outcomes: names of the default causal learners, and of the regressors on a grid of actions.
    tuned_rewards
        Whether the default regressor of rewards is tuned; if not, it takes few, large steps.
    gentle_rewards
        Whether it takes small steps at every size of trees.
    forest_rows
        Training rows above which the default outcome models include no forest; None for no limit.
    race_rows
        Most training rows of a fit that serves to drop candidates of the outcome model and to weigh them for a fold;
        None for no limit.
    reward_queries
        Most answers of a stakeholder that its reward model is fitted on; None for no limit.
    """

    all_pairs: bool = False
    candidates: tuple[str, ...] | None = None
    level_candidates: tuple[str, ...] | None = None
    grid_bases: tuple[str, ...] | None = None
    tuned_rewards: bool = True
    gentle_rewards: bool = False
    forest_rows: int | None = 20_000
    race_rows: int | None = 20_000
    reward_queries: int | None = 100_000


EFFORTS: Mapping[Effort, EffortLimits] = {
    "quick": EffortLimits(
        candidates=("prior", "logistic", "logistic-hinges"),
        level_candidates=("S ridge", "T ridge", "T interactions", "Transfer ridge"),
        grid_bases=("ridge", "interactions"),
        tuned_rewards=False,
        reward_queries=5_000,
    ),
    "standard": EffortLimits(),
    "thorough": EffortLimits(
        all_pairs=True, gentle_rewards=True, forest_rows=None, race_rows=None, reward_queries=None
    ),
}


def limits_of(effort: Effort) -> EffortLimits:
    """Return the limits of an effort.

    Raises
    ------
    UnknownNameError
        If there is no such effort.
    """
    if effort not in EFFORTS:
        raise UnknownNameError("effort", effort, EFFORTS)
    return EFFORTS[effort]


def effort_warnings(
    effort: Effort, *, default_model: bool, default_rewards: bool, forests: bool, answers: tuple[int, int] | None
) -> list[str]:
    """Return what learning left out for want of time.

    Parameters
    ----------
    effort
        The effort.
    default_model
        Whether the outcome model is chosen among the default ones.
    default_rewards
        Whether the default model of rewards is fitted with the steps of this effort.
    forests
        Whether there are few enough training rows for forests among these.
    answers
        How many answers a reward model was fitted on at most, and how many there were; None if on all of them.
    """
    limits, warnings = limits_of(effort), list[str]()
    if effort == "quick":
        tried = " The outcome model was chosen among the simplest ones only." if default_model else ""
        rewards = " The default model of rewards was not tuned, and took few, large steps." if default_rewards else ""
        warnings.append(f"A quick look:{tried}{rewards} Run without --quick before you rely on it.")
    elif default_model and not forests:
        warnings.append(
            f"Forests were not tried as outcome models, because there are more than {limits.forest_rows:,} training "
            "rows; --thorough tries them."
        )
    if answers is not None:
        warnings.append(
            f"Reward models learned from {answers[0]:,} of {answers[1]:,} answers of a stakeholder, those about "
            "randomly chosen rows; --thorough takes all."
        )
    return warnings
