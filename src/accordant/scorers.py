"""Scorers for scikit-learn: any metric of a policy, where cross-validation and searches ask for a number.

    cross_validate(policy, X, outcomes, scoring={"worst-off": ac.policy_scorer("min_reward")},
                   params={"actions": actions})

Scorers ask for the actions, outcomes and rewards of the rows by metadata routing, which scikit-learn switches on by
``sklearn.set_config(enable_metadata_routing=True)``; so do `ParticipatoryPolicy.fit` and `score`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.utils.metadata_routing import MetadataRequest

from accordant.errors import InputError
from accordant.metrics import Metric, metrics

REQUESTED: Mapping[str, bool] = {"actions": True, "outcomes": True, "rewards": True}
"""What is known of rows beside X and y; without it nothing can be fitted or scored, so it is asked for by default."""


class PolicyScorer:
    """A metric of what D* of a fitted policy decides on rows, so that more is better.

    Parameters
    ----------
    metric
        The metric. One that should be small counts with the other sign, one that should be zero by minus its distance.
    strategy
        Label of another strategy than D*.
    """

    signs: ClassVar[Mapping[str, float]] = {"max": 1.0, "min": -1.0, "zero": -1.0}

    def __init__(self, metric: Metric, strategy: str | None = None) -> None:
        self.metric = metric
        self.strategy = strategy
        self._requested: dict[str, Any] = dict(REQUESTED)

    def __call__(
        self, policy: Any, X: Any, y: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Any = None
    ) -> float:
        """Return the metric on rows that the policy has not seen, signed; NaN if it is not defined there.

        Parameters
        ----------
        policy
            A fitted `ParticipatoryPolicy`.
        X, y, actions, outcomes, rewards
            As for `ParticipatoryPolicy.evaluate`.

        Raises
        ------
        InputError
            If it is no policy, or the rows do not tell what the metric needs.
        """
        if not hasattr(policy, "evidence_on"):
            raise InputError(
                f"{self!r} scores policies; found {type(policy).__name__}. A policy in a pipeline is scored by the "
                "pipeline's own score"
            )
        log = policy.log_of(X, y, actions=actions, outcomes=outcomes, rewards=rewards)
        evidence = policy.evidence_on(log)
        rule = policy.strategy(self.strategy or policy.selected_)
        decisions = rule(evidence.expected, prediction=evidence.prediction, log=log, contexts=evidence.log.contexts)
        value = self.metric.evaluate(decisions, evidence).value
        if value is None:
            return float("nan")
        return self.signs[self.metric.goal] * (abs(value) if self.metric.goal == "zero" else value)

    def set_score_request(self, **requests: Any) -> Self:
        """Say which of ``actions``, ``outcomes`` and ``rewards`` scikit-learn hands on; all by default."""
        self._requested |= requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what scikit-learn hands on."""
        request = MetadataRequest(owner=self)
        for name, wanted in self._requested.items():
            request.score.add_request(param=name, alias=wanted)
        return request

    def __repr__(self) -> str:
        return f"policy_scorer({self.metric.name!r})"


def policy_scorer(
    metric: str | Metric, parameters: Mapping[str, Any] | None = None, *, strategy: str | None = None
) -> PolicyScorer:
    """Return a scorer for `sklearn.model_selection`.

    Parameters
    ----------
    metric
        A metric, or the name of a registered one.
    parameters
        Parameters of one that is named.
    strategy
        Label of another strategy than D*.
    """
    return PolicyScorer(metrics.create(metric, dict(parameters or {})) if isinstance(metric, str) else metric, strategy)
