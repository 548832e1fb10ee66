"""`ComparisonReward`: what a stakeholder wants, learned from answers to "which of these two is better?".

One linear reward is learned for everybody who speaks for the stakeholder, or one for each of them, by any registered
preference learner, and mapped to [0, 1]. How the rewards of several people become one is declared by `users`:

    pooled   the learner's reward for somebody unknown; with Bradley–Terry, whoever answered more counts more
    mean     each user's own reward is mapped to [0, 1], and their mean is taken: everybody counts the same
    worst    likewise, and of the groups' means the lowest is taken; without groups, of the users' rewards

With ``mean`` and ``worst``, users whose records all weigh 0 are left out.

Both cells of a record share their context. So comparisons say which cell is better here, and never whether it is better
to be here than there: within a context the learned slopes of all cells add up to about 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.naming import counted
from accordant.preferences.learned_rewards.answers import USER, Answers, read_answers
from accordant.preferences.learned_rewards.fitted_reward import CellFeatures, FittedComparisonReward, Scale
from accordant.preferences.learned_rewards.gaps import gaps, gaps_of_users
from accordant.preferences.learned_rewards.groups import MOST_TYPES, groups_of, people_of_group, people_of_type
from accordant.preferences.learners.learner import RewardModel, learners
from accordant.preferences.learners.logistic import log_loss, right
from accordant.preferences.records import Comparisons
from accordant.problem import DecisionProblem, value_label
from accordant.reward_groups import RewardGroups
from accordant.rewards import Outcome, RewardSignal, rewards

NEAR_CHANCE = 0.95  # of log 2, the loss of a reward that tells nothing apart
SOLVED = 1e-6  # margins of this size are ties: a solver stops before the last digits
Users = Literal["pooled", "mean", "worst"]
ANCHORS = ("lowest", "highest")
CLIPPED_SHARE = 0.05  # more rewards than this beyond one end of the scale are reported
SCALE_ROWS = 10_000  # training rows that are enough to find the ends of a scale, evenly spaced
NODES = 21  # continuous outcomes at which the range of rewards is looked for
CHECKED_ITEMS = 1000  # items on which a learner's rewards are checked for being linear


@dataclass(frozen=True)
class Agreement:
    """How well a learned reward agrees with the comparisons that it was learned from.

    Attributes
    ----------
    share
        Share of records, by weight, whose chosen item has the higher reward; a tie (within `SOLVED`) counts half.
    log_loss
        Mean of −log σ(margin), by weight; log 2 ≈ 0.693 if the reward tells nothing apart.
    """

    share: float
    log_loss: float

    @classmethod
    def of(cls, margins: Values, weights: Values) -> Agreement:
        """Return it from margins and weights, shape (record,) each."""
        settled = np.where(np.abs(margins) <= SOLVED, 0.0, margins)
        return cls(*(float(np.average(values, weights=weights)) for values in (right(settled), log_loss(margins))))

    def warnings(self) -> list[str]:
        """Say if the answers contradict each other so much that there is little to learn."""
        if self.log_loss < NEAR_CHANCE * np.log(2):
            return []
        sentence = (
            f"the comparisons contradict each other or are too few: the learned reward agrees with {self.share:.0%} of "
            f"them, with a log-loss of {self.log_loss:.3f} where one that tells nothing apart has {np.log(2):.3f}."
        )
        return [sentence]


@rewards.register("comparisons")
@dataclass(frozen=True)
class ComparisonReward(RewardSignal):
    """A reward learned from a file of comparisons of cells.

    Parameters
    ----------
    file
        See `accordant.preferences.learned_rewards.answers.read_answers`.
    learner, parameters
        Registered preference learner and its parameters.
    context
        Numeric context columns, in the file and in the data, on which the reward may depend.
    users
        How the rewards of several users become one: ``pooled``, ``mean`` or ``worst``, see the head of this module.
    only
        Names of the users whose records count; None for all but other stakeholders of the problem.
    anchors
        ``{lowest: [action, outcome], highest: [action, outcome]}``: the cells with mean reward 0 and 1; None for the
        range of all cells. With ``pooled`` users only: others may disagree on which cell is higher.
    group
        Only people whom the file's ``group_id`` puts into this group count; None for all.
    type, types
        Only people of this type of so many count, see `accordant.preferences.learned_rewards.groups`; None for all.

    Raises
    ------
    InputError
        If a parameter cannot be used.
    """

    file: str
    learner: str = "bradley_terry"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    users: Users = "pooled"
    only: tuple[str, ...] | None = None
    anchors: Mapping[str, tuple[str, Any]] | None = None
    group: str | None = None
    type: int | None = None
    types: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.file, str) or not self.file:
            raise InputError(f"file is {self.file!r}; allowed: the path of a file")
        object.__setattr__(self, "context", _distinct("context", self.context))
        if self.only is not None:
            object.__setattr__(self, "only", _distinct("only", self.only))
            if not self.only:
                raise InputError("only names nobody; allowed: at least one user, or nothing for all")
        if self.users not in get_args(Users):
            raise UnknownNameError("users", self.users, get_args(Users))
        learners.create(self.learner, self.parameters)
        if self.anchors is not None:
            self._check_anchors(self.anchors)
        self._check_groups()

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns."""
        return self.context

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Raise: nothing was learned yet."""
        del contexts, action, outcome
        raise NotFittedError(f"the reward from {self.file} is not learned; call fit(log, problem)")

    def located(self, find: Callable[[str], Path]) -> ComparisonReward:
        """Return the signal with the path of its file."""
        return replace(self, file=str(find(self.file)))

    def of_stakeholder(self, name: str, problem: DecisionProblem) -> ComparisonReward:
        """Return the signal without what other stakeholders answered, if several share the file and `only` is None.

        Raises
        ------
        DataError
            If the file cannot be used, or holds answers of other stakeholders alone.
        """
        answers = self._answers(problem)
        if self.group is not None:
            people_of_group(answers, self.group)
        others = [user for user in answers.user_names if user != name and user in problem.stakeholder_names]
        if self.only is not None or not others:
            return self
        kept = tuple(user for user in answers.user_names if user not in others)
        if not kept:
            raise DataError(
                f"{answers.source}: the only answers are those of {', '.join(others)} ({USER}); allowed: answers of "
                f"{name!r}, or of people who are no stakeholders of the case"
            )
        return replace(self, only=kept)

    def groups_of_people(self, problem: DecisionProblem, *, by: str, most: int, least: int) -> RewardGroups:
        """Return the groups of the people who answered, see `accordant.preferences.learned_rewards.groups.groups_of`.

        Raises
        ------
        InputError
            If the reward is that of a group already, or people cannot be divided so.
        """
        if self._divided:
            raise InputError("the reward is that of a group already: it has a group, or a type")
        return groups_of(self._answers(problem), problem, self.context, by=by, most=most, least=least)

    @property
    def _divided(self) -> bool:
        """Whether some of the people count and others do not."""
        return self.group is not None or self.type is not None

    def _answers(self, problem: DecisionProblem) -> Answers:
        return read_answers(self.file, problem, context=self.context, only=self.only)

    def _people(self, answers: Answers, problem: DecisionProblem) -> Codes:
        """Return the positions of the people of the group or of the type."""
        if self.type is not None and self.types is not None:
            return people_of_type(answers, problem, self.context, self.type, self.types)
        return people_of_group(answers, str(self.group))

    def restored(self, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the fitted signal; the file is not read."""
        return FittedComparisonReward.of_state(state)

    def fit(self, log: Log, problem: DecisionProblem) -> FittedComparisonReward:
        """Learn from the file; training rows give the scales of context columns and of the reward. Deterministic.

        Raises
        ------
        InputError
            If the file or a column cannot be used, or the learner does not fit `users`.
        """
        answers, left_out = self._answers(problem), 0
        if self.users != "pooled" or self._divided:
            answers, left_out = answers.of_weighing_users()
        if self._divided:  # who is left out was said when the groups were made
            answers, left_out = answers.of_users(self._people(answers, problem)), 0
        return self.learned_from(answers, log, problem, left_out)

    def learned_from(
        self, answers: Answers, log: Log, problem: DecisionProblem, left_out: int = 0
    ) -> FittedComparisonReward:
        """Learn from answers that were read, of which those of `left_out` users do not count, see `fit`."""
        features = CellFeatures.fit(log, problem, self.context, answers)
        items, n_records = features.items(answers), len(answers)
        rows = np.arange(n_records)
        comparisons = Comparisons(
            items, rows, rows + n_records, answers.users, answers.user_names, answers.groups, answers.weights
        )
        model = learners.create(self.learner, self.parameters).fit(comparisons)
        thetas = self._coefficients(model, comparisons)
        agreement = Agreement.of(_margins(model, comparisons, thetas[0], self.users), comparisons.record_weights)
        coefficients = thetas.reshape(-1, *features.shape)
        scales, clipped = self._scales(coefficients, features, log, problem)
        return FittedComparisonReward(
            features, coefficients, scales, self._groups(answers),
            self._about(answers, agreement),
            (*self._gaps(answers, problem), *agreement.warnings(), *clipped, *getattr(model, "warnings", ()),
             *_weightless(left_out), *_unused(answers)),
        )  # fmt: skip

    def _coefficients(self, model: RewardModel, comparisons: Comparisons) -> Values:
        """Return the coefficients of the common reward, or of each user's, shape (member, feature)."""
        users = [None] if self.users == "pooled" else range(comparisons.n_users)
        some = comparisons.features[:CHECKED_ITEMS]
        thetas = []
        for user in users:
            theta = model.rewards(np.eye(comparisons.features.shape[1]), user)
            if not np.allclose(model.rewards(some, user), some @ theta, rtol=1e-6, atol=1e-6 * np.abs(theta).max()):
                raise InputError(f"learner {self.learner!r} learns rewards that are not linear; allowed: linear ones")
            thetas.append(theta)
        if len(thetas) > 1 and all(np.array_equal(thetas[0], other) for other in thetas):
            raise InputError(
                f"users is {self.users!r}, and learner {self.learner!r} learned the same reward for every user; "
                "allowed: a learner with a reward for each, such as 'per_user', or users: pooled"
            )
        return np.stack(thetas)

    def _scales(
        self, coefficients: Values, features: CellFeatures, log: Log, problem: DecisionProblem
    ) -> tuple[tuple[Scale, ...], list[str]]:
        """Return each member's scale, and what to say of rewards beyond its ends."""
        around = features.of_contexts(log.contexts) if self.context else np.ones((1, 1))
        around = around[:: max(1, len(around) // SCALE_ROWS)]
        cells = features.of_cells(*_every_cell(log, problem))
        scales, outside = [], []
        for own in coefficients:
            learned = cells @ own @ around.T
            if self.anchors is None:
                scale = Scale.by_range(learned)
            else:
                ends = (features.of_cell(*self.anchors[name], 1) for name in ANCHORS)
                scale = Scale.by_anchors(*((end @ own @ around.T)[0] for end in ends))
            scales.append(scale)
            outside.append(scale.outside(learned))
        return tuple(scales), [
            f"{share:.0%} of the learned rewards lie beyond the end of the scale and are clipped to {end}: there they "
            "no longer tell actions and outcomes apart."
            for end, share in enumerate(np.mean(outside, axis=0))
            if share > CLIPPED_SHARE
        ]

    def _gaps(self, answers: Answers, problem: DecisionProblem) -> list[str]:
        """Say what the comparisons leave open; of users whose own rewards count, also what theirs do."""
        sentences = gaps(answers, problem)
        return sentences if self.users == "pooled" else [*sentences, *gaps_of_users(answers, problem)]

    def _groups(self, answers: Answers) -> tuple[int, ...]:
        """Return which members are averaged before the lowest is taken."""
        if self.users == "pooled":
            return (0,)
        if self.users == "mean":
            return (0,) * len(answers.user_names)
        labels = answers.user_names if answers.groups is None else answers.groups
        place = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        return tuple(place[label] for label in labels)

    def _about(self, answers: Answers, agreement: Agreement) -> dict[str, Any]:
        return {
            "file": answers.source,
            "sha256": answers.sha256,
            "records": len(answers),
            "users": len(answers.user_names),
            "groups": len(set(answers.groups or ())),
            "learner": self.learner,
            "parameters": dict(self.parameters),
            "aggregation": self.users,
            "agreement": agreement.share,
            "log_loss": agreement.log_loss,
            **({"records_sha256": answers.records_sha256} if self._divided else {}),
        }

    def _check_groups(self) -> None:
        if self.group is not None:
            object.__setattr__(self, "group", value_label(self.group))
            if self.type is not None or self.types is not None:
                raise InputError("people have a group or a type; found both")
        if self.type is None and self.types is None:
            return
        for name, value, most in (("types", self.types, MOST_TYPES), ("type", self.type, self.types)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= (most or 1):
                raise InputError(f"{name} is {value!r}; allowed: a whole number from 1 to {most}; both are needed")

    def _check_anchors(self, anchors: Mapping[str, Any]) -> None:
        if self.users != "pooled":
            raise InputError(f"anchors are for users: pooled; found users: {self.users}")
        if not isinstance(anchors, Mapping) or set(anchors) != set(ANCHORS):
            raise InputError(f"anchors are {anchors!r}; allowed: lowest and highest, each [action, outcome]")
        for name, cell in anchors.items():
            if not isinstance(cell, list | tuple) or len(cell) != 2:
                raise InputError(f"anchor {name!r} is {cell!r}; allowed: [action, outcome]")


def _every_cell(log: Log, problem: DecisionProblem) -> tuple[NDArray[np.intp], Any]:
    """Return codes of actions and codes of outcomes, or training quantiles of continuous ones, crossed."""
    outcomes: Any
    if problem.continuous:
        outcomes = np.unique(np.quantile(log.outcomes, np.linspace(0.01, 0.99, NODES)))
    else:
        outcomes = np.arange(len(problem.outcome_names))
    n_actions = len(problem.actions)
    return np.repeat(np.arange(n_actions), len(outcomes)), np.tile(outcomes, n_actions)


def _margins(model: RewardModel, comparisons: Comparisons, theta: Values, users: Users) -> Values:
    """Return margins of the reward that is used: the model's own, or those of θ if it knows users and θ does not."""
    basis = np.eye(comparisons.features.shape[1])
    if users == "pooled" and any(
        not np.array_equal(model.rewards(basis, user), theta) for user in range(comparisons.n_users)
    ):
        return np.asarray(comparisons.differences() @ theta)
    return model.margins(comparisons)


def _distinct(name: str, given: Any) -> tuple[str, ...]:
    """Return a list of names, or raise if it is none or a name repeats."""
    if (
        not isinstance(given, list | tuple)
        or not all(isinstance(label, str) for label in given)
        or len(set(given)) < len(given)
    ):
        raise InputError(f"{name} is {given!r}; allowed: a list of different names")
    return tuple(given)


def _weightless(n_users: int) -> list[str]:
    """Say how many users were left out because none of their records weighs anything."""
    if not n_users:
        return []
    return [f"records of weight 0 alone are no answers; {counted(n_users, 'user is', 'users are')} left out."]


def _unused(answers: Answers) -> list[str]:
    """Say which columns of the file nothing reads."""
    if not answers.unused:
        return []
    columns = ", ".join(answers.unused)
    return [f"{answers.source} has columns that nothing reads: {columns}; list under `context` what the reward reads."]
