"""Published statements: each of the three verdicts, and the places they are about."""

from __future__ import annotations

import pytest
from scipy import stats

from accordant.statistics import Estimate, wilson
from accordant.studies.declaration import StudySpec
from accordant.studies.statements import statements, verdict_on_order, verdict_on_threshold

SEEDS = [
    {"maximin": (0.80, 0.5, 0.1, 0.0), "constant:yes": (0.60, 0.5, 0.1, 0.0), "stakeholder:Bank": (None, 0.4, 0.1, 0.0)},
    {"maximin": (0.82, 0.5, 0.1, 0.0), "constant:yes": (0.61, 0.6, 0.1, 0.0), "stakeholder:Bank": (None, 0.4, 0.1, 0.0)},
    {"maximin": (0.81, 0.5, 0.1, 0.0), "constant:yes": (0.62, 0.4, 0.1, 0.0), "stakeholder:Bank": (None, 0.4, 0.1, 0.0)},
]  # fmt: skip


@pytest.fixture
def verdicts(made_up):
    """Return what a small world says to statements."""

    def judge(*declared, selected="maximin"):
        said = [{"says": "so", "source": "somebody", **each} for each in declared]
        study = StudySpec(name="own", case="own", seeds=[0, 1, 2], variants={"base": {}, "other": {}}, statements=said)
        return statements(study, made_up.runs_of({"base": SEEDS, "other": SEEDS}, selected))

    return judge


def test_an_order_comes_out_only_if_every_interval_says_so(verdicts):
    found = verdicts(
        {"higher": "maximin", "lower": ["constant:yes"]},
        {"higher": "constant:yes", "lower": ["maximin"]},
        {"higher": "maximin", "lower": ["constant:yes"], "metric": "Accuracy"},
    )
    assert [each.verdict for each in found] == ["came out", "did not come out", "cannot be told"]
    assert found[0].computed == "0.810 against 0.610 (constant:yes)"
    gaps = [each["maximin"][0] - each["constant:yes"][0] for each in SEEDS]
    limits = stats.ttest_1samp(gaps, 0).confidence_interval(1 - 0.05 / 3)  # three comparisons in all statements
    estimate = found[0].values["constant:yes"]
    assert (estimate.low, estimate.high) == pytest.approx((limits.low, limits.high))


def test_all_candidates_are_those_that_have_a_value(verdicts):
    (found,) = verdicts({"higher": "maximin", "lower": ["candidates"]})
    assert set(found.values) == {"constant:yes"}
    assert found.verdict == "came out"


def test_a_threshold(verdicts):
    found = verdicts(
        {"strategy": "maximin", "at_least": 0.7}, {"strategy": "maximin", "at_most": 0.7},
        {"strategy": "maximin", "at_least": 0.81},
    )  # fmt: skip
    assert [each.verdict for each in found] == ["came out", "did not come out", "cannot be told"]


def test_how_often_a_strategy_is_chosen_has_wilsons_interval(verdicts):
    (found,) = verdicts({"strategy": "maximin", "metric": "selected", "at_least": 0.5})
    assert found.values["maximin"].low == pytest.approx(float(wilson(1.0, 3, 0.95)[0]))
    assert found.verdict == "cannot be told"  # three of three runs do not show a majority


def test_a_strategy_without_a_value_tells_nothing(verdicts):
    found = verdicts(
        {"strategy": "stakeholder:Bank", "at_least": 0.5}, {"higher": "stakeholder:Bank", "lower": ["maximin"]}
    )
    assert [each.verdict for each in found] == ["cannot be told"] * 2
    assert [each.computed for each in found] == ["not defined"] * 2


def test_a_statement_is_looked_at_where_it_says(verdicts):
    found = verdicts({"strategy": "maximin", "at_least": 0.5, "where": {"variant": "other"}},
                     {"strategy": "maximin", "at_least": 0.5})  # fmt: skip
    assert [each.condition for each in found] == ["other", "base"]


def test_limits_on_the_threshold_itself():
    touching = Estimate(0.6, 0.5, 0.7, 0.95, 4)
    assert verdict_on_threshold(touching, 0.5, None) == "came out"
    assert verdict_on_threshold(touching, None, 0.7) == "came out"
    assert verdict_on_threshold(touching, None, 0.5) == "cannot be told"
    assert verdict_on_threshold(Estimate(0.6), 0.5, None) == "cannot be told"
    assert verdict_on_order([]) == "cannot be told"
    assert verdict_on_order([touching, Estimate(0.0, -0.2, -0.1, 0.95, 4)]) == "did not come out"
