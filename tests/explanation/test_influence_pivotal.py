"""Who is pivotal, against deciding each context again by hand; every registered rule is asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.certificates import Known
from accordant.errors import InputError
from accordant.explanation import pivotal
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, make_expected, make_known, make_rule

HAND = np.array([[[0.9], [0.1]], [[0.3], [0.6]], [[0.2], [0.5]]])  # sums 1.4 and 1.2: red by 0.2


def test_by_hand():
    expected = ExpectedRewards(HAND, stakeholders=STAKEHOLDERS, actions=("red", "green"))
    found = pivotal(make_rule("utilitarian"), expected)
    assert found.decided.tolist() == [0]
    changes = {name: each.changes[:, 0].tolist() for name, each in found.variations.items()}
    assert changes == {
        "dropped": [True, False, False],  # 0.5 : 1.1 without Ann
        "neutralised": [True, False, False],
        "doubled": [False, True, True],  # 1.7 : 1.8 and 1.6 : 1.7
        "halved": [True, False, False],  # 0.95 : 1.15
    }
    assert found.variations["dropped"].codes[:, 0].tolist() == [1, 0, 0]
    assert found.variations["dropped"].shares() == (1.0, 0.0, 0.0)


@pytest.mark.few(18)
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_rule_answers_or_says_why_not(name, parameters):
    expected = make_expected(30)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    found = pivotal(rule, expected, known=known, groups=np.arange(30) % 2)
    np.testing.assert_array_equal(found.decided, rule(expected, **known.arguments(slice(None))).codes)
    for each in found.variations.values():
        np.testing.assert_array_equal(each.changes, each.codes != found.decided)
        assert not each.changes[~each.defined].any()
        for reason, share in zip(each.reasons, each.shares(), strict=True):
            assert (share is None) == bool(reason)
    assert found.variations["neutralised"].defined.all()
    written = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert set(written["groups"]) == {"0", "1"}
    assert written["rule"] == rule.label
    if rule.structure() == "fixed":
        assert not any(each.changes.any() for each in found.variations.values())
        assert all(written["reasons"]["doubled"].values())


def test_group_shares_average_to_the_whole():
    expected = make_expected(90)
    groups = np.where(np.arange(90) < 30, "old", "young")
    found = pivotal(make_rule("maximin"), expected, groups=groups)
    written = found.to_json()
    for name in ("dropped", "neutralised"):
        for who in STAKEHOLDERS:
            of_group = {g: written["groups"][g]["pivotal"][name][who] for g in ("old", "young")}
            assert written["pivotal"][name][who] == pytest.approx((of_group["old"] + 2 * of_group["young"]) / 3)


def test_whole_batches_are_asked_as_a_whole():
    expected = make_expected(8)
    rule = make_rule("constrained", {"rule": "utilitarian", "budgets": {"red": 2}})
    found = pivotal(rule, expected)
    halved = make_rule(
        "constrained",
        {"rule": {"name": "utilitarian", "parameters": {"weights": [0.5, 1, 1]}}, "budgets": {"red": 2}},
    )
    np.testing.assert_array_equal(found.variations["halved"].codes[0], halved(expected).codes)
    assert (found.variations["dropped"].codes == 0).sum(axis=1).max() <= 2


def test_one_stakeholder_one_action_no_context():
    one = ExpectedRewards(np.array([[[0.2], [0.8]]]), stakeholders=["Ann"], actions=["red", "green"])
    found = pivotal(make_rule("utilitarian"), one)
    assert found.variations["neutralised"].changes[0, 0]  # all tie, red is declared first
    assert found.variations["dropped"].reasons == ("without Ann nobody has weight in utilitarian",)
    single = ExpectedRewards(np.full((2, 1, 4), 0.5), stakeholders=["Ann", "Ben"], actions=["red"])
    assert not any(each.changes.any() for each in pivotal(make_rule("borda"), single).variations.values())
    nothing = pivotal(make_rule("utilitarian"), make_expected(0))
    assert nothing.variations["dropped"].shares() == (None, None, None)


def test_groups_need_one_label_per_context():
    with pytest.raises(InputError, match="one label per context"):
        pivotal(make_rule("utilitarian"), make_expected(3), groups=["a", "b"], known=Known())
