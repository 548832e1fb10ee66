"""A participatory policy in Python: simulated loans, a scikit-learn classifier, a table of rewards each.

python examples/policy_in_python.py
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import accordant as ac
from accordant.cases.loaders import simulators

PROBLEM = ac.DecisionProblem(
    stakeholders=["Bank", "Applicant"],
    actions=["Grant", "Grant_lower", "Not_Grant"],
    outcomes=["Fully_Repaid", "Partially_Repaid", "Not_Repaid"],
    favourable_actions=["Grant", "Grant_lower"],
    status_quo="Not_Grant",
    sensitive_attributes=["Applicant_Type"],
)

REWARDS = {
    "Bank": ac.TableReward(
        {
            "Grant": {"Fully_Repaid": 0.9, "Partially_Repaid": 0.2, "Not_Repaid": 0.0},
            "Grant_lower": {"Fully_Repaid": 0.8, "Partially_Repaid": 0.6, "Not_Repaid": 0.6},
            "Not_Grant": {"Fully_Repaid": 0.5, "Partially_Repaid": 0.7, "Not_Repaid": 0.8},
        }
    ),
    "Applicant": ac.TableReward(
        {
            "Grant": {"Fully_Repaid": 1.0, "Partially_Repaid": 0.4, "Not_Repaid": 0.0},
            "Grant_lower": {"Fully_Repaid": 0.8, "Partially_Repaid": 0.5, "Not_Repaid": 0.3},
            "Not_Grant": {"Fully_Repaid": 0.2, "Partially_Repaid": 0.3, "Not_Repaid": 0.5},
        }
    ),
}

METRICS = {
    "worst-off reward": (ac.metrics.create("min_reward"), 0.5),
    "mean reward": (ac.metrics.create("mean_reward"), 0.3),
    "gap between types": (ac.metrics.create("demographic_parity", {"attributes": ["Applicant_Type"]}), 0.2),
}


def main() -> None:
    """Fit on simulated loans, recommend for 50 more, and show the five closest calls."""
    loans = simulators.create("lending", {"rows": 650, "generator": np.random.default_rng(1)})
    known, new = loans[:600], loans[600:]
    policy = ac.ParticipatoryPolicy(
        PROBLEM,
        features=["Income", "Credit_Score", "Loan_Amount", "Interest_Rate"],
        outcome_model=make_pipeline(StandardScaler(), LogisticRegression()),
        reward_model="stated",  # the tables are known for every action and outcome: nothing to learn
        metrics=METRICS,
        folds=3,
        resamples=200,
    )
    policy.fit(known, actions=known["Action"], outcomes=known["Outcome"], rewards=REWARDS)

    for sentence in policy.warnings_:
        print("mind:", sentence)
    print("selected:", policy.selected_)
    for row in policy.leaderboard_.rows[:5]:
        print(f"  {row.strategy:34} {row.score}")
    recommended = policy.recommend(new).to_frame()
    closest = recommended.nsmallest(5, "margin")
    print(closest[["action", "runner_up", "margin", "tied"]].round(3).to_string())


if __name__ == "__main__":
    main()
