"""Rules and fixtures that rank, what they may see, and the registry."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.rankers import Aim, NoisyRanker, ObjectiveRanker, Ranker, SeenItem, create_ranker, rankers
from accordant.errors import InputError, UnknownNameError


def test_the_registry_knows_rules_fixtures_and_files_but_no_model():
    assert {"noisy_ranker", "objective_ranker", "recorded_ranker"} <= set(rankers)
    assert not [name for name in rankers if "model" in name]
    assert isinstance(create_ranker("objective_ranker"), ObjectiveRanker)
    with pytest.raises(UnknownNameError, match="did you mean 'noisy_ranker'"):
        create_ranker("noisy_rankr")
    with pytest.raises(InputError, match="unknown parameter 'base_url'"):
        create_ranker("objective_ranker", {"base_url": "http://elsewhere"})


def test_a_rule_says_that_it_is_one():
    assert ObjectiveRanker().about.startswith("Rule, no language model")
    assert NoisyRanker().kind == "fixture"
    assert "no stakeholder" in NoisyRanker().about
    assert NoisyRanker(0.25).to_json()["noise"] == 0.25


def test_the_declared_order(view, declared_order):
    found = ObjectiveRanker().rank(view)
    assert found.order == declared_order
    assert found.scores == pytest.approx((0.875, 0.5, 0.5, 0.175, 0.075))
    assert found.scores[1] == found.scores[2]
    assert (found.generated_by, found.fallback) == ("rule", False)
    assert found.reasons[0] == "utility 0.88 = crowding 0.90 × 0.75 + popularity 0.80 × 0.25"
    assert found.reasons[3:] == ("", "")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_utility_against_exact_sums(data, make_view):
    weights = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    shares = [weight / sum(weights) for weight in weights]
    aims = tuple(Aim(f"a{i}", "v", "max", share, "m", "b") for i, share in enumerate(shares))
    scores = data.draw(st.lists(st.lists(st.integers(0, 8), min_size=len(aims), max_size=len(aims)), min_size=1,
                                max_size=6))  # fmt: skip
    items = tuple(
        SeenItem(f"item{c}", {}, {aim.name: each / 8 for aim, each in zip(aims, row, strict=True)})
        for c, row in enumerate(scores)
    )
    view = make_view(items=items, speaks_for=replace(make_view().speaks_for, aims=aims))
    exact = [
        sum(Fraction(w, sum(weights)) * Fraction(s, 8) for w, s in zip(weights, row, strict=True)) for row in scores
    ]
    assert [view.utility(item) for item in items] == pytest.approx([float(each) for each in exact])
    order = [int(name.removeprefix("item")) for name in ObjectiveRanker().rank(view).order]
    ranked = [float(exact[c]) for c in order]
    assert ranked == pytest.approx(sorted(ranked, reverse=True))


class TestNoise:
    def test_none_is_the_declared_order(self, view, declared_order):
        found = NoisyRanker(0).rank(view)
        assert found.order == declared_order
        assert found.scores == ()

    def test_all_of_it_is_a_draw_of_seed_and_item(self, make_view):
        orders = {NoisyRanker(1.0).rank(make_view(seed=seed)).order for seed in range(60)}
        firsts = {order[0] for order in orders}
        assert len(orders) > 30
        assert firsts == {"zoo", "park", "museum", "castle", "bridge"}
        view = make_view()
        turned = replace(view, items=view.items[::-1])
        assert NoisyRanker(1.0).rank(view).order == NoisyRanker(1.0).rank(turned).order

    @pytest.mark.parametrize("noise", [-0.1, 1.1, True, "much"])
    def test_wrong_noise(self, noise):
        with pytest.raises(InputError, match="noise"):
            NoisyRanker(noise)


def test_a_view_cannot_be_written(view):
    with pytest.raises(TypeError):
        view.items[0].facts["price"] = 0.0
    with pytest.raises(TypeError):
        view.items[0].scores["crowding"] = 1.0
    with pytest.raises(TypeError):
        view.moment["day"] = 0.0
    with pytest.raises(FrozenInstanceError):
        view.k = 1


def test_what_a_view_was_made_of_does_not_change_it():
    facts = {"price": 1.0}
    item = SeenItem("zoo", facts, {})
    facts["price"] = 2.0
    assert item.facts["price"] == 1.0


def test_one_method_is_enough(view):
    class Mine(Ranker):
        """Ranks by name."""

        name, about = "mine", "a rule"

        def rank(self, view):
            return replace(ObjectiveRanker("mine").rank(view), scores=())

    made = Mine()
    made.check(["r"], ["zoo"])
    assert made.usage() == {}
    assert made.to_json() == {"name": "mine", "kind": "rule", "about": "a rule"}
    assert not made.reads_requests


@pytest.mark.long
def test_importing_is_light():
    heavy = ("pydantic_ai", "openai", "httpx2", "sklearn", "pandas", "scipy", "numba")
    code = f"import sys, accordant.slates.rankers as r; r.rankers.names(); print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
