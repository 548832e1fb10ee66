"""Interviews about a case: what one stakeholder prefers, asked until it is clear which action suits them best.

What is compared are cells: an action followed by an outcome. What is at stake is the action that is best for the
stakeholder in expectation under the outcome frequencies of the case's data; without data, the best cell.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import Values
from accordant.cases.files import read_case
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, UnknownNameError
from accordant.learning.diagnostics import identify
from accordant.preferences.elicitation import (
    Answer,
    Inquiry,
    NormalPrior,
    OwnChoice,
    Posterior,
    Question,
    ScalePrior,
    Session,
    Stopping,
    all_pairs,
)
from accordant.preferences.learned_rewards.answer_file import AnswerFile, Cell, Preferred, checked_context
from accordant.runs.execution import RunOptions, case_data, has_data
from accordant.runs.folder import Run
from accordant.runs.untouched_rows import untouched_rows
from accordant.tables.output import is_standard_output

logger = logging.getLogger(__name__)


VARIANCE = 9.0  # of what an action, an outcome and a cell add: asked twice, people answer alike in about 87 % of cases
SCALE = ScalePrior()  # how sure somebody answers is learned: from a twentieth of what the variance says to five times
LAPSE = 0.02  # one answer in a hundred is a slip
REGRET = 0.05  # expected loss that is not worth another question: the better action would win 51 of 100 times
MOST_PAIRS = 2000  # that are weighed for every question; more are drawn from once


@dataclass(frozen=True)
class InterviewOptions:
    """What may be said about an interview beside the case and the stakeholder.

    Attributes
    ----------
    questions
        Most questions to ask.
    level
        How probable the best action must be to stop; with 1, a small expected loss is no reason to stop either.
    seed
        Seed of everything random.
    data
        File or folder with the case's data; None looks in the usual places.
    context
        What is known beforehand about the decision, name to value; every question supposes it.
    """

    questions: int = 30
    level: float = 0.95
    seed: int = 42
    data: str | None = None
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AtStake:
    """The alternatives that the interview decides between.

    Attributes
    ----------
    kind
        ``action`` or, without data, ``action and outcome``.
    names
        Of the alternatives.
    cells
        Probability of each cell if an alternative is taken, shape (alternative, cell).
    basis
        Where the probabilities come from, in words.
    """

    kind: str
    names: tuple[str, ...]
    cells: Values
    basis: str


class Interview:
    """One interview: questions in words, answers as records.

    Attributes
    ----------
    case, stakeholder, context
        What it is about.
    cells
        Every action followed by every outcome.
    at_stake
        What it decides.
    session
        Questions, answers and beliefs.
    earlier, records
        Records of the same stakeholder and context from before, and those of this interview.
    """

    def __init__(
        self, case: CaseSpec, stakeholder: str, at_stake: AtStake, options: InterviewOptions, earlier: list[Preferred]
    ) -> None:
        problem = case.problem
        self.case, self.stakeholder, self.context = case, stakeholder, dict(options.context)
        self.cells = cells_of(case)
        self.at_stake, self.earlier = at_stake, earlier
        self.records: list[Preferred] = []
        position = {cell: k for k, cell in enumerate(self.cells)}
        known = np.array([[position[record.chosen], position[record.rejected]] for record in earlier], dtype=np.intp)
        generator = randomness.generator(options.seed, "elicitation")
        items = np.eye(len(self.cells))
        belief = Posterior(cell_prior(len(problem.actions), len(problem.outcome_names)), LAPSE, scale=SCALE)
        for chosen, rejected in known:
            belief = belief.updated(items[chosen] - items[rejected])
        regret = REGRET if options.level < 1 else 0.0
        stopping = Stopping(options.level, regret, options.questions)
        pairs = _open_pairs(len(items), known, generator)
        self.session: Session = Inquiry(items, OwnChoice(at_stake.cells), pairs, stopping=stopping).begin(
            belief, generator
        )

    @property
    def question(self) -> tuple[Cell, Cell] | None:
        """The two cells to choose between now, or None when there is a reason to stop."""
        return None if self.session.question is None else self._shown(self.session.question)

    def answer(self, answer: Answer) -> list[Preferred]:
        """Take an answer, find the next question, and return the records that the answer makes, see `meaning`."""
        made = self.meaning(answer)
        self.session.answer(answer)
        self.records += made
        return made

    def meaning(self, answer: Answer) -> list[Preferred]:
        """Return the records that an answer to the question makes: one, two for "equal", none for "cannot say".

        At once, so that they can be written before the next question is looked for.
        """
        if self.question is None:
            return []
        first, second = self.question
        made = [Preferred(first, second)] if answer in ("first", "equal") else []
        return made + ([Preferred(second, first)] if answer in ("second", "equal") else [])

    def to_json(self) -> dict[str, Any]:
        """Return the result as ``accordant elicit --json`` prints it.

        Keys: ``case``, ``stakeholder``, ``context``, ``stopped``, ``questions`` (answered now), ``cannot_say``,
        ``equal``, ``earlier`` (records from before), ``decision`` (``kind``, ``basis``, ``best``, ``probability``,
        ``regret``, ``chances`` by name), ``rewards`` (of each cell: ``mean`` and ``sd`` of the normal approximation, in
        units in which a difference of 1 makes a cell e times as likely chosen) and ``records``.
        """
        session, standing = self.session, self.session.standing
        given = [answer for _, answer in session.answered]
        spread = np.sqrt(np.diag(session.belief.covariance))
        return {
            "case": self.case.name,
            "stakeholder": self.stakeholder,
            "context": self.context,
            "stopped": session.stopped,
            "questions": len(given),
            "cannot_say": given.count("cannot say"),
            "equal": given.count("equal"),
            "earlier": len(self.earlier),
            "decision": {
                "kind": self.at_stake.kind,
                "basis": self.at_stake.basis,
                "best": self.at_stake.names[standing.decided],
                "probability": standing.probability,
                "regret": standing.regret,
                "chances": dict(zip(self.at_stake.names, map(float, standing.chances), strict=True)),
            },
            "rewards": [
                {**asdict(cell), "mean": float(mean), "sd": float(sd)}
                for cell, mean, sd in zip(self.cells, session.belief.mean, spread, strict=True)
            ],
            "records": [record.row(self.stakeholder, self.context) for record in self.records],
        }

    def _shown(self, question: Question) -> tuple[Cell, Cell]:
        return self.cells[question.first], self.cells[question.second]


def begin_interview(
    subject: str | Path | Run, stakeholder: str, options: InterviewOptions, out: Path | None = None
) -> tuple[Interview, AnswerFile | None]:
    """Prepare an interview, and the file that its answers are added to.

    Parameters
    ----------
    subject
        A built-in case, a YAML file, or a finished run, whose outcome model says what follows an action.
    stakeholder
        Who answers.
    options
        See `InterviewOptions`.
    out
        CSV file; if it exists, what the same stakeholder said in the same context counts as answered.

    Raises
    ------
    InputError
        If the case, a name, the data or the file cannot be used, or outcomes are continuous.
    """
    case, beside = (subject.case, None) if isinstance(subject, Run) else read_case(subject)
    if stakeholder not in case.problem.stakeholder_names:
        raise UnknownNameError("stakeholder", stakeholder, case.problem.stakeholder_names)
    if case.problem.continuous:
        raise InputError(
            f"the case {case.name!r} has a continuous outcome; an interview compares actions with named outcomes"
        )
    checked_context(case, options.context)
    at_stake = decision_of_run(subject, options) if isinstance(subject, Run) else decision_of(case, beside, options)
    file = None if out is None or is_standard_output(out) else AnswerFile(out, tuple(options.context))
    earlier = [] if file is None else file.earlier(stakeholder, options.context, cells_of(case))
    return Interview(case, stakeholder, at_stake, options, earlier), file


def cells_of(case: CaseSpec) -> tuple[Cell, ...]:
    """Return every action with every outcome, in declared order, outcomes running fastest."""
    return tuple(Cell(action, outcome) for action in case.problem.actions for outcome in case.problem.outcome_names)


def decision_of(case: CaseSpec, beside: Path | None, options: InterviewOptions) -> AtStake:
    """Return what the interview decides: the action by the data's outcome frequencies, or without data the cell.

    Frequencies are those of each action where the log identifies them (see `identify`), else those of all rows for
    every action. The overall frequencies count as one more row of each action, so that an action that was never taken
    has some. They describe the data: who got which action for which reason is not taken out.
    """
    problem, n_outcomes = case.problem, len(case.problem.outcome_names)
    cells = np.eye(len(problem.actions) * n_outcomes)
    if not has_data(case, beside, options.data):
        names = tuple(str(cell) for cell in cells_of(case))
        return AtStake("action and outcome", names, cells, "there are no data, so no outcome frequencies")
    data = case_data(case, beside, RunOptions(options.seed, options.data), case.signals())
    outcomes = data.log.outcomes.astype(np.intp)
    overall = np.bincount(outcomes, minlength=n_outcomes) / len(outcomes)
    if identify(data.log, problem).action_aware:
        counts = np.zeros((len(problem.actions), n_outcomes))
        np.add.at(counts, (data.log.actions, outcomes), 1.0)
        frequencies = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1.0)
        basis = f"outcome frequencies of each action in {data.source}"
    else:
        frequencies = np.tile(overall, (len(problem.actions), 1))
        basis = f"outcome frequencies in {data.source}, taken to be the same for every action"
    weights = (np.eye(len(problem.actions))[:, :, None] * frequencies[:, None, :]).reshape(len(problem.actions), -1)
    return AtStake("action", tuple(problem.actions), weights @ cells, basis)


def decision_of_run(run: Run, options: InterviewOptions) -> AtStake:
    """Return what the interview decides: the action that is best on the untouched rows of a run, as it predicts them.

    Raises
    ------
    InputError
        If the untouched rows are not at hand.
    """
    untouched = untouched_rows(run, options.data)
    prediction = run.policy.outcome_model_.predict(run.policy.contexts_of(untouched.data.log.contexts))
    actions = tuple(run.case.problem.actions)
    weights = (np.eye(len(actions))[:, :, None] * prediction.weights.mean(axis=2)[:, None, :]).reshape(len(actions), -1)
    n = len(untouched.data.log)
    return AtStake(
        "action", actions, weights, f"{untouched.notice}outcomes that the run predicts on its {n} untouched rows"
    )


def cell_prior(n_actions: int, n_outcomes: int) -> NormalPrior:
    """Return the prior of cells' rewards: each is the sum of what the action, the outcome and both together add.

    So an answer about one cell also tells something about cells with the same action or the same outcome [ours].
    """
    same_action = np.kron(np.eye(n_actions), np.ones((n_outcomes, n_outcomes)))
    same_outcome = np.kron(np.ones((n_actions, n_actions)), np.eye(n_outcomes))
    n_cells = n_actions * n_outcomes
    return NormalPrior(np.zeros(n_cells), VARIANCE * (same_action + same_outcome + np.eye(n_cells)))


def _open_pairs(n_items: int, known: NDArray[np.intp], generator: np.random.Generator) -> NDArray[np.intp]:
    """Return pairs that were not answered before, so many at most as can be weighed quickly."""
    pairs = all_pairs(n_items)
    if len(known):
        answered = {tuple(sorted(pair)) for pair in known.tolist()}
        pairs = pairs[[tuple(pair) not in answered for pair in pairs.tolist()]]
    if len(pairs) > MOST_PAIRS:
        pairs = pairs[np.sort(generator.choice(len(pairs), MOST_PAIRS, replace=False))]
    return pairs
