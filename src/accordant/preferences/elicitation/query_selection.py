"""Asking one question after the other: the one that is worth most now, until there is a reason to stop.

`Inquiry` says what is asked, for which decision and until when, `Session` holds the questions and answers of one
person, `elicit` asks to the end, and `simulated_person` answers as a reward says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.checks import numbers
from accordant.preferences.elicitation.decision_value import (
    CRITERIA,
    Criterion,
    DecisionAtStake,
    Verdicts,
    best_question,
)
from accordant.preferences.elicitation.posterior import Posterior, chance

Reason = Literal["settled", "small regret", "asked enough", "stopped by the person"]
Answer = Literal["first", "second", "equal", "cannot say"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
SAMPLES = 2000  # so that the probability of a decision has a standard error of at most 0.011, at 0.95 of 0.005


@dataclass(frozen=True, eq=False)
class Standing:
    """What is known of the decision.

    Attributes
    ----------
    chances
        Probability that each action is the one that the true reward leads to, shape (action,).
    regrets
        Expected loss of each action, shape (action,).
    """

    chances: Values
    regrets: Values

    @classmethod
    def of(cls, verdicts: Verdicts) -> Standing:
        """Count the decisions of samples."""
        n_samples, n_actions = verdicts.losses.shape
        return cls(np.bincount(verdicts.decided, minlength=n_actions) / n_samples, verdicts.losses.mean(axis=0))

    @property
    def decided(self) -> int:
        """The action with the least expected loss; among equals the more probable one, then the first."""
        least = np.flatnonzero(self.regrets == self.regrets.min())
        return int(least[self.chances[least].argmax()])

    @property
    def probability(self) -> float:
        """Probability that this action is the one that the true reward leads to."""
        return float(self.chances[self.decided])

    @property
    def regret(self) -> float:
        """Expected loss of this action."""
        return float(self.regrets[self.decided])


@dataclass(frozen=True)
class Stopping:
    """When to stop.

    Parameters
    ----------
    level
        Stop as settled when the decision is right with at least this probability; above 0, at most 1.
    regret
        Stop with small regret when the expected loss is at most this, in units of the decision's losses; at least 0.
        With 0, only a decision that every sample shares has a small enough one.
    questions
        Stop having asked enough after this many, whatever was answered; at least 0.
    least
        Neither settled nor small regret before so many questions; at least 0. A prior from other users can settle a
        decision before this user has had the chance to contradict it.
    """

    level: float = 0.95
    regret: float = 0.05
    questions: int = 30
    least: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise InputError(f"level is {self.level}; allowed: above 0, at most 1")
        if not 0 <= self.regret < np.inf:
            raise InputError(f"regret is {self.regret}; allowed: at least 0")
        for name in ("questions", "least"):
            given = getattr(self, name)
            if not isinstance(given, int | np.integer) or given < 0:
                raise InputError(f"{name} is {given}; allowed: a whole number, at least 0")

    def reason(self, standing: Standing, asked: int) -> Reason | None:
        """Return why to stop, or None to go on."""
        if asked >= self.least and standing.probability >= self.level:
            return "settled"
        if asked >= self.least and standing.regret <= self.regret:
            return "small regret"
        return "asked enough" if asked >= self.questions else None


@dataclass(frozen=True)
class Question:
    """The question which of two items is better.

    Attributes
    ----------
    first, second
        Positions of the items, in the order in which they are shown.
    worth
        What the answer is worth by the criterion, in nats or units of the losses; 0 for ``random``.
    """

    first: int
    second: int
    worth: float


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What is asked, for which decision, and until when.

    Parameters
    ----------
    items
        Features of the items that can be compared, shape (item, feature).
    decision
        What the answers are for.
    pairs
        The pairs that may be asked, each at most once, shape (pair, 2); None for all. Work grows with their number.
    criterion
        How the next pair is chosen; see `criteria`.
    stopping
        When to stop. When every pair was asked, that is enough too.
    samples
        Draws of the reward behind every choice; at least 2.

    Raises
    ------
    InputError
        If a shape, a position or a number is wrong.
    """

    items: Values
    decision: DecisionAtStake
    pairs: Codes | None = None
    criterion: Criterion = "decision_information"
    stopping: Stopping = field(default_factory=Stopping)
    samples: int = SAMPLES

    def __post_init__(self) -> None:
        items = np.asarray(self.items, dtype=np.float64)
        if items.ndim != 2 or not np.isfinite(items).all():
            raise InputError(f"items have shape {items.shape}; allowed: finite numbers of shape (item, feature)")
        pairs = all_pairs(len(items)) if self.pairs is None else np.asarray(self.pairs)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InputError(f"pairs have shape {pairs.shape}; allowed: whole numbers of shape (pair, 2)")
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(items) or (pairs[:, 0] == pairs[:, 1]).any()):
            raise InputError(f"pairs must hold two different positions from 0 to {len(items) - 1}")
        if self.criterion not in CRITERIA:
            raise UnknownNameError("criterion", self.criterion, CRITERIA)
        if not isinstance(self.samples, int | np.integer) or self.samples < 2:
            raise InputError(f"samples is {self.samples}; allowed: a whole number, at least 2")
        wanted = self.decision.n_features
        if wanted is not None and wanted != items.shape[1]:
            raise InputError(f"items have {items.shape[1]} features; allowed: {wanted}, as in the decision")
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "pairs", pairs.astype(np.intp))

    def begin(self, belief: Posterior, generator: np.random.Generator) -> Session:
        """Return a session that starts from a belief."""
        return Session(self, belief, generator)


class Session:
    """The questions and answers of one person. Deterministic given the generator and the answers.

    Attributes
    ----------
    inquiry
        What is asked.
    belief
        About the reward, after the answers so far.
    standing
        Of the decision, after the answers so far.
    question
        The one to answer now; None when there is a reason to stop.
    stopped
        That reason; None while there is a question.
    answered
        Questions with their answers, in order.
    """

    def __init__(self, inquiry: Inquiry, belief: Posterior, generator: np.random.Generator) -> None:
        if inquiry.items.shape[1] != belief.prior.n_features:
            raise InputError(
                f"items have {inquiry.items.shape[1]} features; allowed: {belief.prior.n_features}, as in the belief"
            )
        self.inquiry, self.belief = inquiry, belief
        self.answered: list[tuple[Question, Answer]] = []
        self.stopped: Reason | None = None
        self.question: Question | None = None
        self._generator = generator
        assert inquiry.pairs is not None
        self._open = inquiry.pairs
        self._samples = belief.samples(inquiry.samples, generator)
        self._look()

    def answer(self, answer: Answer) -> None:
        """Take the answer to the question, learn from it and find the next question.

        "equal" counts as one answer each way; "cannot say" uses up the question and teaches nothing (see
        `Posterior.updated`).

        Raises
        ------
        InputError
            If there is no question, or no such answer.
        """
        if self.question is None:
            raise InputError(f"there is no question to answer: {self.stopped}")
        if answer not in ANSWERS:
            raise UnknownNameError("answer", answer, ANSWERS)
        question = self.question
        difference = self.inquiry.items[question.first] - self.inquiry.items[question.second]
        before = self.belief.n_answers
        if answer in ("first", "equal"):
            self.belief = self.belief.updated(difference)
        if answer in ("second", "equal"):
            self.belief = self.belief.updated(-difference)
        if newest := self.belief.n_answers - before:
            self._samples = self.belief.samples_from(self._samples, newest, self._generator)
        self.answered.append((question, answer))
        shown = np.sort([question.first, question.second])
        self._open = self._open[(np.sort(self._open, axis=1) != shown).any(axis=1)]
        self._look()

    def stop(self) -> None:
        """End at the person's wish; without effect if there was a reason before."""
        if self.question is not None:
            self.question, self.stopped = None, "stopped by the person"

    def _look(self) -> None:
        """Judge the decision, and find the next question or the reason to stop."""
        inquiry = self.inquiry
        verdicts = self._judge()
        if self.stopped in ("settled", "small regret") and self.answered:
            # of many looks the first lucky one would stop: only samples drawn afresh may
            self._samples = self.belief.samples(inquiry.samples, self._generator)
            verdicts = self._judge()
        if self.stopped is not None:
            self.question = None
            return
        rewards = self._samples @ inquiry.items.T
        likely = chance(rewards[:, self._open[:, 0]] - rewards[:, self._open[:, 1]], self.belief.lapse)
        at, value = best_question(inquiry.criterion, likely, verdicts, self._generator)
        # whoever tends to the first option would otherwise lean towards low positions
        shown = self._generator.permutation(self._open[at])
        self.question = Question(int(shown[0]), int(shown[1]), value)

    def _judge(self) -> Verdicts:
        """Return what the samples lead to, and keep where the decision stands and whether that is a reason to stop."""
        verdicts = self.inquiry.decision.verdicts(self._samples)
        self.standing = Standing.of(verdicts)
        self.stopped = self.inquiry.stopping.reason(self.standing, len(self.answered))
        if self.stopped is None and not len(self._open):
            self.stopped = "asked enough"
        return verdicts


@dataclass(frozen=True, eq=False)
class Elicited:
    """The end of a session.

    Attributes
    ----------
    belief, standing, stopped, answered
        See `Session`.
    """

    belief: Posterior
    standing: Standing
    stopped: Reason
    answered: tuple[tuple[Question, Answer], ...]


def elicit(
    inquiry: Inquiry, belief: Posterior, respond: Callable[[Question], Answer | None], generator: np.random.Generator
) -> Elicited:
    """Ask until there is a reason to stop.

    Parameters
    ----------
    inquiry
        What is asked.
    belief
        Before the first answer.
    respond
        Answers a question; None stops.
    generator
        Source of randomness.
    """
    session = inquiry.begin(belief, generator)
    while session.question is not None:
        answer = respond(session.question)
        if answer is None:
            session.stop()
        else:
            session.answer(answer)
    assert session.stopped is not None
    return Elicited(session.belief, session.standing, session.stopped, tuple(session.answered))


def all_pairs(n_items: int) -> Codes:
    """Return every two of the items, shape (pair, 2)."""
    first, second = np.triu_indices(n_items, 1)
    return np.stack([first, second], axis=1).astype(np.intp)


def simulated_person(
    coefficients: Any, items: Any, generator: np.random.Generator, lapse: float = 0.0
) -> Callable[[Question], Answer]:
    """Return a function from questions to the answers "first" and "second".

    Parameters
    ----------
    coefficients
        Of the true reward, shape (feature,).
    items
        Features of the items, shape (item, feature).
    generator
        Source of the answers.
    lapse
        Share of answers given without looking, in [0, 1).

    Raises
    ------
    InputError
        If a shape or a number is wrong.
    """
    if not 0 <= lapse < 1:
        raise InputError(f"lapse is {lapse}; allowed: at least 0, below 1")
    features = np.asarray(items, dtype=np.float64)
    rewards = features @ numbers("coefficients", coefficients, "feature", features.shape[1])

    def respond(question: Question) -> Answer:
        """Answer one question."""
        margin = np.asarray(rewards[question.first] - rewards[question.second])
        return "first" if generator.random() < chance(margin, lapse) else "second"

    return respond
