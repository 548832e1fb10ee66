"""The schema of the paper beside what is exact: the worked example, soundness, and rules that it does not know."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Threat, certify
from accordant.errors import InputError, UnknownNameError
from accordant.runs.sections.paper_certificate import OWN_SCORE, STAYS, check_schema, paper_certificate
from accordant.strategies.block_decisions import decide
from accordant.utilities import ExpectedRewards

WORKED = np.array([[0.80, 0.50, 0.30], [0.70, 0.60, 0.50], [0.75, 0.40, 0.35]])


def rewards(values):
    return ExpectedRewards(values, stakeholders=["i", "j", "k"], actions=["a", "b", "c"])


def figures(rule, expected, delta, coalition=("i",)):
    found = paper_certificate(certify(rule, expected, Threat(delta, coalition)))
    return found, {each.figure: each for each in found.figures}


@pytest.mark.parametrize(
    ("delta", "kappa", "tau", "smooth", "curvature", "bias"),
    [(0.05, 3.3958, 0.031577, 0.9996, 0.05361, 0.10723), (0.10, 4.0132, 0.047410, 0.9946, 0.09513, 0.19027),
     (0.15, 4.9051, 0.058105, 0.9854, 0.14250, 0.28501)],
)  # fmt: skip
def test_the_temperature_of_lemma_18_is_that_of_the_worked_example(delta, kappa, tau, smooth, curvature, bias):
    _, found = figures(strategies.utilitarian, rewards(WORKED[:, :, None]), delta)
    stays = found[STAYS]
    assert (stays.kappa, stays.tau_star) == (pytest.approx(kappa, abs=1e-4), pytest.approx(tau, abs=1e-6))
    assert (stays.curvature, stays.bias) == (pytest.approx(curvature, abs=1e-5), pytest.approx(bias, abs=1e-5))
    assert stays.smooth_score == pytest.approx(smooth, abs=2e-3)  # metric values 1, 0, 0 here, and 0.3 for c there
    assert stays.at_star == pytest.approx(stays.smooth_score - stays.gradient - stays.curvature - stays.bias)
    assert (stays.exact, stays.exact_status) == (1.0, "exact")


RULES = [
    ("utilitarian", {}), ("nash_social_welfare", {}), ("nash_bargaining", {"disagreement": 0.0}),
    ("compromise_programming", {"ideal": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters"), RULES)
@pytest.mark.parametrize("delta", [0.01, 0.05])
def test_no_bound_is_above_the_exact_worst_case_and_no_attack_below(name, parameters, delta):
    generator = np.random.default_rng(5)
    expected, rule = rewards(generator.uniform(0.1, 0.9, (3, 3, 300))), strategies.create(name, parameters)
    found, both = figures(rule, expected, delta, None)
    for each in both.values():
        assert each.at_star <= each.at_best + 1e-12 <= each.exact + 2e-12
        assert each.exact_status == "exact"
    decided = decide((rule,), expected)[0].codes
    attacked = [
        rewards(expected.values + np.where(generator.random(expected.values.shape) < 0.5, delta, -delta))
        for _ in range(20)
    ]
    stayed = [(decide((rule,), each)[0].codes == decided).mean() for each in attacked]
    assert min(stayed) >= both[STAYS].exact - 1e-12
    scores = [
        found.coalition,
        [strategies.create(name, parameters)(each).scores.max(axis=0).mean() for each in attacked],
    ]
    if name in ("utilitarian", "compromise_programming"):  # whose form is the rule's own score
        shift = 0 if name == "utilitarian" else None
        assert shift is None or min(scores[1]) >= both[OWN_SCORE].exact - 1e-9


def test_a_substitute_says_so_and_rules_without_a_form_are_refused():
    expected = rewards(WORKED[:, :, None])
    found, _ = figures(strategies.maximin, expected, 0.05)
    assert found.substitute and "which may decide otherwise" in found.sentences()[0]
    with pytest.raises(InputError, match="moves with the reports"):
        figures(strategies.create("nash_bargaining", {"disagreement": "context"}), expected, 0.05)
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        check_schema("papers")


def test_sentences_say_what_is_of_the_paper_and_what_is_ours():
    found, _ = figures(strategies.utilitarian, rewards(WORKED[:, :, None]), 0.05)
    words = " ".join(found.sentences())
    assert "at τ* = 0.0316 [paper, constants ours]" in words and "exact: 1.0000 [ours]" in words
    assert found.sources["constants L and κ, best τ, exact value"] == "[ours]"
