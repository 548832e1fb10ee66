"""`explain`: from a rule and E to an `Explanation` of each decision, with sentences that say what was found."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.arrays import Codes, Floats, Integers
from accordant.certificates import Known
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.explanation.contexts import ContextChanges, Decide, Support
from accordant.explanation.influence import Influence, Pivotal, pivotal
from accordant.explanation.letter import for_person
from accordant.explanation.misreports import smallest_misreports
from accordant.explanation.person_explanation import Addressee, PersonExplanation
from accordant.explanation.reasons import measure, reason
from accordant.explanation.result import Choice, Comparison, Favourite, Findings, PivotalHere
from accordant.explanation.sentences import sentences_by_topic
from accordant.explanation.weights import smallest_weight_changes
from accordant.faces import Displayed, drawn
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.strategies import decide as decide_rules
from accordant.strategies.baselines import SingleStakeholder
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Explanation(Displayed, Findings):
    """Why one decision was taken and what would have changed it; see `Findings` for its attributes."""

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw what every action gives every stakeholder, the decision on top; needs the extra ``plot``.

        Parameters
        ----------
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed, or there are more stakeholders than marks.
        """
        return drawn("explanation", self, ax)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with the sentences by topic; what is not a finite number is null."""
        return {**self.values(), "sentences": {topic: list(said) for topic, said in self.by_topic().items()}}

    def for_person(self, addressee: Addressee | None = None, *, language: str = "en") -> PersonExplanation:
        """Return the decision in plain words for the person whom it is about, in a language; see `for_person`."""
        return for_person(self, addressee, code=language)

    def by_topic(self) -> dict[str, tuple[str, ...]]:
        """Return plain sentences by topic: what decides, what was traded off, what would change it, how sure."""
        return sentences_by_topic(self)

    def sentences(self) -> tuple[str, ...]:
        """Return the explanation in plain words; every number is one of `values`."""
        return tuple(sentence for said in self.by_topic().values() for sentence in said)


# quantities of decisions that hold a number per stakeholder
POINTS = ("disagreement", "ideal", "multipliers", "below_floor")
BATCH = "the rule decides a whole batch at once, and no context has a decision by itself"
MOST_ROWS = 1000  # explanations in one call: each looks for many other decisions, and nobody reads more


def explain(
    rule: Strategy, expected: ExpectedRewards, *, rows: Sequence[int] | Codes | None = None, known: Known | None = None,
    decide: Decide | None = None, observed: Any | None = None, features: Sequence[str] | None = None,
) -> tuple[Explanation, ...]:  # fmt: skip
    """Explain the decisions of a rule in some contexts.

    Parameters
    ----------
    rule
        The strategy that decided.
    expected
        E. A rule that decides a whole batch at once needs the whole batch.
    rows
        Positions of the contexts to explain; None for all, at most 1000.
    known
        What the rule reads beside E in all contexts of `expected`. ``known.contexts`` are also where the search for the
        nearest context with another decision starts.
    decide
        Function from contexts to actions (codes or names) that leads to these decisions; needs `observed`. Not asked if
        the rule decides a whole batch at once: then no context has a decision by itself.
    observed
        Contexts that were observed: any frame, or a mapping of columns.
    features
        Columns of `observed` that may be changed; None for all.

    Raises
    ------
    InputError
        If a row does not exist, there are too many, or of `decide`, `observed` and ``known.contexts`` some are missing.
    """
    known = known or Known()
    chosen = _checked_rows(rows, expected.n_contexts)
    few, beside = expected.take(chosen), Known(**known.arguments(chosen))
    # a rule that decides a whole batch at once must be asked about the whole batch
    asked, asked_known, at = (expected, known, chosen) if rule.whole_batch else (few, beside, np.arange(len(chosen)))
    decisions = rule(asked, **asked_known.arguments(slice(None)))
    recommended = Recommendations.of(decisions, asked)
    changes = _contexts(rule, decisions.codes[at], few.actions, beside, decide, observed, features)
    who = pivotal(rule, asked, known=asked_known)
    misreports = smallest_misreports(rule, few, beside)
    weights = smallest_weight_changes(rule, few, beside)
    favourites = list(decide_rules([SingleStakeholder(name) for name in few.stakeholders], few))
    explanations = []
    for k, row in enumerate(chosen.tolist()):
        t = int(at[k])
        choice = _choice(decisions, recommended, t)
        alone = _favourites_here(few, favourites, k, choice)
        one = np.array([k])
        why = reason(
            rule, few.take(one), decisions, t, runner_up=choice.runner_up, known=Known(**beside.arguments(one))
        )
        explanations.append(Explanation(
            row, rule.label, few.stakeholders, few.actions, _rows_of(few.values[:, :, k]), choice,
            why, measure(rule, choice.scores), _points(decisions, t), alone, _comparisons(few, k, choice, alone),
            _pivotal_here(who, t), misreports[k], weights[k], changes[k],
        ))  # fmt: skip
    return tuple(explanations)


def _checked_rows(rows: Sequence[int] | Codes | None, n_contexts: int) -> Codes:
    chosen = np.arange(n_contexts) if rows is None else np.asarray(rows, dtype=np.intp).reshape(-1)
    if len(chosen) > MOST_ROWS:
        raise InputError(
            f"{len(chosen)} decisions are to be explained; allowed: at most {MOST_ROWS}, choose them by rows"
        )
    wrong = chosen[(chosen < 0) | (chosen >= n_contexts)]
    if len(wrong):
        raise InputError(f"row {wrong[0]} is to be explained; allowed: 0 to {n_contexts - 1}")
    return chosen


def _contexts(
    rule: Strategy, codes: Integers, actions: tuple[str, ...], known: Known,
    decide: Decide | None, observed: Any | None, features: Sequence[str] | None,
) -> list[ContextChanges | None]:  # fmt: skip
    """Return the nearest contexts with another decision, or None for every row if nobody asks."""
    if decide is None and observed is None:
        if features is not None:
            raise InputError("features are given without decide and observed; they would have no effect")
        return [None] * len(codes)
    if decide is None or observed is None or known.contexts is None:
        missing = [
            name
            for name, given in (("decide", decide), ("observed", observed), ("known.contexts", known.contexts))
            if given is None
        ]
        raise InputError(f"the nearest context with another decision also needs {' and '.join(missing)}")
    if rule.whole_batch:
        return [ContextChanges(0, 0, None, (), (), reason=BATCH)] * len(codes)
    support = Support.of(observed, decide, actions, features)
    return [support.changes(known.contexts.take(slice(k, k + 1)), int(code)) for k, code in enumerate(codes)]


def _choice(decisions: Decisions, recommended: Recommendations, row: int) -> Choice:
    margin, runner_up = float(recommended.margin[row]), str(recommended.runner_up[row])
    # arrays of text drop what no name should end in
    second = next((name for name in decisions.action_names if name.rstrip("\0") == runner_up), runner_up)
    flags = tuple(name for name, raised in decisions.flags.items() if raised[row])
    return Choice(
        decisions.action_names[int(decisions.codes[row])], bool(decisions.tied[row]),
        None if decisions.scores is None else tuple(map(float, decisions.scores[:, row])), second, finite(margin),
        None if decisions.policy is None else tuple(map(float, decisions.policy[:, row])), flags,
    )  # fmt: skip


def _points(decisions: Decisions, row: int) -> dict[str, tuple[float, ...]]:
    """Return reference points; one that holds for every context has a single column."""
    points = {}
    for name in POINTS:
        if name in decisions.quantities:
            point = np.asarray(decisions.quantities[name], dtype=np.float64)
            points[name] = tuple(map(float, point[:, row if point.shape[1] == decisions.n_contexts else 0]))
    return points


def _favourites_here(
    few: ExpectedRewards, favourites: list[Decisions], k: int, choice: Choice
) -> tuple[Favourite, ...]:
    values = np.asarray(few.values[:, :, k], dtype=np.float64)
    decided = values[:, few.actions.index(choice.action)]
    tolerance = SINGLE_PRECISION_TOLERANCE if few.values.dtype == np.float32 else TIE_TOLERANCE
    here = []
    for i, (name, decisions) in enumerate(zip(few.stakeholders, favourites, strict=True)):
        favourite = int(decisions.codes[k])
        level = values[i] >= values[i].max() - tolerance
        equals = tuple(action for action, best in zip(few.actions, level, strict=True) if best)
        gains = tuple(map(float, values[:, favourite] - decided))
        here.append(Favourite(name, few.actions[favourite], equals, gains))
    return tuple(here)


def _comparisons(few: ExpectedRewards, k: int, choice: Choice, alone: tuple[Favourite, ...]) -> tuple[Comparison, ...]:
    values = np.asarray(few.values[:, :, k], dtype=np.float64)
    decided = values[:, few.actions.index(choice.action)]
    return tuple(
        Comparison(
            action,
            tuple(map(float, decided - values[:, a])),
            action == choice.runner_up,
            tuple(favourite.who for favourite in alone if favourite.action == action),
        )
        for a, action in enumerate(few.actions)
        if action != choice.action
    )


def _pivotal_here(pivotal: Pivotal, t: int) -> tuple[PivotalHere, ...]:
    here = []
    for i, name in enumerate(pivotal.stakeholders):
        actions: dict[str, str | None] = {}
        changes: dict[str, bool | None] = {}
        for question, variation in pivotal.variations.items():
            means = not variation.reasons[i]
            actions[question] = pivotal.actions[variation.codes[i, t]] if means else None
            changes[question] = bool(variation.changes[i, t]) if means else None
        reasons = {
            question: variation.reasons[i] for question, variation in pivotal.variations.items() if variation.reasons[i]
        }
        here.append(PivotalHere(name, actions, changes, reasons))
    return tuple(here)


def _rows_of(values: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in values)


def with_rows(explanations: Sequence[Explanation], rows: Sequence[int]) -> tuple[Explanation, ...]:
    """Return explanations under other row numbers, such as those of a file.

    Raises
    ------
    InputError
        If there is not one number per explanation.
    """
    if len(explanations) != len(rows):
        raise InputError(f"{len(rows)} row numbers were given for {len(explanations)} explanations")
    return tuple(
        dataclasses.replace(explanation, row=int(row)) for explanation, row in zip(explanations, rows, strict=True)
    )


FORMAT = 2  # of the object; a reader of another format must refuse


def as_document(
    explanations: Sequence[Explanation], *, title: str = "Decisions explained", source: str = "",
    influence: Influence | None = None, pivotal: Pivotal | None = None, rests_on: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return what `accordant.report.explanation.render_explanation` draws, as plain values.

    Parameters
    ----------
    explanations
        One or more.
    title, source
        What was decided, and from which run or file.
    influence, pivotal
        Who moved the decisions of the whole batch, if that was asked.
    rests_on
        What each stakeholder's expected rewards rest on, in sentences.
    """
    from accordant import __version__

    return {
        "format": FORMAT, "version": __version__, "title": title, "source": source, "rests_on": list(rests_on),
        "explanations": [explanation.to_json() for explanation in explanations],
        "influence": None if influence is None else influence.to_json(),
        "pivotal": None if pivotal is None else pivotal.to_json(),
    }  # fmt: skip
