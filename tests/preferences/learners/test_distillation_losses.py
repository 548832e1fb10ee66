"""Losses, gates and weights of supervision against the formulas, record by record."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.learners.specialists import TrainingGroups
from accordant.preferences.learners.pareto_distillation import ParetoDistillation
from accordant.preferences.learners.supervision import Supervision
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.synthetic import world

CASES = [
    ("mse", "none", "balanced"), ("mse", "right", "size"), ("mse", "better", "balanced"),
    ("soft", "none", "size"), ("soft", "right", "balanced"), ("soft", "better", "balanced"),
    ("offset", "none", "balanced"), ("offset", "right", "size"), ("offset", "better", "balanced"),
]  # fmt: skip


@cache
def lesson_of(context="given", seed=0, weighted=True):
    training = world("90:10", users=10, records=6, features=3, minority=0.2).drawn(np.random.default_rng(seed)).training
    if weighted:
        training = replace(training, weights=np.random.default_rng(seed).integers(0, 4, len(training)).astype(float))
    return ParetoDistillation(context=context, tolerance=1e-9).lesson(training)


def slow_objective(theta, lesson, learner):
    """The formulas at the top of supervision.py, in loops."""
    records, n_features = lesson.comparisons, lesson.design.differences.shape[1]
    group = [records.groups[user] for user in records.users]
    weights = records.record_weights.tolist()
    total = {name: sum(w for w, g in zip(weights, group, strict=True) if g == name) for name in set(group)}
    value = 0.5 * learner.ridge * sum(each**2 for each in theta)
    for r in range(len(records)):
        scales = [1.0] if lesson.design.scales is None else lesson.design.scales[r]
        x = records.features[records.chosen[r]] - records.features[records.rejected[r]]
        margin = sum(s * theta[j * n_features + i] * x[i] for j, s in enumerate(scales) for i in range(n_features))
        teacher, pooled = lesson.specialist_margins[r], lesson.pooled_margins[r]
        follows = {"none": True, "right": teacher > 0, "better": teacher > pooled}[learner.gate]
        plain = weights[r] / sum(weights)
        part = 1 / len(total) if learner.weighting == "balanced" else total[group[r]] / sum(weights)
        taught = part * weights[r] / total[group[r]]
        if learner.loss == "mse":
            value += plain * math.log(1 + math.exp(-margin))
            value += learner.strength * taught * follows * (margin - teacher) ** 2
        elif learner.loss == "soft":
            wanted = 1 / (1 + math.exp(-teacher / learner.temperature)) if follows else 1.0
            loss, opposite = math.log(1 + math.exp(-margin)), math.log(1 + math.exp(margin))
            cross = wanted * loss + (1 - wanted) * opposite
            value += (1 - learner.strength) * plain * loss + learner.strength * taught * cross
        else:
            value += taught * math.log(1 + math.exp(-(margin - learner.offset * follows * max(teacher, 0))))
    return value


@pytest.mark.few(8)
@pytest.mark.parametrize(("loss", "gate", "weighting"), CASES)
@pytest.mark.parametrize("context", ["none", "given", "history"])
def test_the_unified_reward_has_no_slope_in_the_slow_objective(loss, gate, weighting, context):
    lesson = lesson_of(context)
    learner = ParetoDistillation(
        context=context,
        tolerance=1e-9,
        loss=loss,
        gate=gate,
        weighting=weighting,
        strength=0.7,
        temperature=1.6,
        offset=0.4,
    )
    theta = np.asarray(learner.distilled(lesson).unified.coefficients).ravel()
    here, step = slow_objective(theta, lesson, learner), 1e-5
    for k in range(len(theta)):
        move = step * np.eye(len(theta))[k]
        there, back = (slow_objective(theta + sign * move, lesson, learner) for sign in (1, -1))
        assert (there - back) / (2 * step) == pytest.approx(0.0, abs=1e-7)
        assert min(there, back) >= here - 1e-12


@pytest.mark.parametrize(("loss", "gate", "weighting"), CASES)
def test_the_problem_is_the_slow_objective_everywhere(loss, gate, weighting):
    lesson = lesson_of()
    learner = ParetoDistillation(
        context="given", loss=loss, gate=gate, weighting=weighting, strength=0.7, temperature=0.6
    )
    supervision = Supervision(loss, gate, learner.strength, learner.temperature, learner.offset)
    problem = supervision.problem(
        lesson.design, teacher=lesson.specialist_margins, pooled=lesson.pooled_margins,
        plain=lesson.groups.weights(lesson.comparisons, "size"),
        taught=lesson.groups.weights(lesson.comparisons, weighting), ridge=learner.ridge,
    )  # fmt: skip
    generator = np.random.default_rng(3)
    for _ in range(3):
        theta = generator.normal(size=problem.n_coefficients)
        found = problem.value(theta, problem.predictions(theta))
        assert found == pytest.approx(slow_objective(theta, lesson, learner), rel=1e-10)


def test_gates_open_where_they_say():
    teacher, pooled = np.array([2.0, 1.0, -1.0, -2.0, 0.0, 0.5]), np.array([1.0, 2.0, -2.0, -1.0, -1.0, 0.5])
    assert Supervision(gate="none").open_gate(teacher, pooled).all()
    assert Supervision(gate="right").open_gate(teacher, pooled).tolist() == [True, True, False, False, False, True]
    assert Supervision(gate="better").open_gate(teacher, pooled).tolist() == [True, False, True, False, True, False]
    for wrong in (teacher[:, None], teacher[:3]):
        with pytest.raises(InputError, match="margins have shapes"):
            Supervision().open_gate(wrong, pooled)


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "mse", "strength": 0.0},
        {"loss": "soft", "strength": 0.0},
        {"loss": "offset", "offset": 0.0, "weighting": "size"},
    ],
)
@pytest.mark.parametrize("context", ["none", "history"])
def test_without_strength_nothing_is_taught(changes, context):
    lesson = lesson_of(context)
    learner = ParetoDistillation(context=context, tolerance=1e-9, **changes)
    assert np.ravel(learner.distilled(lesson).unified.coefficients) == pytest.approx(lesson.pooled, abs=1e-6)


def test_a_teacher_who_is_sure_of_every_label_teaches_the_pooled_reward():
    lesson = replace(lesson_of(), specialist_margins=np.full(60, 1e6))
    learner = ParetoDistillation(context="given", tolerance=1e-9, loss="soft", temperature=1.0, weighting="size")
    assert np.ravel(learner.distilled(lesson).unified.coefficients) == pytest.approx(lesson.pooled, abs=1e-6)


@pytest.mark.parametrize("gate", ["none", "right", "better"])
@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_squared_distance_to_a_pooled_teacher_changes_nothing(gate, strength):
    """θ_pooled minimises the log-loss and makes the distance 0: a convex model does not learn from itself."""
    lesson = lesson_of("history")
    learner = ParetoDistillation(tolerance=1e-9, gate=gate, strength=strength)
    controls = learner.distilled(lesson).controls
    for name in ("pooled_teacher", "pooled_teacher_balanced"):
        assert np.ravel(controls[name].coefficients) == pytest.approx(lesson.pooled, abs=1e-6)


def test_the_control_as_teacher_is_the_control():
    lesson = lesson_of()
    for loss in ("mse", "soft", "offset"):
        for weighting, control in (("size", "pooled_teacher"), ("balanced", "pooled_teacher_balanced")):
            learner = ParetoDistillation(
                context="given", tolerance=1e-9, loss=loss, weighting=weighting, teacher="pooled"
            )
            model = learner.distilled(lesson)
            assert np.array_equal(model.unified.coefficients, model.controls[control].coefficients)


def test_the_stronger_the_nearer_to_the_teacher():
    lesson = lesson_of("none", weighted=False)
    distances = []
    for strength in (0.01, 0.1, 1.0, 10.0):
        model = ParetoDistillation(context="none", tolerance=1e-9, strength=strength).distilled(lesson)
        away = (model.margins(lesson.comparisons) - lesson.specialist_margins) ** 2
        distances.append(away @ lesson.groups.weights(lesson.comparisons, "balanced"))
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > distances[-1] + 1e-3


def test_margins_of_a_thousand_do_not_overflow():
    lesson = lesson_of()
    lesson = replace(lesson, specialist_margins=1000.0 * np.sign(lesson.specialist_margins))
    for loss in ("mse", "soft", "offset"):
        model = ParetoDistillation(context="given", tolerance=1e-9, loss=loss, temperature=0.01).distilled(lesson)
        assert np.isfinite(model.margins(lesson.comparisons)).all()


def two_groups(counts=(30, 10)):
    of_record = np.repeat([0, 1], counts)
    return TrainingGroups(("many", "few"), of_record, np.array(counts, dtype=float), {}, ())


def gradient_of(lesson, rows, weights, theta):
    """The mean gradient of −log σ on some records, with weights."""
    x = lesson.design.differences[rows]
    return -(weights / weights.sum() * (1 - 1 / (1 + np.exp(-x @ theta)))) @ x


def test_group_weights_change_the_gradient_as_repeating_records_does():
    training = world("90:10", users=4, records=10, features=3).drawn(np.random.default_rng(0)).training
    lesson = ParetoDistillation(context="none").lesson(training)
    groups, theta = two_groups(), np.array([0.3, -0.2, 0.5])
    weighted = gradient_of(lesson, np.arange(40), groups.weights(training, "balanced"), theta)
    repeated = np.concatenate([np.arange(30), np.arange(30, 40).repeat(3)])
    assert weighted == pytest.approx(gradient_of(lesson, repeated, np.ones(60), theta))
    by_size = gradient_of(lesson, np.arange(40), groups.weights(training, "size"), theta)
    assert by_size == pytest.approx(gradient_of(lesson, np.arange(40), np.ones(40), theta))


def test_group_weights_change_the_gradient_as_resampling_does_in_expectation():
    training = world("90:10", users=4, records=10, features=3).drawn(np.random.default_rng(0)).training
    lesson = ParetoDistillation(context="none").lesson(training)
    groups, theta = two_groups(), np.array([0.3, -0.2, 0.5])
    generator, n = np.random.default_rng(1), 40_000
    rows = np.where(generator.random(n) < 0.5, generator.integers(0, 30, n), generator.integers(30, 40, n))
    x = lesson.design.differences[rows]
    each = -(1 - 1 / (1 + np.exp(-x @ theta)))[:, None] * x
    wanted = gradient_of(lesson, np.arange(40), groups.weights(training, "balanced"), theta)
    assert (np.abs(each.mean(axis=0) - wanted) < 4 * each.std(axis=0) / np.sqrt(n)).all()


@pytest.mark.parametrize("weighting", ["balanced", "size"])
def test_weights_sum_to_one_and_leave_empty_groups_out(weighting):
    training = world("90:10", users=4, records=10, features=3).drawn(np.random.default_rng(0)).training
    groups = replace(two_groups(), names=("many", "few", "nobody"), totals=np.array([30.0, 10.0, 0.0]))
    weights = groups.weights(training, weighting)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[30:].sum() == pytest.approx(0.5 if weighting == "balanced" else 0.25)
    assert log_loss(np.zeros(40)) @ weights == pytest.approx(np.log(2))
