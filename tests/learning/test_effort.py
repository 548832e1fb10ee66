"""What a quick look or a thorough run may try, and what a run says it left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.contexts import Contexts, Log
from accordant.errors import UnknownNameError
from accordant.learning.causal import default_candidates as causal_candidates
from accordant.learning.classification import default_candidates
from accordant.learning.cross_fitting import LearningSettings
from accordant.learning.effort import EFFORTS, EffortLimits, effort_warnings, limits_of
from accordant.learning.folds import some_rows
from accordant.learning.outcome_learning import GRID_BASES, DiscreteOutcomeLearner
from accordant.problem import DecisionProblem


def test_an_unknown_effort_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'quick'"):
        limits_of("quik")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="thorough"):
        LearningSettings(effort="thorogh")  # type: ignore[arg-type]


def test_a_quick_look_tries_candidates_that_exist():
    names = {each.name for each in default_candidates(4)}
    tried = EFFORTS["quick"].candidates
    assert tried is not None and set(tried) < names
    assert [each.name for each in default_candidates(4, names=tried)] == list(tried)


def test_forests_can_be_left_out():
    left = {each.name for each in default_candidates(4)} - {each.name for each in default_candidates(4, forests=False)}
    assert left == {"random-forest", "random-forest-sigmoid", "extra-trees", "extra-trees-sigmoid"}


def learner_of(limits, n=60):
    """Return the learner of discrete outcomes that chooses its model itself."""
    generator = np.random.default_rng(0)
    log = Log(Contexts({"x": generator.normal(size=n)}), np.arange(n) % 2, generator.integers(0, 2, n))
    problem = DecisionProblem(stakeholders=["s"], actions=["Grant", "Deny"], outcomes=["yes", "no"])
    return DiscreteOutcomeLearner(None, {}, True, True, log, ("x",), problem, 0, limits)


@pytest.mark.parametrize("limits", [EffortLimits(candidates=("prior", "logistic")), EFFORTS["quick"]])
def test_the_learner_of_outcomes_tries_what_an_effort_names(limits):
    model = learner_of(limits).fit(np.arange(60), {})
    assert {each.name for each in model.classifier.candidates_} == set(limits.candidates)


@pytest.mark.parametrize(("most", "forests"), [(59, False), (60, True), (None, True)])
def test_forests_are_tried_up_to_a_number_of_rows(most, forests):
    assert learner_of(EffortLimits(forest_rows=most), 60).forests == forests


def test_without_forests_the_learner_tries_the_others():
    model = learner_of(EffortLimits(candidates=("prior", "logistic", "extra-trees"), forest_rows=59)).fit(
        np.arange(60), {}
    )
    assert {each.name for each in model.classifier.candidates_} == {"prior", "logistic"}


def test_nothing_is_said_where_nothing_was_left_out():
    for effort in ("standard", "thorough"):
        assert effort_warnings(effort, default_model=True, default_rewards=False, forests=True, answers=None) == []


def test_what_was_left_out_is_said():
    quick, given_model, given_all = (
        "".join(effort_warnings("quick", default_model=model, default_rewards=rewards, forests=True, answers=None))
        for model, rewards in ((True, True), (False, True), (False, False))
    )
    assert "default model of rewards was not tuned" in quick and "default model of rewards" in given_model
    assert given_all == "A quick look: Run without --quick before you rely on it."
    assert quick.startswith("A quick look: The outcome model was chosen among the simplest")
    assert "outcome model" not in given_model
    forests, answers = effort_warnings(
        "standard", default_model=True, default_rewards=False, forests=False, answers=(100, 2_000)
    )
    assert "more than 20,000 training rows" in forests and "100 of 2,000 answers" in answers


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_two_sets_of_rows_keep_the_same_of_what_they_share(n_rows, most, seed):
    generator = np.random.default_rng(seed)
    first, second = (np.flatnonzero(generator.random(n_rows) < 0.7) for _ in range(2))
    kept = [some_rows(rows, n_rows, most) for rows in (first, second)]
    for rows, chosen in zip((first, second), kept, strict=True):
        assert len(chosen) == min(most, len(rows)) and set(chosen) <= set(rows)
        assert (np.diff(chosen) > 0).all()
    order = np.random.default_rng(n_rows).permutation(n_rows)
    for rows, chosen in zip((first, second), kept, strict=True):  # by hand: those that come first in one order
        assert set(chosen) == set(sorted(rows, key=lambda row: order[row])[:most])
    assert np.array_equal(some_rows(first, n_rows, None), first)


def test_a_quick_look_tries_learners_of_numeric_outcomes_that_exist():
    limits = EFFORTS["quick"]
    assert limits.level_candidates is not None and set(limits.level_candidates) < set(causal_candidates())
    assert limits.grid_bases is not None and set(limits.grid_bases) < set(GRID_BASES)
