"""What a strategy of a run answers on contexts that came over HTTP: typed, decided, certified, in words."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from accordant.arrays import AnyArray
from accordant.cases.loaders import tidiers
from accordant.certificates import Known
from accordant.certificates.radius import radius
from accordant.contexts import Contexts
from accordant.errors import AccordantError, DataError, MissingColumnError
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.runs import Run
from accordant.runs.row_batches import AS_IT_IS
from accordant.runs.sections.adoption import adoptions, with_adopted

RADIUS_PRECISION = 1e-4  # of the certificate that is given with a decision
Cell = str | float | int | None
Answers = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Asked:
    """What a strategy is to decide: see `recommended`."""

    run: Run
    strategy: str
    contexts: Sequence[Mapping[str, Cell]]
    certified: bool = True

    @property
    def group(self) -> Hashable:
        """What others must share with it, so that nothing is decided otherwise than if it were asked alone."""
        rule = self.run.policy.strategy(self.strategy)
        if rule.draws:  # what is drawn depends on equal rows above
            return id(self)
        kinds = ((name, *sorted({type(row.get(name)).__name__ for row in self.contexts})) for name in self.contexts[0])
        return self.run.head, rule.label, self.certified, *kinds


def answered(asked: Sequence[Asked]) -> list[Answers | Exception]:
    """Answer many questions, those that are alike at once; what is wrong with one is its own answer.

    A row gets the same answer to the last bit, whatever is asked with it, and the work for one is nearly that for ten.
    """
    groups: dict[Hashable, list[int]] = {}
    by_place: dict[int, Answers | Exception] = {}
    for place, question in enumerate(asked):
        try:
            groups.setdefault(question.group, []).append(place)
        except AccordantError as error:
            by_place[place] = error
    for places in groups.values():
        first, rows = asked[places[0]], [row for place in places for row in asked[place].contexts]
        try:
            answers = iter(recommended(first.run, first.strategy, rows, certified=first.certified))
            by_place |= {place: list(islice(answers, len(asked[place].contexts))) for place in places}
        except Exception as error:  # noqa: BLE001 - whoever asked raises it: a fault met by one is not that of others
            alone = len(places) == 1
            by_place |= {place: error if alone else answered([asked[place]])[0] for place in places}
    return [by_place[place] for place in range(len(asked))]


def recommended(run: Run, strategy: str, contexts: Sequence[Mapping[str, Cell]], *, certified: bool = True) -> Answers:
    """Return what a strategy says of contexts, as `accordant recommend` would of the same rows.

    Parameters
    ----------
    run, strategy
        What decides.
    contexts
        Column to value, for each.
    certified
        Whether the radius within which no misreport changes the decision is computed.

    Raises
    ------
    DataError
        If a column is missing or unknown, or a value is not of its type.
    """
    policy = run.policy
    rows = typed_rows(run, contexts)
    batch = policy.recommend(rows, strategy=strategy)
    if strategy == policy.selected_ and (known := adoptions(run)):
        batch = with_adopted(batch, rows, policy.features_, known)
    radii: list[dict[str, Any] | None] = [None] * len(contexts)
    if certified and batch.decisions.policy is None:
        rule, beside = policy.strategy(strategy), Known(batch.prediction, contexts=rows)
        safe = radius(rule, batch.expected, precision=RADIUS_PRECISION, known=beside)
        radii = [{"radius": finite(delta), "safe_always": bool(math.isinf(delta))} for delta in safe]
    return [_answer(batch, t, radii[t]) for t in range(len(contexts))]


def _answer(batch: Recommendations, t: int, certificate: dict[str, Any] | None) -> dict[str, Any]:
    expected, decisions = batch.expected, batch.decisions
    remarks = [] if batch.unusual is None else [str(batch.unusual.remarks[t])]
    if batch.referred[t]:
        remarks.append("a person decides")
    elif batch.fall_back is not None and batch.fall_back[t]:
        remarks.append("the declared fall-back action is taken")
    if batch.adopted is not None:
        remarks.append(str(batch.adopted[t]))
    if decisions.tied[t]:
        remarks.append("tied: the higher sum, then the declared order decided")
    remarks += [name for name, flag in decisions.flags.items() if flag[t]]
    return {
        "action": str(decisions.actions[t]) or None,
        "expected_rewards": {
            who: {what: float(expected.values[i, a, t]) for a, what in enumerate(expected.actions)}
            for i, who in enumerate(expected.stakeholders)
        },
        "runner_up": str(batch.runner_up[t]) or None,
        "margin": finite(batch.margin[t]),
        "remarks": [remark for remark in remarks if remark],
        "certificate": certificate,
    }


def typed_rows(run: Run, contexts: Sequence[Mapping[str, Cell]]) -> Contexts:
    """Return contexts as the case of a run prepares them, each value of the type that its column has.

    Raises
    ------
    DataError
        If contexts differ in their columns, or a value is not of its column's type: a number, a text, or null.
    MissingColumnError
        If a feature is missing.
    """
    policy, columns = run.policy, tuple(contexts[0])
    for row, context in enumerate(contexts):
        if set(context) != set(columns):
            other = min(set(columns) ^ set(context))
            raise DataError(f"context {row}: column {other!r} is not in all contexts; allowed: the same columns in all")
    given = {name: _column(name, [row[name] for row in contexts]) for name in columns}
    loader = run.case.data.loader
    tidy = given if loader == AS_IT_IS else _tidied(loader, given)
    for name in policy.features_:
        if name not in tidy:
            raise MissingColumnError(name, tidy, "contexts")
        _check_type(name, tidy[name], policy.types_.get(name))
    return policy.contexts_of(tidy, lambda row: f"context {row}")


def _tidied(loader: str, columns: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return columns as a loader brings them into the shape that its case describes."""
    frame = tidiers.create(loader)(pd.DataFrame(columns))
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def _check_type(name: str, values: AnyArray, declared: str | None) -> None:
    """Refuse numbers among texts and texts among numbers, however much they look alike; a file knows no types."""
    numbers = values.dtype.kind in "iuf"
    if declared is None or numbers == (declared == "number"):
        return
    for row, value in enumerate(values.tolist()):
        if not pd.isna(value):
            wanted = "a number" if declared == "number" else "a text"
            raise DataError(f"context {row}: column {name!r}: found {value!r}; allowed: {wanted}, or null")


def _column(name: str, values: Sequence[Cell]) -> AnyArray:
    """Return values as a column of numbers or texts, as a file with them would be read; null is missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kinds != {str}:
        raise DataError(f"column {name!r} holds values of several kinds; allowed: numbers, or texts, and null")
    return np.array(values, dtype=object)
