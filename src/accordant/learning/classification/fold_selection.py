"""Selecting outcome models for every outer fold and for all rows at once, from fits that are shared.

`SelectedClassifier` fits every candidate on inner folds of its training rows; in nested cross-validation that is once
for every outer fold. Here the folds are the same inside and outside. A fit without the folds k and l says what it
predicts on both; for the model of outer fold k only what is known of its partners l counts, so that no row of k helps
to choose or calibrate the model that is judged on k. Candidates that are clearly worse than the best by these fits,
row by row, drop out; the rest are fitted without each fold, and these fits are compared for the model of all rows.

Everything else is as in `SelectedClassifier`: weights, calibration maps from fits that did not see the row, the gain
over the prior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from accordant.arrays import Codes, Mask, Values
from accordant.learning.classification.blend import blend_weights
from accordant.learning.classification.brier import brier_contributions
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.learning.classification.candidates import Candidate
from accordant.learning.classification.platt import PlattScaling, score_rows
from accordant.learning.classification.selection import SelectedClassifier
from accordant.learning.classification.shared_fits import raw_twin
from accordant.learning.folds import all_but, copied_records, some_rows
from accordant.learning.tuning import Nested, Plan, Search, rounds, within_reach

MOST_COPIES = 0.2
"""Share of rows with a copy in another fold above which folds that keep copies together are dealt anew inside."""


@dataclass(frozen=True)
class Said:
    """What fits that did not see a fold say of its rows: probabilities (row, class), and scores (row, column)."""

    probabilities: Values
    scores: Values


Fits = Mapping[int, CalibratedProbabilities]
"""Number of a fit (see `FoldSelection.fit_of`) to the fitted candidate without calibration."""


@dataclass(frozen=True, eq=False)
class FoldSelection:
    """Candidates, compared on the outer folds.

    Parameters
    ----------
    selector
        Not fitted: candidates, classes, tolerance, seed.
    tried
        Its candidates for these columns.
    fit
        Takes training rows and candidates, returns an encoder and the fitted candidates.
    columns
        Takes an encoder and rows, returns what candidates read, (row, column).
    codes
        (n,) class of each row among the declared ones.
    folds
        Rows of each fold.
    scored
        (n,) whether a row counts in comparisons: it has no copy in another fold.
    groups
        (n,) whose each row is; None if rows are independent.
    race_rows
        Most training rows of a fit without two folds; None for all.
    """

    selector: SelectedClassifier
    tried: tuple[Candidate, ...]
    fit: Callable[[Codes, Sequence[CalibratedProbabilities]], tuple[Any, list[CalibratedProbabilities]]]
    columns: Callable[[Any, Codes], Values]
    codes: Codes
    folds: tuple[Codes, ...]
    scored: Mask
    groups: Codes | None
    race_rows: int | None = None

    @cached_property
    def declared(self) -> tuple[CalibratedProbabilities, ...]:
        """The candidates, not fitted, with a column for each declared class."""
        return tuple(self.selector.declared(candidate) for candidate in self.tried)

    @cached_property
    def fit_of(self) -> tuple[int, ...]:
        """Number of the fit that each candidate takes: a sigmoid candidate takes that of its raw twin."""
        keys = [joblib.hash(raw_twin(candidate) or candidate) for candidate in self.declared]
        return tuple(keys.index(key) for key in keys)

    @cached_property
    def _seen(self) -> Codes:
        return np.unique(self.codes)

    @cached_property
    def _present(self) -> Codes:
        return np.searchsorted(self._seen, self.codes)

    def plan(self, wrap: Callable[[Any, SelectedClassifier], Any], *, thorough: bool) -> Plan:
        """Compare on pairs of folds, then without each fold, then fit on all rows.

        Parameters
        ----------
        wrap
            Makes the outcome model of an encoder and a fitted selection.
        thorough
            Whether all pairs of folds are used, and no candidate drops out.
        """
        pairs = [pair for turn in rounds(len(self.folds), thorough=thorough) for pair in turn]
        every = sorted(set(self.fit_of))
        said: dict[tuple[int, int], Mapping[int, Said]] = {}  # (left out too, fold)
        for (a, b), (of_a, of_b) in zip(
            pairs, (yield [partial(self.on_pair, pair, every) for pair in pairs]), strict=True
        ):
            said[b, a], said[a, b] = of_a, of_b
        partners = [
            {fold: said[k, fold] for fold in range(len(self.folds)) if (k, fold) in said}
            for k in range(len(self.folds))
        ]
        chosen = [self._weighed(others) for others in partners]
        finalists = np.ones(len(self.tried), dtype=bool) if thorough else self._finalists(partners)
        needed = [self._fits_of(finalists | (weights > 0)) for _, weights in chosen]
        singles = yield [partial(self.without, fold, which) for fold, which in enumerate(needed)]
        by_fold = [
            wrap(encoder, self._fitted(known, held_back, weights, fits, np.ones_like(finalists)))
            for known, (held_back, weights), (encoder, fits, _) in zip(partners, chosen, singles, strict=True)
        ]
        known = {fold: answers for fold, (_, _, answers) in enumerate(singles)}
        held_back, weights = self._weighed(known, finalists)
        [(encoder, fits)] = yield [partial(self.on_all_rows, self._fits_of(weights > 0))]
        final = wrap(encoder, self._fitted(known, held_back, weights, fits, finalists))
        n = len(self.folds)
        return Nested(Search(({},), np.full((1, n, n), np.nan)), final, tuple(by_fold))

    def on_pair(self, pair: tuple[int, int], which: Sequence[int]) -> list[dict[int, Said]]:
        """Return what fits without two folds say of each."""
        encoder, fits = self._fits(some_rows(all_but(self.folds, *pair), len(self.codes), self.race_rows), which)
        return [self._said(encoder, fits, fold) for fold in pair]

    def without(self, fold: int, which: Sequence[int]) -> tuple[Any, Fits, dict[int, Said]]:
        """Return the encoder and fits without a fold, and what they say of it."""
        encoder, fits = self._fits(all_but(self.folds, fold), which)
        return encoder, fits, self._said(encoder, fits, fold)

    def on_all_rows(self, which: Sequence[int]) -> tuple[Any, Fits]:
        """Return the encoder and fits on all rows."""
        return self._fits(all_but(self.folds), which)

    def _fits(self, rows: Codes, which: Sequence[int]) -> tuple[Any, Fits]:
        unfitted = [raw_twin(self.declared[number]) or clone(self.declared[number]) for number in which]
        encoder, fitted = self.fit(rows, unfitted)
        return encoder, dict(zip(which, fitted, strict=True))

    def _fits_of(self, candidates: Mask) -> list[int]:
        return sorted({self.fit_of[number] for number in np.flatnonzero(candidates)})

    def _said(self, encoder: Any, fits: Fits, fold: int) -> dict[int, Said]:
        columns = self.columns(encoder, self.folds[fold])
        said = {}
        for number, model in fits.items():
            probabilities = model.predict_proba(columns)
            own = hasattr(model.model_, "decision_function")
            said[number] = Said(
                probabilities, score_rows(model.model_, columns) if own else probabilities[:, self._seen]
            )
        return said

    def _rows(self, known: Iterable[int]) -> list[Codes]:
        """Return positions within each fold of the rows that count."""
        return [np.flatnonzero(self.scored[self.folds[fold]]) for fold in known]

    def _held_back(self, known: Mapping[int, Mapping[int, Said]], candidate: int) -> Values:
        """Return what a candidate says of the rows that count, fold by fold; maps are learned on the other folds."""
        number, parts = self.fit_of[candidate], []
        for fold, rows in zip(known, self._rows(known), strict=True):
            if raw_twin(self.declared[candidate]) is None:
                parts.append(known[fold][number].probabilities[rows])
                continue
            others = {other: answers for other, answers in known.items() if other != fold}
            mapped = self._map(others, number).probabilities(known[fold][number].scores[rows])
            full = np.zeros((len(rows), len(np.asarray(self.selector.classes))))
            full[:, self._seen] = mapped / mapped.sum(axis=1, keepdims=True)
            parts.append(full)
        return np.concatenate(parts)

    def _map(self, known: Mapping[int, Mapping[int, Said]], number: int) -> PlattScaling:
        """Return the calibration map learned from what a fit says of the rows of some folds."""
        rows = self._rows(known)
        scores = np.concatenate([known[fold][number].scores[own] for fold, own in zip(known, rows, strict=True)])
        codes = np.concatenate([self._present[self.folds[fold][own]] for fold, own in zip(known, rows, strict=True)])
        return PlattScaling().fit(scores, codes)

    def _counted(self, known: Iterable[int]) -> Codes:
        """Return the rows that count, in the order of `_held_back`."""
        known = list(known)
        return np.concatenate([self.folds[fold][own] for fold, own in zip(known, self._rows(known), strict=True)])

    def _weighed(
        self, known: Mapping[int, Mapping[int, Said]], candidates: Mask | None = None
    ) -> tuple[Values, Values]:
        """Return what candidates say of the rows that count, and weights of all candidates, 0 of those left out."""
        which = np.arange(len(self.tried)) if candidates is None else np.flatnonzero(candidates)
        held_back = np.stack([self._held_back(known, number) for number in which.tolist()])
        rows, weights = self._counted(known), np.zeros(len(self.tried))
        clusters = None if self.groups is None else self.groups[rows]
        weights[which] = blend_weights(held_back, self.codes[rows], self.selector.tolerance, clusters)
        return held_back, weights

    def _finalists(self, partners: Sequence[Mapping[int, Mapping[int, Said]]]) -> Mask:
        """Return which candidates are not clearly worse than the best on pairs of folds, and every baseline."""
        sums = np.zeros((len(self.tried), len(self.codes)))
        counts = np.zeros(len(self.codes))
        for known in partners:
            rows = self._counted(known)
            counts[rows] += 1
            for number in range(len(self.tried)):
                sums[number, rows] += brier_contributions(self._held_back(known, number), self.codes[rows])
        rows = np.flatnonzero(counts)
        clusters = None if self.groups is None else self.groups[rows]
        kept = within_reach(sums[:, rows] / counts[rows], clusters)
        return np.asarray(kept | np.array([candidate.baseline for candidate in self.tried]))

    def _fitted(
        self,
        known: Mapping[int, Mapping[int, Said]],
        held_back: Values,
        weights: Values,
        fits: Fits,
        finalists: Mask,
    ) -> SelectedClassifier:
        """Return the selection with its models, calibrated on the rows of all folds that are known."""
        models = []
        for number in np.flatnonzero(weights):
            model = fits[self.fit_of[number]]
            if raw_twin(self.declared[number]) is not None:
                model = model.with_map(self._map(known, self.fit_of[number]))
            models.append(model)
        rows = self._counted(known)
        fold_of = np.concatenate([np.full(len(own), fold) for fold, own in zip(known, self._rows(known), strict=True)])
        return self.selector.of_held_back(
            [candidate for candidate, kept in zip(self.tried, finalists, strict=True) if kept],
            held_back, self.codes[rows], fold_of, weights[finalists], models,
            None if self.groups is None else self.groups[rows],
            dropped=tuple(candidate.name for candidate, kept in zip(self.tried, finalists, strict=True) if not kept),
        )  # fmt: skip


def counted_rows(columns: Values, codes: Codes, folds: tuple[Codes, ...], groups: Codes | None) -> Mask | None:
    """Return which rows count in comparisons on these folds, (n,); None if the folds do not suit a selection.

    They do if every class is in every fold, and at most a fifth of the rows have a copy in another fold. Such copies
    do not count: a model that learned the original by heart would look good on them.

    Parameters
    ----------
    columns, codes
        (n, column) and (n,) class of each row.
    folds
        Rows of each fold.
    groups
        (n,) whose each row is; equal rows of two of them are no copies. None if rows are independent.
    """
    counted = np.ones(len(codes), dtype=bool)
    if groups is None:
        records, fold_of = copied_records(columns, codes), np.empty(len(codes), dtype=np.intp)
        for fold, rows in enumerate(folds):
            fold_of[rows] = fold
        lowest, highest = np.full(len(codes), len(folds)), np.full(len(codes), -1)
        np.minimum.at(lowest, records, fold_of)
        np.maximum.at(highest, records, fold_of)
        counted = lowest[records] == highest[records]
    classes = np.unique(codes)
    if (~counted).mean() > MOST_COPIES:
        return None
    if any(len(np.unique(codes[rows][counted[rows]])) < len(classes) for rows in folds):
        return None
    return counted
