"""The default outcome model picks well, refuses what it cannot learn from, and repeats itself to the byte."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from accordant.learning.classification import (
    CalibratedProbabilities,
    Candidate,
    CandidateScore,
    SelectedClassifier,
    default_candidates,
)
from accordant.learning.classification.brier import (
    brier_contributions,
    class_codes,
    mean_with_error,
)
from accordant.learning.folds import deal_folds, splits
from accordant.runs.models.files import dump_model, load_model

from .conftest import OUTCOMES, Loans, draw_loans

TRUSTED = {
    "accordant.learning.classification.blend.Blend",
    "accordant.learning.classification.brier.MeanWithError",
    "accordant.learning.classification.calibration.CalibratedProbabilities",
    "accordant.learning.classification.candidates.Candidate",
    "accordant.learning.classification.candidates.HingeFeatures",
    "accordant.learning.classification.selection.CandidateScore",
    "accordant.learning.classification.selection.SelectedClassifier",
    "accordant.learning.classification.platt.PlattScaling",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
}
"""What a stored model may hold beyond what skops trusts by itself; all of it is scikit-learn's or ours."""


@pytest.fixture(scope="module")
def selected(loans: Loans) -> SelectedClassifier:
    return SelectedClassifier(classes=OUTCOMES).fit(loans.X, loans.y)


def test_scores_are_the_cross_validated_brier_scores(selected: SelectedClassifier, loans: Loans) -> None:
    # Brute force, for an uncalibrated candidate, from the published pieces; calibrated ones: test_platt.
    codes = class_codes(loans.y, OUTCOMES)
    chosen = next(each for each in default_candidates(4) if each.name == "logistic-hinges")
    p = np.full((len(codes), 3), np.nan)
    for training, held_back in splits(deal_folds(codes, 5, 0)):
        p[held_back] = (
            chosen.estimator.set_params(classes=OUTCOMES)
            .fit(loans.X[training], loans.y[training])
            .predict_proba(loans.X[held_back])
        )
    (scored,) = [each for each in selected.candidates_ if each.name == chosen.name]
    assert scored.brier == pytest.approx(brier_contributions(p, codes).mean(), abs=1e-12)
    assert selected.candidates_[0].name == selected.best_name_
    assert [each.brier for each in selected.candidates_] == sorted(each.brier for each in selected.candidates_)
    assert [each.name for each in selected.candidates_ if each.baseline] == ["prior"]
    assert selected.beats_prior_


@pytest.mark.long
def test_it_predicts_the_weighted_average_of_candidates_refitted_on_all_rows(
    selected: SelectedClassifier, loans: Loans, fresh_loans: Loans
) -> None:
    codes = class_codes(loans.y, OUTCOMES)
    parts = list(splits(deal_folds(codes, 5, 0)))
    by_name = {each.name: each.estimator.set_params(classes=OUTCOMES) for each in default_candidates(4)}

    def refitted(name: str) -> np.ndarray:
        """Fit by scikit-learn alone."""
        candidate = by_name[name]
        if candidate.method == "raw":
            return candidate.fit(loans.X, loans.y).predict_proba(fresh_loans.X)
        peer = CalibratedClassifierCV(candidate.estimator, method="sigmoid", cv=parts, ensemble=False)
        return peer.fit(loans.X, codes).predict_proba(fresh_loans.X)

    average = sum(weight * refitted(name) for name, weight in selected.weights_.items())
    np.testing.assert_allclose(selected.predict_proba(fresh_loans.X), average, rtol=0, atol=1e-7)
    assert selected.weights_ == {each.name: each.weight for each in selected.candidates_ if each.weight}
    assert len(selected.weights_) > 1
    assert sum(selected.weights_.values()) == pytest.approx(1, abs=1e-12)
    assert max(selected.weights_, key=lambda name: selected.weights_[name]) == selected.best_name_


@pytest.mark.long
def test_tolerance_zero_takes_the_single_best(selected: SelectedClassifier, loans: Loans) -> None:
    single = clone(selected).set_params(tolerance=0).fit(loans.X, loans.y)
    assert single.weights_ == {selected.best_name_: 1.0}
    assert [each.brier for each in single.candidates_] == [each.brier for each in selected.candidates_]
    (only,) = single.best_.models_
    assert single.predict_proba(loans.X).tobytes() == only.predict_proba(loans.X).tobytes()
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="tolerance"):
            clone(selected).set_params(tolerance=wrong).fit(loans.X, loans.y)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["noise", "wave"])
def test_the_gain_over_class_shares_is_not_flattered(kind: str) -> None:
    # Averaged over files, the gain found while fitting must be the gain on fresh rows, not more.
    prior, tree = (
        Candidate("prior", DummyClassifier(strategy="prior"), baseline=True),
        [Candidate(f"tree-{d}", DecisionTreeClassifier(max_depth=d, min_samples_leaf=10)) for d in range(1, 6)],
    )
    rng, claimed, found = np.random.default_rng(8), [], []
    for _ in range(30):
        X = rng.normal(size=(1200, 3))
        p = 0.2 + 0.15 * np.sin(3 * X[:, 0]) if kind == "wave" else np.full(1200, 0.2)
        codes = (rng.random(1200) < p).astype(np.intp)
        model = SelectedClassifier([prior, *tree]).fit(X[:200], codes[:200])
        claimed.append(model.gain_over_prior_.value)
        shares = np.bincount(codes[:200], minlength=2) / 200
        constant = brier_contributions(np.tile(shares, (1000, 1)), codes[200:]).mean()
        found.append(constant - brier_contributions(model.predict_proba(X[200:]), codes[200:]).mean())
    surplus = mean_with_error(np.array(claimed) - np.array(found))
    assert surplus.value <= 2 * surplus.standard_error


def test_one_row_equals_the_batch_and_rows_sum_to_one(selected: SelectedClassifier, fresh_loans: Loans) -> None:
    batch = selected.predict_proba(fresh_loans.X[:20])
    rows = np.vstack([selected.predict_proba(fresh_loans.X[[t]]) for t in range(20)])
    np.testing.assert_allclose(rows, batch, rtol=0, atol=1e-14)
    assert np.abs(batch.sum(axis=1) - 1).max() <= 1e-9
    assert selected.predict(fresh_loans.X[:20]).tolist() == OUTCOMES[batch.argmax(axis=1)].tolist()


@pytest.mark.long
def test_same_seed_same_bytes_and_clone_starts_afresh(selected: SelectedClassifier, loans: Loans) -> None:
    twin = clone(selected)
    assert not hasattr(twin, "best_")
    twin.fit(loans.X, loans.y)
    assert twin.predict_proba(loans.X).tobytes() == selected.predict_proba(loans.X).tobytes()
    assert twin.candidates_ == selected.candidates_


@pytest.mark.long
def test_on_noise_it_is_hardly_worse_than_the_class_shares() -> None:
    fresh = draw_loans(4000, 11, signal=0.0)
    codes = class_codes(fresh.y, OUTCOMES)
    for seed in (3, 4):
        noise = draw_loans(250, seed, signal=0.0)
        model = SelectedClassifier(classes=OUTCOMES, n_folds=3).fit(noise.X, noise.y)
        prior = CalibratedProbabilities(DummyClassifier(strategy="prior"), method="raw", classes=OUTCOMES).fit(
            noise.X, noise.y
        )
        loss = (
            brier_contributions(model.predict_proba(fresh.X), codes).mean()
            - brier_contributions(prior.predict_proba(fresh.X), codes).mean()
        )
        # A tree grown to the last row loses about 0.2 here.
        assert loss <= 0.02


@pytest.mark.long
def test_it_finds_what_a_straight_line_cannot() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(800, 2))
    y = np.where(rng.random(800) < np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1), "yes", "no")
    model = SelectedClassifier(n_folds=3).fit(X, y)
    scores = {each.name: each.brier for each in model.candidates_}
    assert model.best_name_ not in {"prior", "logistic", "logistic-shrunk", "logistic-hinges"}
    assert scores["logistic"] - scores[model.best_name_] > 0.15


def test_copied_rows_do_not_favour_learning_by_heart() -> None:
    loans = draw_loans(300, 6, signal=0.0)
    tree = Candidate("tree", DecisionTreeClassifier(random_state=0))
    model = SelectedClassifier([tree], classes=OUTCOMES).fit(np.vstack([loans.X] * 2)[:550], np.tile(loans.y, 2)[:550])
    assert model.best_name_ == "prior"
    assert not model.beats_prior_


@pytest.mark.long
def test_rare_and_missing_classes_constant_and_huge_columns(loans: Loans) -> None:
    rare = np.flatnonzero(loans.y == "Partially Repaid")[:2]
    keep = np.sort(np.r_[rare, np.flatnonzero(loans.y != "Partially Repaid")[:120]])
    X = np.column_stack([loans.X, np.ones(len(loans.y)), 1e12 * loans.X[:, 0], np.arange(len(loans.y)) % 2])[keep]
    model = SelectedClassifier(classes=[*OUTCOMES, "Sold"], n_folds=3).fit(X, loans.y[keep])
    p = model.predict_proba(X)
    assert p.shape == (122, 4)
    assert np.all(p[:, 3] == 0)
    assert p[:, 1].mean() < 0.1
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    assert {each.name for each in model.candidates_} == {each.name for each in default_candidates(7)}


def test_own_candidates_and_the_added_baseline(loans: Loans) -> None:
    model = SelectedClassifier([Candidate("stump", DecisionTreeClassifier(max_depth=1))], n_folds=3).fit(
        loans.X, loans.y
    )
    assert {each.name for each in model.candidates_} == {"stump", "prior"}
    assert isinstance(model.candidates_[0], CandidateScore)
    stump = Candidate("stump", DecisionTreeClassifier())
    with pytest.raises(ValueError, match="share a name"):
        SelectedClassifier([stump, stump]).fit(loans.X, loans.y)


@pytest.mark.long
@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a"] * 6, "one class only"), (["a", "b"] * 3, "unknown classes"), (["a"] * 5 + ["c"], None)],
)
def test_what_cannot_be_learned_from_is_refused(labels: list[str], message: str | None) -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = SelectedClassifier(classes=["a", "c"])
    if message is None:
        assert model.fit(X, labels).predict_proba(X).shape == (6, 2)
    else:
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)
    with pytest.raises(ValueError, match="NaN"):
        SelectedClassifier().fit(np.where(X == 3, np.nan, X), ["a", "b"] * 3)


@pytest.mark.parametrize("X", [np.eye(2), np.ones((2, 2)), np.ones((1, 2))], ids=["different", "alike", "one"])
def test_a_single_class_is_what_is_refused_whatever_its_rows(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="y holds one class only, 'a'; an outcome model needs two or more"):
        SelectedClassifier(classes=["a", "c"]).fit(X, ["a"] * len(X))


@pytest.mark.long
@pytest.mark.parametrize("candidate", default_candidates(4), ids=lambda each: each.name)
def test_skops_round_trip(candidate: Candidate, loans: Loans) -> None:
    import skops.io

    # As its own baseline the candidate is the only one, and so the one that is stored.
    alone = Candidate(candidate.name, candidate.estimator, baseline=True)
    model = SelectedClassifier([alone], classes=OUTCOMES, n_folds=2).fit(loans.X[:200], loans.y[:200])
    assert model.best_name_ == candidate.name
    stored = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=stored)
    assert set(unknown) <= TRUSTED
    again = skops.io.loads(stored, trusted=unknown)
    assert again.predict_proba(loans.X).tobytes() == model.predict_proba(loans.X).tobytes()
    assert again.candidates_ == model.candidates_


def test_an_average_is_read_as_it_was_saved(selected: SelectedClassifier, fresh_loans: Loans) -> None:
    again = load_model(dump_model(selected), "an average")
    assert again.predict_proba(fresh_loans.X).tobytes() == selected.predict_proba(fresh_loans.X).tobytes()
    assert (again.candidates_, again.weights_) == (selected.candidates_, selected.weights_)


@pytest.mark.long
def test_skops_round_trip_of_an_average(selected: SelectedClassifier, fresh_loans: Loans) -> None:
    import skops.io

    stored = skops.io.dumps(selected)
    unknown = skops.io.get_untrusted_types(data=stored)
    assert set(unknown) <= TRUSTED
    again = skops.io.loads(stored, trusted=unknown)
    assert again.predict_proba(fresh_loans.X).tobytes() == selected.predict_proba(fresh_loans.X).tobytes()
    assert (again.candidates_, again.weights_) == (selected.candidates_, selected.weights_)


def _lending_files() -> list[Path]:
    return (
        sorted(Path(os.environ.get("ACCORDANT_DATA", "")).glob("lending/*.csv"))
        if "ACCORDANT_DATA" in os.environ
        else []
    )


@pytest.mark.long
@pytest.mark.skipif(not _lending_files(), reason="ACCORDANT_DATA is not set or holds no lending/*.csv")
@pytest.mark.parametrize("path", _lending_files(), ids=lambda path: path.stem)
def test_on_real_loans_it_is_not_clearly_worse_than_its_best_candidate_in_hindsight(path: Path) -> None:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    order = np.random.default_rng(0).permutation(len(rows))[:2600]
    X = np.array(
        [[float(rows[t][name]) for name in ("Income", "Credit Score", "Loan Amount", "Interest Rate")] for t in order]
    )
    y = np.array([rows[t]["Outcome"] for t in order])
    classes = np.unique(y)
    training, test = slice(0, 1800), slice(1800, None)
    model = SelectedClassifier(classes=classes).fit(X[training], y[training])
    codes = class_codes(y[test], classes)
    ours = brier_contributions(model.predict_proba(X[test]), codes)
    others = [
        brier_contributions(
            each.estimator.set_params(classes=classes).fit(X[training], y[training]).predict_proba(X[test]),
            codes,
        )
        for each in default_candidates(4)
    ]
    gap = mean_with_error(ours - min(others, key=lambda rows: float(rows.mean())))
    # Three errors, not one: the best of eleven on these 800 rows is partly luck, which no selection can
    # foresee (on the 2015 file the gap is 1.26 errors in this split).
    assert gap.value <= 3 * gap.standard_error
    assert model.beats_prior_


def test_the_record_of_candidates_is_that_of_their_held_back_probabilities() -> None:
    """Two baselines and two others; the better baseline is what the average is held against."""
    generator = np.random.default_rng(0)
    codes = np.repeat([0, 1], 30)
    truth = np.where(codes == 0, 0.9, 0.1) + 0.05 * generator.normal(size=60)
    first = np.array([np.clip(truth, 0, 1), np.full(60, 0.3), np.full(60, 0.5), 1 - np.clip(truth, 0, 1)])
    held_back = np.stack([first, 1 - first], axis=2)
    tried = [
        Candidate(name, DummyClassifier(), baseline=name in ("low", "half")) for name in ("good", "low", "half", "bad")
    ]
    found = SelectedClassifier(tolerance=0.0)
    found._record(tried, held_back, codes, np.arange(60) % 3, np.array([0.75, 0.25, 0.0, 0.0]), None)
    rows = [((each - np.eye(2)[codes]) ** 2).sum(axis=1) for each in held_back]
    assert [each.name for each in found.candidates_] == ["good", "half", "low", "bad"]
    for each, of in zip(found.candidates_, (0, 2, 1, 3), strict=True):
        assert each.brier == pytest.approx(rows[of].mean())
        assert each.standard_error == pytest.approx(rows[of].std(ddof=1) / np.sqrt(60))
        assert each.baseline == (of in (1, 2))
    assert (found.best_name_, found.weights_) == ("good", {"good": 0.75, "low": 0.25})
    gain = rows[2] - rows[0]  # without tolerance the best of other folds is the average
    assert found.gain_over_prior_.value == pytest.approx(gain.mean())
    assert found.gain_over_prior_.standard_error == pytest.approx(gain.std(ddof=1) / np.sqrt(60))
    assert found.beats_prior_


def test_a_baseline_does_not_beat_itself() -> None:
    found = SelectedClassifier()
    half = np.full((1, 8, 2), 0.5)
    found._record(
        [Candidate("half", DummyClassifier(), baseline=True)],
        half,
        np.arange(8) % 2,
        np.arange(8) // 4,
        np.ones(1),
        None,
    )
    assert (found.gain_over_prior_.value, found.gain_over_prior_.standard_error) == (0.0, 0.0)
    assert not found.beats_prior_


def test_boosting_says_of_chance_little_more_than_its_share() -> None:
    """Two tenths of the rows are of one class, whatever their features: knowing that alone has a Brier score of .32."""
    generator = np.random.default_rng(4)
    X, y = generator.normal(size=(600, 5)), generator.random(600) < 0.2
    (boosting,) = default_candidates(5, names=["boosting"])
    shares = boosting.estimator.fit(X[:300], y[:300]).predict_proba(X[300:])
    assert ((shares - np.column_stack([~y, y])[300:]) ** 2).sum(axis=1).mean() < 0.38
