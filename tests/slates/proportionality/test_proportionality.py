"""Axioms against their definitions by subsets, against an established library, and their order of strength."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.proportionality import AXIOMS, Witness, check, violations

IMPLIED = (("ejr_plus", "ejr"), ("ejr", "pjr"), ("pjr", "jr"))


def subsets(members):
    """Every subset that is not empty."""
    return itertools.chain.from_iterable(itertools.combinations(members, n) for n in range(1, len(members) + 1))


def approves(approved, voter, items):
    """How many of some items a voter approves."""
    return sum(bool(approved[voter][item]) for item in items)


def wronged(axiom, approved, weights, committee, k, group, size):
    """Whether a group is wronged at ℓ = size, word by word."""
    everybody = sum(map(Fraction, weights))
    if sum(Fraction(weights[i]) for i in group) * k < size * everybody:
        return False
    n_items = len(approved[0])
    common = [c for c in range(n_items) if all(approved[i][c] for i in group)]
    if axiom == "ejr_plus":
        outside = [c for c in common if c not in committee]
        return bool(outside) and all(approves(approved, i, committee) < size for i in group)
    if len(common) < size or (axiom == "jr" and size > 1):
        return False
    if axiom == "pjr":
        return sum(any(approved[i][c] for i in group) for c in committee) < size
    return all(approves(approved, i, committee) < size for i in group)


def twin(axiom, approved, weights, committee, k):
    """Whether no group of voters with weight is wronged."""
    voters = [i for i, weight in enumerate(weights) if weight > 0]
    return not any(
        wronged(axiom, approved, weights, committee, k, group, size)
        for group in subsets(voters)
        for size in range(1, k + 1)
    )


@st.composite
def elections(draw, most_voters=5):
    n_voters, n_items = draw(st.integers(1, most_voters)), draw(st.integers(1, 6))
    row = st.lists(st.booleans(), min_size=n_items, max_size=n_items)
    approved = draw(st.lists(row, min_size=n_voters, max_size=n_voters))
    weights = draw(st.lists(st.integers(0, 3), min_size=n_voters, max_size=n_voters).filter(any))
    k = draw(st.integers(1, 4))
    length = draw(st.integers(0, min(k, n_items)))
    committee = draw(st.permutations(range(n_items)))[:length]
    return approved, weights, committee, k


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(elections())
def test_axioms_are_their_definitions_and_witnesses_are_wronged(election):
    approved, weights, committee, k = election
    array, mass = np.array(approved), np.array(weights, dtype=float)
    padded = np.array([[*committee, *[-1] * (k - len(committee))]])
    holds = {}
    for axiom in AXIOMS:
        verdict = check(axiom, array, mass, committee, k)
        holds[axiom] = verdict.holds
        assert verdict.holds == twin(axiom, approved, weights, committee, k)
        assert bool(violations(axiom, array[:, :, None], padded, mass)[0]) == (not verdict.holds)
        if verdict.witness is not None:
            found = verdict.witness
            assert wronged(axiom, approved, weights, committee, k, found.voters, found.size)
            assert all(approved[i][c] for i in found.voters for c in found.items)
    for stronger, weaker in IMPLIED:
        assert holds[weaker] or not holds[stronger]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(elections(most_voters=3))
def test_weight_is_a_number_of_equal_voters(election):
    approved, weights, committee, k = election
    many = np.repeat(np.array(approved), weights, axis=0)
    for axiom in AXIOMS:
        weighted = check(axiom, np.array(approved), np.array(weights, dtype=float), committee, k)
        assert weighted.holds == check(axiom, many, None, committee, k).holds


def test_established_library_agrees(extra):
    preferences, properties = extra("abcvoting.preferences"), extra("abcvoting.properties")
    generator = np.random.default_rng(0)
    seen = {axiom: set() for axiom in AXIOMS}
    for _ in range(60):
        n_voters, n_items, k = (int(generator.integers(*ends)) for ends in ((3, 7), (4, 7), (2, 4)))
        approved = generator.random((n_voters, n_items)) < generator.choice([0.3, 0.6])
        committee = generator.choice(n_items, k, replace=False).tolist()
        profile = preferences.Profile(n_items)
        profile.add_voters([set(np.flatnonzero(row).tolist()) for row in approved])
        theirs = {
            "jr": properties.check_JR(profile, committee),
            "pjr": properties.check_PJR(profile, committee, algorithm="brute-force"),
            "ejr": properties.check_EJR(profile, committee, algorithm="brute-force"),
            "ejr_plus": properties.check_EJR_plus(profile, committee),
        }
        for axiom, holds in theirs.items():
            assert check(axiom, approved, None, committee, k).holds == holds
            seen[axiom].add(holds)
    assert all(each == {True, False} for each in seen.values())


def test_many_lists_at_once_as_one_by_one():
    generator = np.random.default_rng(1)
    n_users, k, weights = 150, 4, np.array([1.0, 2.0, 0.0, 0.5, 1.5])
    approved = generator.random((5, 8, n_users)) < generator.choice([0.2, 0.5, 0.8], size=n_users)
    items = np.argsort(generator.random((n_users, 8)), axis=1)[:, :k]
    items[::7, -1] = -1
    for axiom in AXIOMS:
        broken = violations(axiom, approved, items, weights)
        single = [
            not check(axiom, approved[:, :, u], weights, items[u][items[u] >= 0], k).holds for u in range(n_users)
        ]
        assert broken.tolist() == single
        assert 0 < broken.sum() < n_users


def test_witness_names_the_group():
    """Two blocks of two voters with two items each: the list gives the second block nothing, or one of two."""
    approved = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool)
    assert check("jr", approved, None, [0, 1], 2).witness == Witness((2, 3), 1, (2,))
    assert check("ejr", approved, None, [0, 1, 2], 4).witness == Witness((2, 3), 2, (2, 3))
    assert check("ejr_plus", approved, None, [0, 1, 2], 4).witness == Witness((2, 3), 2, (3,))
    assert check("jr", approved, None, [0, 1, 2], 4).holds
    assert all(check(axiom, approved, None, [0, 1, 2, 3], 4).holds for axiom in AXIOMS)
    assert all(check(axiom, approved, [1, 1, 0, 0], [0, 1], 2).holds for axiom in AXIOMS)


def test_cohesion_of_ejr_needs_common_items_and_ejr_plus_does_not():
    """Brill and Peters (2023): a voter approves items one by one shared with others, so EJR says nothing."""
    approved = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1]], dtype=bool)
    assert check("ejr", approved, None, [1, 2, 3, 4], 4).holds
    assert check("ejr_plus", approved, None, [1, 2, 3, 4], 4).witness == Witness((0, 1, 2, 3), 2, (0,))


def test_a_quota_that_is_reached_exactly_is_reached():
    """1/49 of 49 places is one place, although (1/49)·49 is less than 1 in floats."""
    assert 1 / 49 * 49 < 1
    for axiom in ("jr", "ejr_plus"):
        assert not check(axiom, np.eye(49, dtype=bool), None, [0], 49).holds
        assert violations(axiom, np.eye(49, dtype=bool)[:, :, None], np.r_[0, np.full(48, -1)][None]).all()


def test_many_voters():
    generator = np.random.default_rng(2)
    approved = generator.random((40, 30)) < 0.3
    for axiom in ("jr", "ejr_plus"):
        assert not check(axiom, approved, None, [], 10).holds
    for axiom in ("pjr", "ejr"):
        with pytest.raises(
            InputError,
            match=f"{axiom} looks at every group of voters, and they cast 40 different ballots; allowed: at most 12",
        ):
            check(axiom, approved, None, [], 10)
        with pytest.raises(InputError, match="at most 12"):
            violations(axiom, approved[:, :, None], np.array([[0, 1]]))
        muted = np.r_[np.ones(12), np.zeros(28)]
        assert check(axiom, approved, muted, [], 10).holds == (violations(axiom, approved[:, :, None],
                     np.full((1, 10), -1), muted).sum() == 0)  # fmt: skip


@pytest.mark.parametrize("axiom", ["pjr", "ejr"])
def test_many_voters_with_few_ballots(axiom):
    """100 voters with 4 ballots: who casts the same ballot is in a group together, or not at all."""
    generator = np.random.default_rng(3)
    for _ in range(30):
        ballots = generator.random((4, 6)) < 0.5
        cast = np.r_[np.arange(4), generator.integers(0, 4, 96)]
        committee = generator.choice(6, 3, replace=False)
        few = check(axiom, ballots, np.bincount(cast).astype(float), committee, 3)
        many = check(axiom, ballots[cast], None, committee, 3)
        assert many.holds == few.holds
        lists = np.array([committee])
        assert violations(axiom, ballots[cast][:, :, None], lists).tolist() == [not few.holds]
        if few.witness is not None and many.witness is not None:
            group = {int(cast[voter]) for voter in many.witness.voters}
            assert group == set(few.witness.voters)
            assert len(many.witness.voters) == np.isin(cast, list(group)).sum()


@pytest.mark.parametrize(("change", "message"), [
    ({"axiom": "ejr+"}, "did you mean 'ejr'"),
    ({"committee": [0, 0]}, "different items"),
    ({"committee": [0, 1, 2]}, "at most 2 different items"),
    ({"committee": [7]}, "positions of the 3 items"),
    ({"weights": [1.0]}, "stakeholder weights"),
    ({"weights": [0.0, 0.0]}, "not all 0"),
    ({"k": 0}, "places"),
    ({"approved": np.ones((2, 3))}, "booleans of shape"),
    ({"approved": np.ones((0, 3), dtype=bool)}, "a voter and an item at least"),
])  # fmt: skip
def test_wrong_input(change, message):
    given = {"axiom": "jr", "approved": np.ones((2, 3), dtype=bool), "weights": None, "committee": [0], "k": 2}
    with pytest.raises(InputError, match=message):
        check(**given | change)


def test_wrong_lists():
    with pytest.raises(UnknownNameError, match="valid: jr, pjr, ejr, ejr_plus"):
        violations("core", np.ones((1, 1, 1), dtype=bool), np.array([[0]]))
    with pytest.raises(InputError, match="with 1 users"):
        violations("jr", np.ones((1, 1, 1), dtype=bool), np.array([[0], [0]]))
    assert violations("jr", np.ones((2, 3, 0), dtype=bool), np.empty((0, 2), dtype=np.intp)).shape == (0,)
