"""Acting on preferences: from the rewards of several groups to one policy, and what that does to each of them.

Words used here:

    group        people with one reward function; rewards have shape (group, candidate, context)
    candidate    one of finitely many responses to a context (a prompt)
    reference    the policy π₀ that may be left only at a cost of β KL(π ‖ π₀), shape (candidate, context)
    rollout      one sampled response; advantages compare the rollouts of one prompt
    agreement    whether a response agrees with a false stance of its user

Choosing a policy::

    maximin_expectation(rewards, reference, beta)     the worst-off group is best off; exact, with a duality gap
    equal_regret(rewards, reference, beta)            the largest loss against the own optimum is smallest
    average_reward, per_sample_minimum, group_optimum, best_of_n

Reached from Python alone so far: a command that reads candidate responses with rewards of groups will choose by it.

Guarding a personal reward by a gate and a bound: `guarded_rewards`.

Judging what is done: the advantages of `advantages.py`, the tilts and drifts of `agreement.py`, which
``accordant preferences --agreement`` reports of every method.
"""

from __future__ import annotations

from accordant.preferences.policy_optimisation.advantages import (
    Advantages,
    advantage_combination,
    batch_standardised,
    reward_combination,
    variance_adaptive,
)
from accordant.preferences.policy_optimisation.agreement import (
    AgreementDrift,
    TiltReport,
    TiltSeries,
    agreement_drift,
    agreement_penalty,
    fraction_positive_tilt,
    penalised_rewards,
    reward_tilt,
    tilt_over_time,
    tilt_report,
)
from accordant.preferences.policy_optimisation.maximin import (
    EqualRegretPolicy,
    MaximinPolicy,
    equal_regret,
    maximin_expectation,
)
from accordant.preferences.policy_optimisation.policies import (
    RegularisedPolicy,
    average_reward,
    best_of_n,
    exponential_tilt,
    group_optimum,
    guarded_rewards,
    kl_divergence,
    per_sample_minimum,
)

__all__ = [
    "Advantages", "AgreementDrift", "EqualRegretPolicy", "MaximinPolicy", "RegularisedPolicy", "TiltReport",
    "TiltSeries", "advantage_combination", "agreement_drift", "agreement_penalty", "average_reward",
    "batch_standardised", "best_of_n", "equal_regret", "exponential_tilt", "fraction_positive_tilt", "group_optimum",
    "guarded_rewards", "kl_divergence", "maximin_expectation", "penalised_rewards", "per_sample_minimum",
    "reward_combination", "reward_tilt", "tilt_over_time", "tilt_report", "variance_adaptive",
]  # fmt: skip
