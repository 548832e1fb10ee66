"""Bring your own expected rewards: one small E, six rules, and what each of them chooses.

python examples/bring_your_own_rewards.py
"""

from __future__ import annotations

import accordant as ac

# E[stakeholder, action] for one context; a third axis would hold more contexts
E = ac.ExpectedRewards(
    [
        [0.70, 0.50, 0.30],  # Tenants
        [0.40, 0.60, 0.50],  # Owners
        [0.60, 0.55, 0.35],  # City
    ],
    stakeholders=["Tenants", "Owners", "City"],
    actions=["Renovate", "Repair", "Wait"],
)

RULES = {
    "utilitarian": "largest sum",
    "maximin": "best worst-off",
    "nash_social_welfare": "largest product",
    "nash_bargaining": "largest product of gains",
    "kalai_smorodinsky": "equal shares of the possible gain",
    "compromise_programming": "nearest to the ideal",
}


def main() -> None:
    """Print the decision and the scores of every rule."""
    for name, idea in RULES.items():
        decisions = ac.strategies.create(name)(E)
        scores = ", ".join(f"{score:.3f}" for score in decisions.scores[:, 0])
        print(f"{decisions.strategy:34} {idea:34} {decisions.actions[0]:9} [{scores}]")


if __name__ == "__main__":
    main()
