"""Metrics in groups against fairlearn, their limits against brute force, and where nothing is defined."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.metrics import MetricFrame
from scipy import stats
from sklearn.metrics import accuracy_score, fbeta_score, mean_absolute_error, recall_score, roc_auc_score

from accordant import metrics
from accordant.errors import InputError
from accordant.metrics.group_distances import largest_limits


def recall(y_true, y_pred, sample_weight=None):
    """Return the recall, by a formula that costs nothing."""
    weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
    positive = weights * (y_true == 1)
    return float((positive * (y_pred == 1)).sum() / positive.sum()) if positive.any() else float("nan")


def f2(y_true, y_pred, sample_weight=None):
    """Return a metric of a user's own."""
    return fbeta_score(y_true, y_pred, beta=2, sample_weight=sample_weight)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 2, 200)
    return {
        "y_true": truth,
        "y_pred": np.where(generator.random(200) < 0.7, truth, 1 - truth),
        "groups": generator.choice(["a", "b", "c"], 200),
        "control": generator.choice(["x", "y"], 200),
        "sample_weight": generator.random(200),
    }


@pytest.mark.few(4)
@pytest.mark.parametrize("metric", [recall_score, accuracy_score, f2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("controlled", [False, True])
def test_values_equal_fairlearn(rows, metric, weighted, controlled):
    weights = rows["sample_weight"] if weighted else None
    found = metrics.by_group(metric, rows["y_true"], rows["y_pred"], groups=rows["groups"], sample_weight=weights,
                             control=rows["control"] if controlled else None, resamples=0)  # fmt: skip
    theirs = MetricFrame(
        metrics=metric, y_true=rows["y_true"], y_pred=rows["y_pred"], sensitive_features=rows["groups"],
        control_features=rows["control"] if controlled else None,
        sample_params={"sample_weight": weights} if weighted else None,
    )  # fmt: skip
    parts = {"x": found.within["x"], "y": found.within["y"]} if controlled else {None: found}
    for control, part in parts.items():
        pick = (lambda value, control=control: value[control]) if controlled else (lambda value: value)
        assert part.overall.value == pytest.approx(pick(theirs.overall))
        for group, estimate in part.by_group.items():
            assert estimate.value == pytest.approx(theirs.by_group[(control, group) if controlled else group])
        for name, method in (("", "between_groups"), ("_to_overall", "to_overall")):
            gap, ratio = getattr(part, f"difference{name}"), getattr(part, f"ratio{name}")
            assert gap.value == pytest.approx(pick(theirs.difference(method=method)))
            assert ratio.value == pytest.approx(pick(theirs.ratio(method=method)))


def test_recall_of_a_small_group_has_the_jeffreys_interval():
    """Five of five say that recall is high, not that it is 1."""
    truth, predicted = np.ones(15, dtype=int), np.array([1] * 5 + [0, 1] * 5)
    truth[-2:] = 0
    groups = ["few"] * 5 + ["many"] * 10
    found = metrics.by_group(recall, truth, predicted, groups=groups, resamples=4000)
    few = found.by_group["few"]
    assert (few.value, few.high) == (1.0, 1.0)
    assert few.low == pytest.approx(stats.beta.ppf(0.025, 5.5, 0.5), abs=0.02)
    many = found.by_group["many"]  # four of eight
    assert (many.low, many.high) == pytest.approx(stats.beta.ppf([0.025, 0.975], 4.5, 4.5), abs=0.02)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_several_columns_make_groups_of_their_combinations(rows, kind):
    columns = kind({"group": rows["groups"], "young": rows["control"] == "x"})
    found = metrics.by_group(recall, rows["y_true"], rows["y_pred"], groups=columns, resamples=20)
    assert list(found.by_group) == [f"{group} × {young}" for group in "abc" for young in "01"]
    frame = found.to_frame()
    assert frame["of"].tolist() == ["overall", *found.by_group, "difference", "ratio", "difference to overall",
                                    "ratio to overall"]  # fmt: skip
    assert "difference to overall" in str(found)


@pytest.mark.long
def test_scores_and_numbers_are_resampled_by_rows_and_clusters(rows):
    scores = rows["y_pred"] + np.random.default_rng(0).random(200)
    found = metrics.by_group(roc_auc_score, rows["y_true"], scores, groups=rows["groups"], resamples=50)
    assert all(each.low < each.value < each.high for each in found.by_group.values())
    persons = np.repeat(np.arange(40), 5)
    alone, together = (
        metrics.by_group(mean_absolute_error, np.repeat(rows["y_true"][:40] * 1.5, 5), np.zeros(200),
                         groups=np.repeat(rows["groups"][:40], 5), clusters=clusters, resamples=150)
        for clusters in (None, persons)
    )  # fmt: skip
    widths = [each.overall.high - each.overall.low for each in (alone, together)]
    assert widths[1] > 1.6 * widths[0]  # five copies of a person say no more than one: √5 without chance


def mean_error(y_true, y_pred, sample_weight=None):
    """Return the mean absolute error of numbers, by a formula that costs nothing."""
    return float(np.average(np.abs(y_true - y_pred), weights=sample_weight))


def test_numbers_are_resampled_by_rows():
    """Values that all differ fill no cells; with more draws, limits are those of a normal distribution."""
    errors = np.random.default_rng(5).random(300)
    found = metrics.by_group(mean_error, errors, np.zeros(300), groups=["a", "b"] * 150, resamples=400).overall
    half = stats.norm.ppf(0.975) * errors.std() / np.sqrt(300)
    assert found.value == pytest.approx(errors.mean()) and found.n == 300
    assert [found.low, found.high] == pytest.approx([errors.mean() - half, errors.mean() + half], abs=0.2 * half)


def test_a_difference_has_the_interval_of_two_means_and_a_ratio_that_of_theirs():
    """Errors of 1 and 3 on average, so far apart that the largest difference is always the same one."""
    generator = np.random.default_rng(2)
    errors = [generator.uniform(0.5, 1.5, 300), generator.uniform(2.5, 3.5, 300)]
    found = metrics.by_group(
        mean_error, np.concatenate(errors), np.zeros(600), groups=["near"] * 300 + ["far"] * 300, resamples=2000
    )
    (near, far), variance = (each.mean() for each in errors), sum(each.var() / 300 for each in errors)
    half = 1.96 * np.sqrt(variance)
    limits = [found.difference.low, found.difference.high]
    assert limits == pytest.approx([far - near - half, far - near + half], abs=0.2 * half)
    relative = 1.96 * np.sqrt(sum(each.var() / 300 / each.mean() ** 2 for each in errors)) * near / far
    assert found.ratio.value == pytest.approx(near / far)
    assert [found.ratio.low, found.ratio.high] == pytest.approx(
        [near / far - relative, near / far + relative], abs=0.2 * relative
    )


def test_groups_that_are_nearly_alike_may_differ_by_nothing():
    errors = np.random.default_rng(4).random(400)
    found = metrics.by_group(mean_error, errors, np.zeros(400), groups=["a", "b"] * 200, resamples=500)
    assert found.difference.low == 0 < found.difference.value < found.difference.high
    assert found.ratio.low < found.ratio.value < found.ratio.high == 1


def test_without_draws_there_are_no_limits_and_without_values_of_draws_there_is_a_reason():
    def of_all_alone(y_true, y_pred, sample_weight=None):
        del y_pred
        if sample_weight is not None and sample_weight.max() > 1:
            raise ValueError("somebody came twice")
        return float(np.mean(y_true))

    truth = np.random.default_rng(5).random(30)
    given = truth, np.zeros(30)
    plain, drawn = (
        metrics.by_group(of_all_alone, *given, groups=["a"] * 30, resamples=resamples).overall for resamples in (0, 9)
    )
    assert (plain.value, plain.low, plain.reason) == (pytest.approx(truth.mean()), None, "")
    assert (drawn.value, drawn.low, drawn.reason) == (plain.value, None, "no draw has a value")


def test_a_group_without_anybody_to_count_is_undefined_and_so_is_the_comparison():
    truth, predicted = np.array([1, 1, 0, 0, 0]), np.array([1, 0, 0, 1, 0])
    found = metrics.by_group(recall_score, truth, predicted, groups=["a", "a", "a", "b", "b"], resamples=10)
    assert found.by_group["b"].value is None and "no true samples" in found.by_group["b"].reason
    assert found.difference.value is None and "group b" in found.difference.reason
    assert found.overall.value == 0.5
    alone = metrics.by_group(recall_score, truth, predicted, groups=["a"] * 5, resamples=10)
    assert alone.difference.reason == "nothing to compare: only the group a"


def test_a_ratio_of_negative_values_is_not_defined(rows):
    def negative(y_true, y_pred, sample_weight=None):
        return -1.0 - float(np.average(y_true, weights=sample_weight))

    found = metrics.by_group(negative, rows["y_true"], rows["y_pred"], groups=rows["groups"], resamples=20)
    assert found.ratio.value is None and "at least 0" in found.ratio.reason
    assert found.difference.value is not None


def test_limits_of_a_largest_difference_against_brute_force():
    """Every lower limit holds in 97.5 % of the draws for all quantities together."""
    generator = np.random.default_rng(1)
    gaps = generator.normal([0.3, 0.0, 0.1], 0.1, (4000, 3))
    drawn = np.concatenate([gaps, -gaps], axis=1)
    low, high = largest_limits(drawn, 0.95)
    assert high == pytest.approx(np.quantile(gaps[:, 0], 0.975), abs=1e-9)
    tails = np.linspace(1e-4, 0.025, 400)
    joint = [(drawn >= np.quantile(drawn, tail, axis=0)).all(axis=1).mean() for tail in tails]
    brute = tails[np.flatnonzero(np.array(joint) >= 0.975).max()]
    assert low == pytest.approx(np.quantile(gaps[:, 0], brute), abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": ["a"] * 3}, "groups has 3 rows, y_true has 200"),
        ({"groups": np.arange(1000)}, "1000 groups; at most 256"),
        ({"metric": lambda y_true, y_pred: 0.0}, "takes no sample_weight"),
        ({"resamples": -1}, "at least 0"),
    ],
)
def test_what_cannot_be_compared(rows, change, message):
    given = {"metric": recall, **{name: rows[name] for name in ("y_true", "y_pred", "groups", "sample_weight")}}
    with pytest.raises(InputError, match=message):
        metrics.by_group(**(given | change))


def test_a_partial_has_the_name_of_its_function(rows):
    found = metrics.by_group(
        partial(fbeta_score, beta=2), rows["y_true"], rows["y_pred"], groups=rows["groups"], resamples=0
    )
    assert found.metric == "fbeta_score"
    assert found.overall.value == pytest.approx(fbeta_score(rows["y_true"], rows["y_pred"], beta=2))
    assert found.overall.low is None
