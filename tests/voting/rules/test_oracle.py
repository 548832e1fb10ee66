"""Every rule that pref_voting has too, against it, on random profiles with ties among ballots and winners."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies

SHAPES = [(1, 1), (2, 2), (4, 2), (2, 3), (3, 3), (4, 3), (6, 3), (4, 4), (5, 4), (8, 4)]
CONTEXTS = 60  # 10 shapes × 60 contexts: 600 profiles per rule and kind of ballot
STRICT = {
    "plurality": ("scoring_methods", "plurality"),
    "anti_plurality": ("scoring_methods", "anti_plurality"),
    "borda": ("scoring_methods", "borda"),
    "copeland": ("c1_methods", "copeland"),
    "minimax": ("margin_based_methods", "minimax"),
    "ranked_pairs": ("margin_based_methods", "ranked_pairs"),
    "schulze": ("margin_based_methods", "beat_path"),
    "kemeny": ("other_methods", "kemeny_young"),
    "instant_runoff": ("iterative_methods", "instant_runoff"),
    "coombs": ("iterative_methods", "coombs"),
    "bucklin": ("other_methods", "bucklin"),
}
WEAK = STRICT | {"borda": ("scoring_methods", "borda_for_profile_with_ties")}
for one_first_place_only in ("plurality", "anti_plurality", "coombs", "bucklin"):
    del WEAK[one_first_place_only]
TRUNCATED = {
    "plurality": ("scoring_methods", "plurality"),
    "instant_runoff": ("iterative_methods", "instant_runoff_for_truncated_linear_orders"),
    "bucklin": ("other_methods", "bucklin_for_truncated_linear_orders"),
}


def winners(name, profile):
    """Return the winners in every context, as sorted positions."""
    found = strategies.create(name).count(profile)
    return [[int(each) - 1 for each in found.winners(t)] for t in range(profile.n_contexts)]


def drawn(random_profile, n_voters, n_alternatives, **kind):
    generator = np.random.default_rng([n_voters, n_alternatives])
    counts = generator.integers(1, 4, n_voters)
    return random_profile(generator, n_voters, n_alternatives, CONTEXTS, counts, **kind)


@pytest.mark.long
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
@pytest.mark.parametrize("name", STRICT)
def test_strict_orders(name, n_voters, n_alternatives, random_profile, oracle):
    profile = drawn(random_profile, n_voters, n_alternatives, strict=True)
    module, function = STRICT[name]
    method = getattr(getattr(oracle, module), function)
    options = {"algorithm": "from_stacks"} if name == "ranked_pairs" else {}
    expected = [method(oracle.strict(profile, t), **options) for t in range(CONTEXTS)]
    assert winners(name, profile) == expected


@pytest.mark.few(30)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
@pytest.mark.parametrize("name", WEAK)
def test_weak_orders(name, n_voters, n_alternatives, random_profile, oracle):
    profile = drawn(random_profile, n_voters, n_alternatives)
    module, function = WEAK[name]
    method = getattr(getattr(oracle, module), function)
    options = {"algorithm": "from_stacks"} if name == "ranked_pairs" else {}
    expected = [method(oracle.weak(profile, t), **options) for t in range(CONTEXTS)]
    assert winners(name, profile) == expected


@pytest.mark.few(12)
@pytest.mark.parametrize("name", TRUNCATED)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
def test_strict_orders_of_some(name, n_voters, n_alternatives, random_profile, oracle):
    profile = drawn(random_profile, n_voters, n_alternatives, truncated=True)
    module, function = TRUNCATED[name]
    method = getattr(getattr(oracle, module), function)
    expected = [method(oracle.truncated(profile, t)) for t in range(CONTEXTS)]
    assert winners(name, profile) == expected


@pytest.mark.parametrize(("n_voters", "n_alternatives"), [shape for shape in SHAPES if shape[1] <= 3])
def test_ranked_pairs_with_every_order_of_tied_pairs(n_voters, n_alternatives, random_profile, oracle):
    """pref_voting's other algorithm tries all orders; few enough with 3 alternatives."""
    profile = drawn(random_profile, n_voters, n_alternatives)
    expected = [oracle.margin_based_methods.ranked_pairs(oracle.weak(profile, t)) for t in range(CONTEXTS)]
    assert winners("ranked_pairs", profile) == expected


@pytest.mark.long
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
def test_lotteries(n_voters, n_alternatives, random_profile, oracle):
    """Maximal lotteries agree where there is only one: with an odd number of strict ballots."""
    generator = np.random.default_rng([7, n_voters, n_alternatives])
    counts = generator.integers(1, 4, n_voters)
    counts[0] += (counts.sum() + 1) % 2
    profile = random_profile(generator, n_voters, n_alternatives, CONTEXTS, counts, strict=True)
    methods = oracle.probabilistic_methods
    for name, method in (
        ("maximal_lotteries", methods.maximal_lottery),
        ("random_dictatorship", methods.random_dictator),
    ):
        found = strategies.create(name).count(profile).scores
        for t in range(CONTEXTS):
            expected = method(oracle.strict(profile, t))
            np.testing.assert_allclose(found[:, t], [expected[a] for a in range(n_alternatives)], atol=1e-9)


@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
def test_grades(n_voters, n_alternatives, oracle):
    """Approval and range agree; pref_voting stops majority judgment's tie-break early, so ours is among its winners."""
    from accordant.voting import Profile

    generator = np.random.default_rng([11, n_voters, n_alternatives])
    grades = generator.integers(0, 4, size=(n_voters, n_alternatives, CONTEXTS))
    counts = generator.integers(1, 4, n_voters)
    profile = Profile(-grades + 3, counts, grades=grades, approvals=grades > 1)
    ours = {name: winners(name, profile) for name in ("approval", "range", "majority_judgment")}
    for t in range(CONTEXTS):
        ballots = [dict(enumerate(row.tolist())) for row in grades[:, :, t]]
        approved = [{a: int(grade > 1) for a, grade in ballot.items()} for ballot in ballots]
        graded = oracle.grade_profiles.GradeProfile(ballots, [0, 1, 2, 3], counts.tolist())
        assert ours["approval"][t] == oracle.grade_methods.approval(
            oracle.grade_profiles.GradeProfile(approved, [0, 1], counts.tolist())
        )
        assert ours["range"][t] == oracle.grade_methods.score_voting(graded)
        assert set(ours["majority_judgment"][t]) <= set(oracle.grade_methods.majority_judgement(graded))
