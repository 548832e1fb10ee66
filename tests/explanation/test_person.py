"""The person of an explanation: how usual values are, what is likely to follow, and what a fitted policy adds."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import UnknownNameError
from accordant.explanation.person import forecast, traits
from accordant.explanation.recourse import FAR_FROM_ALL, UNDECLARED
from accordant.learning.novelty import TrainingProfile
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem

FEATURES = ("income", "town")


def profile_of(contexts):
    codes = np.zeros(contexts.n_contexts, dtype=np.intp)
    return TrainingProfile.fit(Log(contexts, codes, codes), FEATURES, 0)


def test_how_usual_values_are_against_counting():
    generator = np.random.default_rng(0)
    income = np.where(generator.random(150) < 0.1, np.nan, generator.integers(0, 20, 150) * 7.0)
    town = generator.choice(["a", "b", ""], 150)
    contexts = Contexts({"income": income, "town": town})
    found = profile_of(contexts)
    known = income[~np.isnan(income)]
    for row in range(150):
        first, second = traits(found, contexts, row)
        assert (first.feature, second.feature) == FEATURES
        if np.isnan(income[row]):
            assert (first.value, first.below, first.rows) == (None, None, 150)
            assert first.same == np.isnan(income).mean()
        else:
            assert first.below == (known < income[row]).mean()
            assert first.same == (known == income[row]).mean()
            assert first.rows == len(known)
        assert (second.value, second.below) == (town[row], None)
        assert second.same == (town == town[row]).mean()
    other = Contexts({"income": [999.0], "town": ["never"]})
    assert [(each.below, each.same) for each in traits(found, other, 0)] == [(1.0, 0.0), (None, 0.0)]


def test_the_rows_that_are_kept_are_training_rows():
    contexts = Contexts({"income": np.arange(50.0), "town": np.array(["a", "b"])[np.arange(50) % 2]})
    rows = profile_of(contexts).reference_rows
    assert sorted(rows["income"]) == list(range(50))
    assert all(town == ("a", "b")[int(income) % 2] for income, town in zip(rows["income"], rows["town"], strict=True))


def test_chances_and_what_they_are():
    problem = DecisionProblem(stakeholders=["Ann"], actions=["x", "y"], outcomes=["good", "bad"])
    weights = np.array([[[0.2, 0.9], [0.8, 0.1]], [[0.5, 0.5], [0.5, 0.5]]])
    prediction = OutcomePrediction(weights, None, depends_on_action=True)
    found = forecast(problem, prediction, 1, "calibrated")
    assert found.probabilities == ((0.9, 0.1), (0.5, 0.5))
    assert (found.means, found.level, found.outcomes) == (None, None, ("good", "bad"))
    assert forecast(problem, prediction, 1, "uncalibrated").probabilities is None


@pytest.mark.parametrize(("nodes", "level"), [(20, 0.95), (5, 0.8), (4, None)])
def test_an_interval_needs_enough_nodes_of_equal_weight(nodes, level):
    problem = DecisionProblem(stakeholders=["Ann"], actions=["x"], outcomes={"name": "grade", "unit": "points"})
    values = np.arange(nodes, dtype=float)[None, :, None]
    even = OutcomePrediction(np.full((1, nodes, 1), 1 / nodes), values, False, values.mean(axis=1))
    found = forecast(problem, even, 0, "calibrated")
    assert found.level == (None if level is None else pytest.approx(level))
    assert (found.low, found.high) == ((None, None) if level is None else ((0.0,), (nodes - 1.0,)))
    uneven = np.arange(1, nodes + 1)[None, :, None] / np.arange(1, nodes + 1).sum()
    assert (
        forecast(problem, OutcomePrediction(uneven, values, False, values.mean(axis=1)), 0, "calibrated").level is None
    )


@pytest.mark.long
@pytest.mark.parametrize("effect", [1.0, 0.0])
def test_ranges_of_outcomes_cover_in_worlds_of_known_truth(make_visits, effect):
    """The 95 % range holds about 95 % of new outcomes, also where the action does nothing."""
    shares = []
    for seed in range(8):
        training, new = (make_visits(n=n, seed=s) for n, s in ((400, seed), (1000, 100 + seed)))
        for world in (training, new):
            treated = world.actions == "A"
            less = (1 - effect) * np.where(treated, 2 + world.columns["x2"], 0.0)
            world.outcomes = np.maximum(0.0, world.outcomes - less)
        policy = training.fitted(nodes=20)
        prediction = policy.outcome_model_.predict(Contexts(new.columns))
        codes = new.problem.action_codes(new.actions)
        inside = []
        for row in range(1000):
            found = forecast(new.problem, prediction, row, "calibrated")
            inside.append(found.low[codes[row]] - 1e-9 <= new.outcomes[row] <= found.high[codes[row]] + 1e-9)
        shares.append(np.mean(inside))
    assert 0.93 <= np.mean(shares) <= 0.97
    assert min(shares) > 0.88


def test_a_policy_adds_the_person_and_what_it_could_change(loans, loans_policy):
    found = loans_policy.explain(
        loans.contexts, rows=[3, 8], strategy="utilitarian", changeable={"amount": "down", "income": "up"}
    )
    for each in found:
        assert {trait.feature for trait in each.person.traits} == {"income", "amount", "region"} | (
            {"sex"} & set(loans_policy.features_)
        )
        assert each.person.forecast.basis == "calibrated"
        assert each.person.settled == "rule"
        assert each.person.action == each.choice.action
        assert each.recourse.changeable == ("amount", "income")
        for change in each.recourse.changes:
            columns = {name: loans.contexts[name][[each.row]].copy() for name in loans.contexts}
            for difference in change.differences:
                columns[difference.feature][0] = difference.there
                way = 1 if difference.feature == "income" else -1
                assert way * (difference.there - difference.here) > 0
                assert difference.there in loans.contexts[difference.feature]
            decided = loans_policy.recommend(Contexts(columns), strategy="utilitarian").decisions.actions[0]
            assert decided == change.action != each.choice.action
            assert not loans_policy.profile_(Contexts(columns)).remarks[0]
    plain = loans_policy.explain(loans.contexts, rows=[3], checked=False)[0]
    assert plain.person.forecast.probabilities is None
    assert plain.recourse.reason == UNDECLARED
    letter = plain.for_person(language="de")
    assert letter.language == "de"


def test_nobody_is_promised_what_cannot_be_called_plausible(loans, loans_policy):
    far = Contexts({**loans.columns, "amount": np.full(120, 1e6)})
    found = loans_policy.explain(far, rows=[0], changeable={"amount": "down"})[0]
    assert (found.recourse.reason == FAR_FROM_ALL) == (loans_policy.profile_.radius is not None)
    assert found.person.unusual
    drawn = loans_policy.explain(loans.contexts, rows=[0], strategy="random", changeable={"amount": "down"}) if "random" in [
        label for label, rule in loans_policy.strategies_.items() if rule.candidate
    ] else ()  # fmt: skip
    assert all(each.recourse.changes == () for each in drawn)
    with pytest.raises(UnknownNameError, match="did you mean 'amount'"):
        loans_policy.explain(loans.contexts, rows=[0], changeable={"amounts": "down"})
