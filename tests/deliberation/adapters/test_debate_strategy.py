"""The strategy `debate` against the settlement rule of a debate, and against Kalai–Smorodinsky on a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accordant as ac
from accordant import strategies
from accordant.agents.concession import concessions
from accordant.certificates import Threat, certify
from accordant.deliberation.adapters import Debate
from accordant.deliberation.settlement import settlements
from accordant.deliberation.settlement.settlement import Table
from accordant.errors import InputError, UnknownNameError


def expected(values):
    values = np.asarray(values, dtype=float)
    return ac.ExpectedRewards(
        values,
        stakeholders=[f"s{i}" for i in range(values.shape[0])],
        actions=[f"a{k}" for k in range(values.shape[1])],
    )


def by_hand(values, exponents, steps=60):
    """Return which actions one context may choose: first time, then product, compared one by one."""
    scaled = []
    for row in values:
        low, high = min(row), max(row)
        scaled.append([1.0 if high - low <= 1e-12 else (each - low) / (high - low) for each in row])
    for k in range(steps + 1):
        t = k / steps
        bands = [1.0 if math.isinf(e) else 1.0 - t**e for e in exponents]
        common = [
            a for a in range(len(values[0]))
            if all(u[a] >= band - 1e-12 for u, band in zip(scaled, bands, strict=True))
        ]  # fmt: skip
        if common:
            products = {a: math.prod(u[a] for u in scaled) for a in common}
            best = max(products.values())
            return [a for a in common if products[a] >= best - 1e-9]
    return None


entries = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 1.0])
NAMES = ("linear", "boulware", "conceder", "hardheaded")


@pytest.mark.long
@given(
    values=st.integers(1, 4).flatmap(lambda n: st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(entries, min_size=k, max_size=k), min_size=n, max_size=n))),
    names=st.lists(st.sampled_from(NAMES), min_size=4, max_size=4),
)  # fmt: skip
@settings(max_examples=200, deadline=None, derandomize=True)
def test_slow_twin(values, names):
    names = tuple(names[: len(values)])
    found = Debate(concession=names)(expected(values))
    allowed = by_hand(values, [concessions.create(name).exponent for name in names])
    if allowed is None:
        assert found.flags["no_agreement"][0]
        assert found.scores.max() == 0
        allowed = range(len(values[0]))
    else:
        assert not found.flags["no_agreement"][0]
        assert found.scores[found.codes[0], 0] > 0
    totals = np.sum(values, axis=0)
    assert found.codes[0] in allowed
    assert totals[found.codes[0]] == pytest.approx(max(totals[a] for a in allowed))
    assert found.tied[0] == (len(allowed) > 1)


class Listed:
    """As much of options as settlement asks for, with actions in the place of allocations."""

    complete = True

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def allocation(self, option):
        return option


@pytest.mark.parametrize(
    "names", [("linear",) * 3, ("boulware", "linear", "conceder"), ("conceder", "conceder", "boulware")]
)
def test_settlement_of_a_debate_decides_the_same(names):
    generator = np.random.default_rng(len("".join(names)))
    values = generator.random((3, 5, 120))
    found = Debate(concession=names)(expected(values))
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    scaled = (values - low) / (high - low)
    rule = settlements.create("bargain")
    for t in range(120):
        table = Table(
            options=Listed(5), utilities=scaled[:, :, t], priorities=np.zeros((3, 1)), values=None, floors=None,
            concessions=tuple(concessions.create(name) for name in names), revised=np.zeros(3, dtype=np.intp),
            disagreement=0, met=np.zeros((0, 5), dtype=bool), seed=0, names=("s0", "s1", "s2"),
        )  # fmt: skip
        settled = rule.settle(table)
        assert settled.allocation == found.codes[t]
        assert settled.time == pytest.approx(round(61 - found.scores[found.codes[t], t] * 61.5 + 0.25) / 60)


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["linear", "boulware", "conceder"]))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_with_one_exponent_it_is_kalai_smorodinsky_up_to_a_step(seed, name):
    values = np.random.default_rng(seed).random((3, 6, 40))
    given_ = expected(values)
    debate, other = Debate(concession=name)(given_), strategies.kalai_smorodinsky(given_)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    smallest = ((values - low) / (high - low)).min(axis=0)
    exponent = concessions.create(name).exponent
    columns = np.arange(40)
    step = np.ceil(60 * (1 - smallest) ** (1 / exponent) - 1e-6)
    assert (step[debate.codes, columns] == step[other.codes, columns]).all()
    assert (smallest[other.codes, columns] >= smallest[debate.codes, columns] - 1e-12).all()


def test_who_concedes_late_is_served_better():
    generator = np.random.default_rng(0)
    values = generator.random((2, 8, 400))
    given_ = expected(values)
    means = []
    for names in (("conceder", "boulware"), ("linear", "linear"), ("boulware", "conceder")):
        codes = Debate(concession=names)(given_).codes
        means.append(values[0, codes, np.arange(400)].mean())
    assert means[0] < means[1] - 0.05
    assert means[1] < means[2] - 0.05


def test_two_who_insist_on_different_actions_do_not_agree():
    found = Debate(concession="hardheaded")(expected([[1.0, 0.0, 0.4], [0.0, 0.9, 0.6]]))
    assert found.flags["no_agreement"].tolist() == [True]
    assert found.codes[0] == 0  # sums 1.0, 0.9, 1.0: declared order
    assert found.tied[0]


def test_an_indifferent_stakeholder_does_not_matter():
    values = np.random.default_rng(1).random((2, 4, 50))
    extended = np.concatenate([values, np.full((1, 4, 50), 0.3)])
    np.testing.assert_array_equal(Debate()(expected(values)).codes, Debate()(expected(extended)).codes)


def test_weight_0_leaves_a_stakeholder_out():
    values = np.random.default_rng(2).random((3, 4, 50))
    without = Debate(concession=("linear", "boulware"))(expected(values[[0, 2]]))
    left_out = Debate(weights=(1, 0, 1), concession=("linear", "conceder", "boulware"))(expected(values))
    np.testing.assert_array_equal(left_out.codes, without.codes)


def test_shifts_and_scales_of_one_stakeholder_change_nothing():
    values = np.random.default_rng(3).random((3, 4, 200))
    moved = values.copy()
    moved[1] = 0.1 + 0.5 * moved[1]
    np.testing.assert_array_equal(Debate()(expected(values)).codes, Debate()(expected(moved)).codes)


@pytest.mark.parametrize("selection", [{"selection": "softmax", "temperature": 0.1}, {"selection": "proportional"}])
def test_scores_serve_every_selection(selection):
    values = np.random.default_rng(4).random((3, 4, 20))
    policy = Debate(**selection)(expected(values)).policy
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    assert (policy >= 0).all()


@pytest.mark.parametrize("names", ["linear", ("boulware", "linear", "conceder")])
def test_certificates_hold_against_attacks(names):
    """What a certificate rules out, no drawn misreport reaches; what it says is reached, its witness reaches."""
    rule, generator = Debate(concession=names), np.random.default_rng(7)
    for frozen in (False, True):
        for _ in range(6):
            values = generator.random((3, 3)).round(2)
            honest = expected(values)
            found = certify(rule, honest, Threat(0.15, ("s1",), frozen=frozen))
            assert found.outer[rule(honest).codes[0], 0]
            reports = np.repeat(values[:, :, None], 300, axis=2)
            reports[1] = np.clip(values[1][:, None] + generator.uniform(-0.15, 0.15, (3, 300)), 0, 1)
            if not frozen:  # frozen reference points cannot be written as other rewards
                reached = set(rule(expected(reports)).codes.tolist())
                assert reached <= set(np.flatnonzero(found.outer[:, 0]).tolist())
            for action in np.flatnonzero(found.inner[:, 0]):
                assert found.outer[action, 0]


def test_names_and_labels():
    rule = strategies.create("debate", {"concession": ["boulware", "linear"]})
    assert rule == Debate(concession=("boulware", "linear"))
    assert rule.label == "debate[boulware, linear]"
    assert strategies.create("debate").label == "debate"
    assert Debate(selection="proportional").label == "debate[proportional]"
    assert rule.kind == "compromise"
    assert rule.structure() == "other"
    with pytest.raises(UnknownNameError, match="did you mean 'linear'"):
        Debate(concession="lineal")
    with pytest.raises(InputError, match="needs an exponent"):
        Debate(concession="tit_for_tat")
    with pytest.raises(InputError, match="2 concession strategies are named for 3"):
        rule(expected(np.random.default_rng(0).random((3, 2))))
