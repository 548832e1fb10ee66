"""The smallest change of E that changes a decision: every witness is decided again, every radius is attacked."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from accordant.certificates.certificate import decisions_on
from accordant.certificates import Known
from accordant.explanation import Misreport, misreports, smallest_misreports
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, make_expected, make_known, make_rule


def test_where_certificates_begin_to_allow_a_change_is_found_by_halving(monkeypatch):
    """A certificate that knows of no change up to .37, far beyond the radius that is proved."""
    monkeypatch.setattr(misreports, "radius", lambda *_, **__: np.array([0.1]))
    monkeypatch.setattr(
        misreports, "certify",
        lambda rule, expected, threat, known: SimpleNamespace(attackable=[threat.delta >= 0.37], threat=threat),
    )  # fmt: skip
    monkeypatch.setattr(misreports, "_show_report", lambda *given: given[-1])
    ((everybody, *_),) = smallest_misreports(make_rule("utilitarian", {}, None), make_expected(1), Known())
    assert everybody == pytest.approx(0.37, abs=0.9 / 2**misreports.HALVINGS) and everybody >= 0.37


@pytest.mark.long
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_report_changes_the_decision_and_keeps_to_its_radius(name, parameters):
    expected = make_expected(4)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    decided = decisions_on(rule, expected, known)
    for t, found in enumerate(smallest_misreports(rule, expected, known)):
        assert [each.who for each in found] == [None, *STAKEHOLDERS]
        for each in found:
            json.dumps(each.to_json(), allow_nan=False)
            if rule.whole_batch:
                assert each.safe is None
                assert not each.exact
            if each.report is None:
                assert each.changed_at is each.action is None
                continue
            moved = np.abs(np.array(each.report) - expected.values[:, :, t])
            assert moved.max() <= each.changed_at + 1e-12
            assert each.safe <= each.changed_at
            if each.who is not None:
                assert not moved[[who != each.who for who in STAKEHOLDERS]].any()
            beside = Known(**known.arguments(slice(t, t + 1)))
            report = ExpectedRewards(np.array(each.report), stakeholders=STAKEHOLDERS, actions=expected.actions)
            action = decisions_on(rule, report, beside)[0]
            assert action != decided[t]
            assert expected.actions[action] == each.action


@pytest.mark.parametrize("name", ["utilitarian", "maximin", "nash_social_welfare", "kalai_smorodinsky", "borda"])
def test_no_report_within_the_safe_radius_changes_it(name):
    expected = make_expected(5, grid=20)
    rule, generator = make_rule(name), np.random.default_rng(2)
    decided = rule(expected).codes
    for t, found in enumerate(smallest_misreports(rule, expected)):
        for each in found:
            members = np.array([each.who in (None, who) for who in STAKEHOLDERS])
            delta = min(each.safe, 1.0)
            draws = generator.choice([-1.0, 1.0], (3, 3, 300)) * delta * members[:, None, None]
            values = np.clip(expected.values[:, :, [t]] + draws, 0, 1)
            attacked = ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=expected.actions)
            assert (rule(attacked).codes == decided[t]).all()


def test_utilitarian_by_hand():
    """Sums 1.4 and 1.2 in a box of [0, 1]: each alone moves two entries, everybody six."""
    values = np.array([[[0.9], [0.5]], [[0.3], [0.2]], [[0.2], [0.5]]])
    expected = ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=("red", "green"))
    (found,) = smallest_misreports(make_rule("utilitarian"), expected)
    assert [each.safe for each in found] == pytest.approx([0.2 / 6, 0.1, 0.1, 0.1], abs=2e-9)
    assert all(each.exact and each.action == "green" for each in found)


def test_who_has_no_say_never_changes_anything():
    (found,) = smallest_misreports(make_rule("utilitarian", {"weights": (1, 1, 0)}), make_expected(1))
    assert [each.never for each in found] == [False, False, False, True]
    assert found[3].exact
    assert found[3].to_json()["safe"] is None


def test_constant_and_single_actions_never_change():
    for rule, expected in [
        (make_rule("constant"), make_expected(1)),
        (make_rule("utilitarian"), ExpectedRewards([[0.5]], stakeholders=["Ann"], actions=["red"])),
    ]:
        assert all(each.never and each.exact for each in smallest_misreports(rule, expected)[0])


def test_a_tie_is_changed_by_next_to_nothing():
    expected = ExpectedRewards([[0.5, 0.5]], stakeholders=["Ann"], actions=["red", "green"])
    (found,) = smallest_misreports(make_rule("utilitarian"), expected)
    assert all(each.safe < 1e-5 and each.exact and not each.nothing_certified for each in found)


def test_single_precision():
    values = make_expected(3).values.astype(np.float32)
    expected = ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=("red", "green", "blue"))
    for found in smallest_misreports(make_rule("maximin"), expected):
        assert all(each.never or each.report is not None for each in found)


def test_what_is_not_known_is_not_exact():
    assert not Misreport("Ann", 0.1).exact
    assert not Misreport("Ann", None).exact
    assert Misreport("Ann", 0.0, 0.3).nothing_certified
    assert not Misreport("Ann", 0.2, 0.3).exact
