"""Cost of expected rewards with three reward forests of 150 trees, per context.

Work: E for 3 stakeholders × 3 actions × 3 outcomes. Peer, in the same process with the same fitted models: one
prediction per stakeholder, action and outcome for every row, as the official code of the published framework does it.
The expected rewards must be equal, otherwise the ratio says nothing.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from threadpoolctl import threadpool_limits

import accordant as ac
from accordant.cases.simulators import simulate
from accordant.cases.spec import read_case
from accordant.learning.augmentation import RewardQueries
from accordant.learning.reward_models import design

ROWS, LOOPED_ROWS, REPEATS = 5_000, 30, 3


def fitted_policy() -> ac.ParticipatoryPolicy:
    """Return a policy with forests, fitted on simulated loans."""
    case, _ = read_case("lending-published")
    data = simulate(case, 0, 2_000, {})
    policy = ac.ParticipatoryPolicy(
        case.problem,
        features=case.data.features,
        outcome_model=RandomForestClassifier(100, max_depth=10, random_state=0),
        reward_model=RandomForestRegressor(150, max_depth=10, random_state=0),
        augmentation="actions",
        metrics={"mean_reward": 1.0},
        folds=3,
        resamples=100,
    )
    return policy.fit_log(data.log, case.signals())


def looped(policy: ac.ParticipatoryPolicy, contexts: ac.Contexts) -> np.ndarray:
    """Return E computed row by row, one model call per stakeholder, action and outcome."""
    problem = policy.problem
    values = np.zeros((len(problem.stakeholders), len(problem.actions), contexts.n_contexts))
    for t in range(contexts.n_contexts):
        row = contexts.take(np.array([t]))
        weights = policy.outcome_model_.predict(row).weights
        for i, model in enumerate(policy.reward_models_):
            for a in range(len(problem.actions)):
                for o in range(len(problem.outcome_names)):
                    cell = RewardQueries(np.zeros(1, dtype=np.intp), np.array([a]), np.array([o]))
                    q = model.regressor.predict(design(model.encoder(row), cell, problem))[0]
                    values[i, a, t] += np.clip(q, 0, 1) * weights[a, o, 0]
    return values


def main() -> None:
    """Print milliseconds per context, batched and looped, and for a single one."""
    policy = fitted_policy()
    contexts = simulate(read_case("lending-published")[0], 1, ROWS, {}).log.contexts
    some = contexts.take(np.arange(LOOPED_ROWS))
    with threadpool_limits(1):
        batched = min(_seconds(lambda: policy.recommend(contexts)) for _ in range(REPEATS)) / ROWS
        single = min(_seconds(lambda: policy.recommend(some.take(np.array([0])))) for _ in range(REPEATS))
        start = time.process_time()
        loop = looped(policy, some)
        peer = (time.process_time() - start) / LOOPED_ROWS
    equal = np.abs(loop - policy.expected_rewards(some).values).max()
    print(f"batched, {ROWS} contexts   {1000 * batched:8.3f} ms CPU a context    aim below 0.4")
    print(
        f"row by row, {LOOPED_ROWS} contexts {1000 * peer:8.1f} ms CPU a context    {peer / batched:.0f} times as much"
    )
    print(f"one context alone        {1000 * single:8.1f} ms CPU")
    print(f"largest difference in E between the two: {equal:.1e}")


def _seconds(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start


if __name__ == "__main__":
    main()
