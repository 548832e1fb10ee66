"""`AgentReward`: what a language model said for a stakeholder, replayed from a recording.

    rewards: {Applicant: {signal: agent, model: qwen2.5, file: applicant.jsonl}}

``accordant ask CASE --stakeholder Applicant --llm URL --model qwen2.5 --record applicant.jsonl`` asks, once. A run
reads the recording and opens no connection; a case that declares other names or descriptions asks other questions,
which the recording does not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from accordant.agents.language.options import REPLAYED
from accordant.agents.language.provider import Replay
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, NotFittedError
from accordant.preferences.learned_rewards.answers import ANYBODY, Answers
from accordant.preferences.learned_rewards.comparison_reward import ComparisonReward
from accordant.preferences.learned_rewards.fitted_reward import FittedComparisonReward
from accordant.preferences.learned_rewards.respondent import Asked, LanguageModelRespondent
from accordant.problem import DecisionProblem
from accordant.rewards import Outcome, RewardSignal, rewards
from accordant.tables.text import file_hash


@rewards.register("agent")
@dataclass(frozen=True)
class AgentReward(RewardSignal):
    """A reward learned from what a language model answered for the stakeholder, as a recording holds it.

    Parameters
    ----------
    model
        Its name, as it was asked by.
    file
        The recording: what ``accordant ask --record`` wrote.

    Raises
    ------
    InputError
        If one of them is no name.
    """

    model: str
    file: str

    def __post_init__(self) -> None:
        for name in ("model", "file"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise InputError(f"{name} is {getattr(self, name)!r:.60}; allowed: a name")

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Raise: nothing was learned yet."""
        del contexts, action, outcome
        raise NotFittedError(f"the reward from {self.file} is not learned; call of_stakeholder, then fit")

    def located(self, find: Callable[[str], Path]) -> AgentReward:
        """Return the signal with the path of its recording."""
        return replace(self, file=str(find(self.file)))

    def of_stakeholder(self, name: str, problem: DecisionProblem) -> ReplayedReward:
        """Return the signal with every question about the stakeholder answered from the recording.

        Raises
        ------
        InputError
            If the recording cannot be used, or lacks an answer.
        """
        path = Path(self.file)
        respondent = LanguageModelRespondent(name, REPLAYED, self.model, key_variable=None, provider=Replay(path))
        return ReplayedReward(self.model, str(path), name, respondent.asked(problem, name))

    def restored(self, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the fitted signal; the recording is not read."""
        return FittedComparisonReward.of_state(state)


@dataclass(frozen=True)
class ReplayedReward(RewardSignal):
    """A reward to be learned from what a language model answered for one stakeholder.

    Attributes
    ----------
    model, file, stakeholder
        Who answered, in which recording, for whom.
    asked
        The answers.
    """

    model: str
    file: str
    stakeholder: str
    asked: Asked

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Raise: nothing was learned yet."""
        del contexts, action, outcome
        raise NotFittedError(f"the reward from {self.file} is not learned; call fit(log, problem)")

    def fit(self, log: Log, problem: DecisionProblem) -> FittedComparisonReward:
        """Learn a Bradley–Terry reward of cells from the answers. Deterministic."""
        fitted = ComparisonReward(self.file).learned_from(self._answers(problem), log, problem)
        told = [f"the language model {self.model!r} answered, and nobody asked {self.stakeholder}."]
        if self.asked.by_place:
            told.append(
                f"of {self.asked.pairs} pairs, each asked in both orders, {self.asked.by_place} were answered by the "
                "place in the question; these count for neither."
            )
        return replace(fitted, about={**fitted.about, "model": self.model}, sentences=(*told, *fitted.sentences))

    def _answers(self, problem: DecisionProblem) -> Answers:
        cells = [[record.chosen, record.rejected] for record in self.asked.preferred]
        path, n_records = Path(self.file), len(cells)
        return Answers(
            path.name, file_hash(path),
            np.array([[problem.actions.index(cell.action) for cell in pair] for pair in cells]).T,
            np.array([[problem.outcome_names.index(cell.outcome) for cell in pair] for pair in cells]).T,
            np.empty((n_records, 0)), np.zeros(n_records, dtype=np.intp), (ANYBODY,), None, None, (),
        )  # fmt: skip
