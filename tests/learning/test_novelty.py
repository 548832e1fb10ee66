"""What is unusual about contexts: every kind is found, and rows like the training rows are rarely called far."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.learning.encoding import ContextEncoder
from accordant.learning.novelty import FAR_SHARE, REFERENCE_ROWS, TrainingProfile

FEATURES = ("income", "debt", "school", "children")


def world(generator, n):
    """Numbers with and without long tails, categories, and missing values."""
    return Contexts(
        {
            "income": np.exp(generator.normal(10, 1, n)),
            "debt": 1.7e9 + generator.standard_t(3, n),
            "school": generator.choice(["GP", "MS", "other"], n, p=[0.7, 0.25, 0.05]),
            "children": np.where(generator.random(n) < 0.2, np.nan, generator.integers(0, 4, n)),
        }
    )


def log_of(contexts, groups=None):
    codes = np.zeros(contexts.n_contexts, dtype=np.intp)
    return Log(contexts, codes, codes, groups=groups)


def profile_of(generator, n, seed=0):
    return TrainingProfile.fit(log_of(world(generator, n)), FEATURES, seed)


@pytest.mark.few(1)
@pytest.mark.parametrize("n", [99, 250, 2600])
def test_of_rows_like_the_training_rows_few_are_far(n):
    """In many drawn worlds, the share of new rows that are called far is at most what is stated, and near it."""
    generator = np.random.default_rng(n)
    shares = [
        profile_of(generator, n, k)(world(generator, 400)).kinds["far"].mean() for k in range(60 if n < 1000 else 15)
    ]
    error = np.std(shares) / np.sqrt(len(shares))
    assert FAR_SHARE / 3 < np.mean(shares) < FAR_SHARE + 3 * error


def test_of_new_persons_few_are_far_though_rows_of_one_person_are_alike():
    """A calibration that compared rows of one person would call nearly every new person far."""
    generator, shares = np.random.default_rng(5), []
    for seed in range(40):
        persons = world(generator, 400)
        groups = np.repeat(np.arange(200), 5)
        profile = TrainingProfile.fit(log_of(persons.take(groups), groups), FEATURES, seed)
        shares.append(profile(persons.take(slice(200, 400))).kinds["far"].mean())
    assert len(next(iter(profile.reference.values()))) == 200
    assert np.mean(shares) < FAR_SHARE + 3 * np.std(shares) / np.sqrt(len(shares))


def test_far_is_far_in_every_order_and_batch():
    """A row between the training rows is far where none of its numbers is out of range."""
    generator = np.random.default_rng(1)
    angle = generator.uniform(0, 2 * np.pi, 500)
    ring = Contexts({"x": np.cos(angle), "y": np.sin(angle)})
    profile = TrainingProfile.fit(log_of(ring), ("x", "y"), 0)
    new = Contexts({"x": [0.0, 0.8, 0.1], "y": [0.0, 0.6, -0.2]})
    found = profile(new)
    assert found.kinds["far"].tolist() == [True, False, True]
    assert not found.kinds["out_of_range"].any() and found.remarks[1] == ""
    assert found.remarks[0].startswith("far from all training rows: distance")
    for row in range(3):
        assert profile(new.take(slice(row, row + 1))).remarks[0] == found.remarks[row]


def test_looking_at_blocks_is_looking_at_all():
    generator = np.random.default_rng(2)
    profile, new = profile_of(generator, 700), world(generator, 5000)
    points = profile._scaled(profile.encoder(new))
    near = np.array([((point - profile._points) ** 2).sum(axis=1) <= profile.radius for point in points])
    assert profile(new).kinds["far"].tolist() == (near.sum(axis=1) < 5).tolist()


def test_the_radius_and_a_distance_are_those_of_a_slow_twin():
    """Of 300 rows and a new one, three may be far: the third largest distance of rows to their fifth nearest limits."""
    generator = np.random.default_rng(12)
    x, y = generator.normal(3, 20, 300), generator.uniform(0, 0.1, 300)
    profile = TrainingProfile.fit(log_of(Contexts({"x": x, "y": y})), ("x", "y"), 0)
    rows = list(zip((x / x.std()).tolist(), (y / y.std()).tolist(), strict=True))

    def fifth(row, others):
        return sorted((row[0] - a) ** 2 + (row[1] - b) ** 2 for a, b in others)[4]

    own = sorted(fifth(row, rows[:place] + rows[place + 1 :]) for place, row in enumerate(rows))
    assert profile.radius == pytest.approx(own[-3], rel=5e-3)  # numbers are rounded to 1e-4 deviations
    assert own[-3] < 1
    (remark,) = profile(Contexts({"x": [x.max()], "y": [0.3]})).remarks
    distance = np.sqrt(fifth((x.max() / x.std(), 0.3 / y.std()), rows))
    limit = np.sqrt(profile.radius)
    assert remark.endswith(f"; far from all training rows: distance {distance:.3g} (up to {limit:.3g})")


def test_how_usual_a_value_is():
    contexts = Contexts({"x": [1.0, 2.0, 2.0, 5.0, np.nan], "school": ["GP", "MS", "GP", "GP", ""]})
    profile = TrainingProfile.fit(log_of(contexts), ("x", "school"), 0)
    assert profile.usualness("x", 2.0) == (0.25, 0.5, 4)
    assert profile.usualness("x", 7.0) == (1.0, 0.0, 4)
    assert profile.usualness("x", np.nan) == profile.usualness("school", "") == (None, 0.2, 5)
    assert profile.usualness("school", "GP") == (None, 0.6, 5)
    assert profile.usualness("school", "nowhere") == (None, 0.0, 5)
    unknown = profile.state() | {"reference": profile.reference | {"x": [np.nan] * 5}}
    assert TrainingProfile.restored(profile.encoder, unknown).usualness("x", 2.0) == (None, 0.0, 0)


def test_each_kind_is_named():
    generator = np.random.default_rng(3)
    profile = profile_of(generator, 300)
    usual = {"income": 22_000.0, "debt": 1.7e9, "school": "GP", "children": 1.0}
    changes = [{}, {"school": "atlantis"}, {"income": 9e9}, {"income": np.nan}, {"children": np.nan}, {"school": ""}]
    rows = [usual | change for change in changes]
    found = profile(Contexts({name: [row[name] for row in rows] for name in FEATURES}))
    assert found.kinds["unseen"].tolist() == [False, True, False, False, False, False]
    assert found.kinds["out_of_range"].tolist() == [False, False, True, False, False, False]
    assert found.kinds["missing"].tolist() == [False, False, False, True, False, True]  # children are often missing
    assert found.kinds["far"].tolist() == [False, False, True, False, False, False]
    assert found.remarks[0] == found.remarks[4] == ""
    assert "unseen: school 'atlantis'" in found.remarks[1]
    assert "out of range: income 9e+09 (" in found.remarks[2] and "; far from" in found.remarks[2]
    assert "missing: income" in found.remarks[3] and "missing: school" in found.remarks[5]


def test_too_few_rows_tell_nothing_of_distance():
    generator = np.random.default_rng(4)
    profile = profile_of(generator, 98)
    assert profile.radius is None and profile_of(generator, 99).radius is not None
    assert not profile(Contexts({"income": [1e30], "debt": [0.0], "school": ["x"], "children": [99.0]})).kinds["far"][0]


def test_a_profile_survives_json_and_is_bounded():
    generator = np.random.default_rng(6)
    profile, new = profile_of(generator, 3000), world(generator, 500)
    state = json.loads(json.dumps(profile.state(), allow_nan=False))
    assert {len(values) for values in state["reference"].values()} == {REFERENCE_ROWS}
    assert sum(state["counts"]["school"]) == 3000
    again = TrainingProfile.restored(
        ContextEncoder(profile.encoder.medians, profile.encoder.indicated, profile.encoder.categories), state
    )
    assert again(new).remarks.tolist() == profile(new).remarks.tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"reference": {}},
        {"radius": "far"},
        {"deviations": {"income": 0.0, "debt": 1.0, "children": 1.0}},
        {"ranges": {"income": [1]}},
    ],
)
def test_a_forged_state_is_refused(change):
    profile = profile_of(np.random.default_rng(7), 120)
    with pytest.raises((KeyError, TypeError, ValueError, IndexError)):
        TrainingProfile.restored(profile.encoder, profile.state() | change)


def test_levels_of_a_forged_state_are_checked():
    profile = profile_of(np.random.default_rng(8), 120)
    state = profile.state()
    state["reference"]["school"][3] = 3
    with pytest.raises(ValueError, match="levels of school"):
        TrainingProfile.restored(profile.encoder, state)


def test_new_rows_are_comparable_with_reference_rows():
    """The training rows themselves come out as they stand in the reference, whatever their order."""
    contexts = world(np.random.default_rng(11), 300)
    profile = TrainingProfile.fit(log_of(contexts), FEATURES, 0)
    own = profile.comparable(contexts)
    for name in FEATURES:
        assert np.array_equal(np.sort(own[name]), np.sort(profile.reference[name].astype(float)), equal_nan=True)
    others = Contexts({name: contexts[name][:2] for name in FEATURES} | {"school": np.array(["GP", "nowhere"])})
    assert profile.comparable(others)["school"].tolist() == [0.0, 3.0]
