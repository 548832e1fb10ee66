"""Selection on shared fits: what it says equals what plain fits say, and no row of a fold helps to judge on it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from accordant.learning.classification import CalibratedProbabilities, Candidate, SelectedClassifier
from accordant.learning.classification.blend import blend_weights
from accordant.learning.classification.brier import brier_contributions
from accordant.learning.classification.fold_selection import FoldSelection, counted_rows
from accordant.learning.classification.platt import PlattScaling
from accordant.learning.folds import all_but, make_folds

N, CLASSES = 400, np.arange(3)


def candidates():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    return (
        Candidate("logistic", CalibratedProbabilities(LogisticRegression(C=0.5), method="raw")),
        Candidate("tree", CalibratedProbabilities(tree, method="raw")),
        Candidate("tree-sigmoid", CalibratedProbabilities(tree, method="sigmoid")),
        Candidate("bayes", CalibratedProbabilities(GaussianNB(), method="raw")),
    )


def world(seed=0, signal=1.0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N, 3))
    logits = signal * np.stack([X[:, 0], X[:, 1], np.zeros(N)], axis=1)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (generator.random(N)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    return X, y, make_folds(N, 5, generator, y)


def selection(X, y, folds, *, race_rows=None):
    selector = SelectedClassifier(candidates(), classes=CLASSES)

    def fit(rows, unfitted):
        return "encoder", [each.fit(X[rows], y[rows]) for each in unfitted]

    counted = counted_rows(X, y, folds, None)
    return FoldSelection(
        selector, selector.tried(3), fit, lambda _, rows: X[rows], y, folds, counted, None, race_rows
    )  # fmt: skip


def carried_out(made, *, thorough):
    plan = made.plan(lambda encoder, model: model, thorough=thorough)
    tasks = next(plan)
    try:
        while True:
            tasks = plan.send([task() for task in tasks])
    except StopIteration as stop:
        return stop.value


@pytest.mark.parametrize(("seed", "signal", "used"), [(0, 1.0, 1), (1, 0.3, 3)])
def test_the_final_selection_equals_one_by_plain_fits(seed, signal, used):
    """By hand: every candidate fitted without each fold; a sigmoid map per fold, learned on the others."""
    X, y, folds = world(seed, signal)
    final = carried_out(selection(X, y, folds), thorough=True).final
    order, fold_of = np.concatenate(folds), np.repeat(np.arange(5), [len(rows) for rows in folds])
    said = {}
    for name, estimator in (
        ("logistic", LogisticRegression(C=0.5)),
        ("tree", DecisionTreeClassifier(max_depth=4, random_state=0)),
        ("bayes", GaussianNB()),
    ):
        said[name] = np.concatenate([
            estimator.fit(X[all_but(folds, fold)], y[all_but(folds, fold)]).predict_proba(X[rows])
            for fold, rows in enumerate(folds)
        ])  # fmt: skip
    mapped = np.empty_like(said["tree"])
    for fold in range(5):
        scaling = PlattScaling().fit(said["tree"][fold_of != fold], y[order][fold_of != fold])
        mapped[fold_of == fold] = scaling.probabilities(said["tree"][fold_of == fold])
    prior = np.concatenate(
        [
            np.tile(np.bincount(y[all_but(folds, fold)]) / len(all_but(folds, fold)), (len(rows), 1))
            for fold, rows in enumerate(folds)
        ]
    )
    held_back = np.stack([prior, said["logistic"], said["tree"], mapped, said["bayes"]])
    names = ("prior", "logistic", "tree", "tree-sigmoid", "bayes")
    weights = blend_weights(held_back, y[order], 2.0)
    assert final.weights_ == pytest.approx({name: w for name, w in zip(names, weights, strict=True) if w > 0})
    scores = {each.name: each.brier for each in final.candidates_}
    for name, p in zip(names, held_back, strict=True):
        assert scores[name] == pytest.approx(brier_contributions(p, y[order]).mean())
    assert final.dropped_ == ()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).predict_proba(X)
    refitted = [
        np.tile(np.bincount(y) / N, (N, 1)),
        LogisticRegression(C=0.5).fit(X, y).predict_proba(X),
        tree,
        PlattScaling().fit(said["tree"], y[order]).probabilities(tree),
        GaussianNB().fit(X, y).predict_proba(X),
    ]
    assert sum(weights > 0) == used
    np.testing.assert_allclose(final.predict_proba(X), np.tensordot(weights, refitted, axes=1), atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("thorough", [True, False])
def test_no_row_of_a_fold_changes_the_model_that_is_judged_on_it(thorough):
    X, y, folds = world()
    plain = carried_out(selection(X, y, folds), thorough=thorough)
    for fold in (0, 3):
        other_X, other_y = X.copy(), y.copy()
        other_X[folds[fold]] *= -3.0
        other_y[folds[fold]] = np.roll(other_y[folds[fold]], 1)
        spoilt = carried_out(selection(other_X, other_y, folds), thorough=thorough)
        assert spoilt.by_fold[fold].weights_ == plain.by_fold[fold].weights_
        assert np.array_equal(spoilt.by_fold[fold].predict_proba(X), plain.by_fold[fold].predict_proba(X))
        assert not np.array_equal(spoilt.final.predict_proba(X), plain.final.predict_proba(X))


def test_what_is_clearly_worse_drops_out_and_baselines_stay():
    X, y, folds = world(signal=3.0)
    made = carried_out(selection(X, y, folds), thorough=False)
    names = {each.name for each in made.final.candidates_}
    assert "prior" in names and "tree" in made.final.dropped_
    assert names | set(made.final.dropped_) == {"prior", "logistic", "tree", "tree-sigmoid", "bayes"}


@pytest.mark.long
def test_without_any_signal_the_prior_is_hardly_beaten():
    gains = []
    for seed in range(6):
        X, y, folds = world(seed, signal=0.0)
        final = carried_out(selection(X, y, folds), thorough=False).final
        gains.append(final.gain_over_prior_.value)
        p = final.predict_proba(X)
        assert np.allclose(p.sum(axis=1), 1.0) and ((p >= 0) & (p <= 1)).all()
    assert np.mean(gains) < 0.005


def test_fits_that_only_compare_may_see_fewer_rows():
    X, y, folds = world()
    seen = []
    made = selection(X, y, folds, race_rows=100)
    plain = made.fit

    def fit(rows, unfitted):
        seen.append(len(rows))
        return plain(rows, unfitted)

    object.__setattr__(made, "fit", fit)
    carried_out(made, thorough=False)
    assert set(seen[:5]) == {100} and set(seen[5:10]) == {320} and seen[10] == N


def test_copies_in_other_folds_do_not_count_and_many_are_too_many():
    X, y, folds = world()
    assert counted_rows(X, y, folds, None).all()
    X[folds[1][0]], y[folds[1][0]] = X[folds[0][0]], y[folds[0][0]]
    counted = counted_rows(X, y, folds, None)
    assert set(np.flatnonzero(~counted)) == {folds[0][0], folds[1][0]}
    assert counted_rows(X, y, folds, np.arange(N)).all()  # of two persons
    for one, other in zip(folds[0], folds[1], strict=True):
        X[other], y[other] = X[one], y[one]
    assert counted_rows(X, y, folds, None) is None


def test_folds_that_lack_a_class_do_not_suit():
    X, y, folds = world()
    y[folds[2]] = 0
    assert counted_rows(X, y, folds, None) is None
