"""Distillation of groups' rewards: what every fit promises, whatever the loss."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Comparisons
from accordant.preferences.learners.pareto_distillation import ParetoDistillation
from accordant.preferences.learners.learner import learners
from accordant.preferences.synthetic import world

LOSSES = ("mse", "soft", "offset")
CONTROLS = {"pooled", "balanced", "group_robust", "pooled_teacher", "pooled_teacher_balanced"}


def sample_of(name="informative", seed=0, **changes):
    sizes = {"users": 16, "records": 8, "features": 3, "test_records": 20} | changes
    return world(name, **sizes).drawn(np.random.default_rng(seed))


def accuracies(model, records):
    right = model.margins(records) > 0
    group = np.array(records.groups)[records.users]
    return {name: float(right[group == name].mean()) for name in set(records.groups)}


def coefficients(model):
    return np.asarray(model.coefficients).ravel()


@pytest.mark.few(3)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("context", ["none", "given", "history"])
def test_every_fit_brings_every_control(loss, context):
    model = learners.create("pareto_distillation", {"loss": loss, "context": context}).fit(sample_of().training)
    assert set(model.controls) == CONTROLS | ({"contextless_teacher"} if context != "none" else set())
    assert set(model.specialists) == {"majority", "minority"}
    own = ParetoDistillation(loss=loss, context=context, specialist_context=True).fit(sample_of().training)
    assert set(own.controls) == CONTROLS


@pytest.mark.few(3)
@pytest.mark.parametrize("context", ["none", "given", "history"])
@pytest.mark.parametrize(
    ("control", "learner"), [("pooled", "bradley_terry"), ("balanced", "balanced"), ("group_robust", "group_robust")]
)
def test_untaught_controls_are_the_registered_learners(context, control, learner):
    sample = sample_of()
    model = ParetoDistillation(context=context).fit(sample.training)
    alone = learners.create(learner, {"context": context}).fit(sample.training)
    assert model.controls[control].margins(sample.test) == pytest.approx(alone.margins(sample.test), abs=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize("loss", LOSSES)
def test_of_opposed_groups_the_worse_is_at_a_coin_without_context_and_above_it_with_history(loss):
    sample = world("antipodal", individuality=0.0).drawn(np.random.default_rng(1))
    noise = 3 * 0.5 / np.sqrt(len(sample.test) / 2)
    blind = ParetoDistillation(loss=loss, context="none", tolerance=1e-5).fit(sample.training)
    for model in (blind, *blind.controls.values()):
        assert min(accuracies(model, sample.test).values()) <= 0.5 + noise
    informed = ParetoDistillation(loss=loss, tolerance=1e-5).fit(sample.training)
    assert min(accuracies(informed, sample.test).values()) > 0.75


@pytest.mark.parametrize("context", ["none", "given", "history"])
def test_groups_are_not_read_at_inference(context):
    sample = sample_of()
    model = ParetoDistillation(context=context).fit(sample.training)
    wanted = model.margins(sample.test)
    for groups in (None, sample.test.groups[::-1], ("other",) * 16):
        assert model.margins(replace(sample.test, groups=groups)).tobytes() == wanted.tobytes()
    one = [
        model.rewards(sample.test.features[[chosen, rejected]], int(user))
        for chosen, rejected, user in zip(sample.test.chosen, sample.test.rejected, sample.test.users, strict=True)
    ]
    assert wanted == pytest.approx([better - worse for better, worse in one])


@pytest.mark.parametrize("context", ["none", "given", "history"])
def test_new_users_need_no_group_either(context):
    sample = sample_of()
    model = ParetoDistillation(context=context).fit(sample.training)
    first = replace(sample.first, groups=None)
    adapted, labelled = model.adapted(first), model.adapted(sample.first)
    assert adapted.margins(replace(sample.later, groups=None)).tobytes() == labelled.margins(sample.later).tobytes()
    for name, control in model.controls.items():
        wanted = control.adapted(first).margins(sample.later)
        assert adapted.controls[name].margins(sample.later).tobytes() == wanted.tobytes()
    if context == "history":
        assert adapted.margins(sample.later).tobytes() != model.margins(sample.later).tobytes()


@pytest.mark.parametrize("groups", ["given", "found"])
def test_the_same_seed_gives_the_same_bytes(groups):
    training = sample_of().training
    if groups == "found":
        training = replace(training, groups=None)
    first, second = (ParetoDistillation().fit(training, generator=np.random.default_rng(4)) for _ in range(2))
    assert first.margins(training).tobytes() == second.margins(training).tobytes()
    for name in first.controls:
        assert coefficients(first.controls[name]).tobytes() == coefficients(second.controls[name]).tobytes()
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_shared_lesson_teaches_what_a_fit_does(loss):
    training = sample_of().training
    lesson = ParetoDistillation(context="given").lesson(training)
    learner = ParetoDistillation(context="given", loss=loss, weighting="size", gate="right")
    first, second = learner.distilled(lesson), learner.fit(training)
    assert coefficients(first.unified).tobytes() == coefficients(second.unified).tobytes()
    assert first.to_json() == second.to_json()
    for wrong in ({"context": "none"}, {"ridge": 1e-3}, {"grouping": "record"}):
        with pytest.raises(InputError, match="allowed with this lesson"):
            replace(learner, **wrong).distilled(lesson)


def test_groups_that_are_given_may_be_many():
    training = sample_of().training.with_groups([("a", "b", "c", "d")[user % 4] for user in range(16)])
    model = ParetoDistillation().fit(training)
    assert set(model.specialists) == {"a", "b", "c", "d"}
    assert [each.records for each in model.taught] == [32] * 4
    assert model.to_json()["groups"] == {"names": ["a", "b", "c", "d"], "by": "given", "level": "user"}


def shared_pairs(n_users=10, minority=3, pairs=6, seed=0):
    """All users compare the same pairs of items; the last ones want the opposite."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(2 * pairs, 2))
    features[::2, 0] += 3.0
    users = np.arange(n_users).repeat(pairs)
    first, second = np.tile(np.arange(0, 2 * pairs, 2), n_users), np.tile(np.arange(1, 2 * pairs, 2), n_users)
    against = users >= n_users - minority
    return Comparisons(features, np.where(against, second, first), np.where(against, first, second), users)


@pytest.mark.parametrize("grouping", ["user", "record"])
def test_without_groups_support_tells_majority_from_minority(grouping):
    model = ParetoDistillation(grouping=grouping, context="none").fit(shared_pairs())
    sizes = {each.group: (each.users, each.records) for each in model.taught}
    assert sizes == {"majority": (7, 42), "minority": (3, 18)}
    assert model.groups["rates"] == "counts"
    assert model.groups["level"] == grouping
    opposed = [coefficients(model.specialists[name])[0] for name in ("majority", "minority")]
    assert opposed[0] > 0 > opposed[1]


def test_records_are_grouped_by_their_own_support_even_where_groups_are_given():
    records = shared_pairs()
    chosen, rejected = records.chosen.copy(), records.rejected.copy()
    chosen[0], rejected[0] = rejected[0], chosen[0]  # user 0 is of the majority but for one record
    records = replace(records, chosen=chosen, rejected=rejected, groups=("x",) * 10)
    model = ParetoDistillation(grouping="record", context="none").fit(records)
    assert {each.group: (each.users, each.records) for each in model.taught} == {
        "majority": (7, 41),
        "minority": (4, 19),
    }


def test_one_group_only_is_said_aloud():
    training = sample_of().training.with_groups(["all"] * 16)
    model = ParetoDistillation().fit(training)
    assert set(model.specialists) == {"all"}
    assert any("single specialist" in each for each in model.warnings)
    assert coefficients(model.controls["balanced"]) == pytest.approx(coefficients(model.controls["pooled"]), abs=1e-5)


def test_a_group_whose_records_weigh_nothing_counts_as_none():
    training = sample_of().training.with_groups(["all"] * 12 + ["mute"] * 4)
    weights = np.where(training.users < 12, 1.0, 0.0)
    model = ParetoDistillation().fit(replace(training, weights=weights))
    assert set(model.specialists) == {"all"}
    assert any("all records are in the group 'all'" in each for each in model.warnings)
    assert not any("single specialist" in each for each in ParetoDistillation().fit(training).warnings)


def test_a_minority_of_one_user_with_one_record():
    training = sample_of().training
    kept = np.flatnonzero((training.users != 15) | (np.arange(len(training)) == len(training) - 1))
    training = training.take(kept).with_groups(["many"] * 15 + ["one"])
    for context in ("none", "given", "history"):
        model = ParetoDistillation(context=context).fit(training)
        one = model.taught[1]
        assert (one.group, one.users, one.records) == ("one", 1, 1)
        assert np.isfinite(model.margins(training)).all()


def test_users_without_records_and_groups_without_users_with_records():
    sample = sample_of()
    silent = sample.training.of_users(range(10)).with_groups(["a"] * 5 + ["b"] * 5 + ["silent"] * 6)
    model = ParetoDistillation().fit(silent)
    assert set(model.specialists) == {"a", "b"}
    assert model.groups["names"] == ["a", "b"]
    assert np.isfinite(model.margins(sample.test)).all()
    weightless = replace(sample.training, weights=(sample.training.users < 10).astype(float), groups=silent.groups)
    assert set(ParetoDistillation().fit(weightless).specialists) == {"a", "b"}
    with pytest.raises(DataError, match="no comparisons"):
        ParetoDistillation().fit(silent.take(np.empty(0, dtype=int)))


def test_contradictions_and_duplicates_leave_nothing_to_teach():
    records = shared_pairs(minority=0)
    both = replace(
        records, chosen=np.concatenate([records.chosen, records.rejected]),
        rejected=np.concatenate([records.rejected, records.chosen]), users=np.concatenate([records.users] * 2),
        groups=tuple("ab" * 5),
    )  # fmt: skip
    model = ParetoDistillation(context="none").fit(both)
    assert coefficients(model.unified) == pytest.approx([0, 0], abs=1e-6)
    twice = both.take(np.arange(len(both)).repeat(2))
    assert coefficients(ParetoDistillation(context="none").fit(twice).unified) == pytest.approx([0, 0], abs=1e-6)


def test_how_a_model_came_about_is_plain_json():
    model = ParetoDistillation(gate="better", teacher="pooled").fit(sample_of("scarce", seed=3).training)
    found = json.loads(json.dumps(model.to_json(), allow_nan=False))
    assert learners.create("pafo_style", found["parameters"]) == ParetoDistillation(gate="better", teacher="pooled")
    assert set(found["taught"][0]) >= {"group", "users", "records", "prior", "accuracy", "held_out", "followed"}
    assert [each["followed"] for each in found["taught"]] == [0.0, 0.0]
    assert sum("control" in each or "teaches nothing" in each for each in found["warnings"]) == 2
    with pytest.raises(TypeError):
        model.controls["pooled"] = None


def test_accuracy_of_the_teacher_is_that_of_the_specialists():
    training = sample_of("antipodal").training
    model = ParetoDistillation(context="none").fit(training)
    group = np.array(training.groups)[training.users]
    for each in model.taught:
        own = training.take(np.flatnonzero(group == each.group))
        assert each.accuracy == pytest.approx((model.specialists[each.group].margins(own) > 0).mean())
        assert each.pooled_accuracy == pytest.approx((model.controls["pooled"].margins(own) > 0).mean())
        assert each.accuracy > each.pooled_accuracy
        assert each.followed == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"loss": "hinge"}, UnknownNameError),
        ({"gate": "open"}, UnknownNameError),
        ({"grouping": "item"}, UnknownNameError),
        ({"by": "guess"}, UnknownNameError),
        ({"weighting": "alike"}, UnknownNameError),
        ({"teacher": "oracle"}, UnknownNameError),
        ({"strength": -1.0}, InputError),
        ({"loss": "soft", "strength": 1.5}, InputError),
        ({"temperature": 0.0}, InputError),
        ({"offset": float("nan")}, InputError),
        ({"ridge": 0.0}, InputError),
        ({"directions": 1.5}, InputError),
        ({"grouping": "record", "by": "clustering"}, InputError),
    ],
)
def test_wrong_parameters_are_refused(wrong, error):
    with pytest.raises(error):
        learners.create("pareto_distillation", wrong)
