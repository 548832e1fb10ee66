"""What a record is made of: each part from the policy, the data and the evidence that it is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import date
from typing import Any, TypeVar

import numpy as np

from accordant.cases.loaders import CaseData
from accordant.cases.preference_sources import GUESSED
from accordant.cases.spec import CaseSpec
from accordant.decisions import Decisions
from accordant.evaluation import (
    GroupEstimate,
    Leaderboard,
    LeaderboardRow,
    MetricCell,
    MetricColumn,
    group_table,
)
from accordant.evaluation.opposed_groups import opposed_groups, opposed_remarks
from accordant.evaluation.outcome_quality import outcome_quality
from accordant.evidence import Evidence
from accordant.learning.grid_resolution import MovedValues
from accordant.learning.tuning import Search
from accordant.naming import listed
from accordant.policy import ParticipatoryPolicy
from accordant.runs.inputs import versions
from accordant.runs.record import (
    FORMAT,
    Board,
    CardPart,
    Column,
    Cost,
    DataPart,
    Declaration,
    GridPart,
    GroupTable,
    LearningPart,
    Limits,
    Measure,
    MetricFigures,
    OutcomeModelPart,
    Overlap,
    PeoplePart,
    ProxyCheck,
    Record,
    ResolutionGain,
    RewardError,
    RewardSource,
    Row,
    SearchPart,
    SearchPoint,
    Selection,
    StakeholderGroups,
    StrategyPart,
    UnusualPart,
)  # fmt: skip
from accordant.runs.record.promise import promise_of
from accordant.runs.record.scrutiny import ScrutinyPart
from accordant.runs.row_split import Dealing
from accordant.scope import ScopeCard, lint
from accordant.sections import Part
from accordant.statistics import Estimate
from accordant.unusual import UnusualCounts

Written = TypeVar("Written", bound=Part)

QUICK = (
    "Nor were these looked at: conflicts between metrics, what misreports can make of metrics and ranking, and which "
    "misreports strategies withstand that were not selected."
)
"""What the scrutiny of a run leaves out at a quick look."""

MOST_PEOPLE = 300  # rows that a record keeps one by one: enough to see for whom two strategies differ
MOST_FIGURES = 30_000  # of these rows in all, so that many actions do not make a record many times larger


def make_record(
    case: CaseSpec,
    seed: int,
    data: CaseData,
    n_train: int,
    policy: ParticipatoryPolicy,
    evidence: Evidence,
    leaderboard: Leaderboard,
    scrutiny: dict[str, Any],
    seconds: tuple[float, float],
    dealt: Dealing,
    sources: dict[str, RewardSource],
    split: tuple[StakeholderGroups, ...] = (),
) -> Record:
    """Collect a run: the case and its data, the fitted policy, and what it came to on untouched rows."""
    decisions = policy.decide_on(evidence)
    counts = UnusualCounts.of(*policy.handling_of(evidence.log.contexts))
    grid = _grid(policy, evidence)
    return Record(
        format=FORMAT,
        versions=versions(),
        case=Declaration(**case.model_dump(mode="json")),
        seed=seed,
        data=DataPart(
            source=data.source, simulated=data.simulated, sha256=data.sha256, rows=len(data.log), train=n_train,
            test=evidence.n_contexts, **dealt.to_json(),
        ),
        unusual=UnusualPart(**counts.to_json()),
        promise=promise_of(policy, evidence),
        selected=policy.selected_,
        selection=Selection(consults=_consults(policy, leaderboard), score=policy.leaderboard_.chosen_score),
        notes=(*dealt.sentences(), *_unusual(counts), *(() if grid is None else (grid.sentence,)), *case.notes),
        warnings=(*_guessed(sources), *_warnings(policy, data), *_of_groups(split)),
        test=_with_opposed(board(leaderboard), case, evidence),
        validation=board(policy.leaderboard_),
        groups=tuple(
            GroupTable(**group_table(decisions, evidence, attributes).to_json())
            for attributes in groupings(case)
        ),
        scrutiny=ScrutinyPart(**plain(scrutiny)),
        outcome_model=_outcome_model(case, policy, evidence),
        learning=_learning(case, policy),
        grid=grid,
        reward_sources=sources,
        stakeholder_groups=split,
        strategies={
            label: StrategyPart(
                name=rule.name, kind=rule.kind, candidate=rule.candidate, note=rule.note,
                selectable=rule.may_be_selected, parameters=plain(rule.parameters),
            )
            for label, rule in policy.strategies_.items()
        },
        scope=None if case.scope is None else _scope(case.scope, _metric_names(case)),
        people=people(decisions, evidence),
        cost=Cost(seconds=seconds[0], cpu_seconds=seconds[1]),
    )  # fmt: skip


def people(decisions: Mapping[str, Decisions], evidence: Evidence) -> PeoplePart:
    """Return expected rewards and decisions of single rows, evenly spaced if they are many; no feature is kept."""
    expected, n = evidence.expected, evidence.n_contexts
    per_row = expected.values[..., 0].size + sum(
        1 if decided.policy is None else len(decided.action_names) for decided in decisions.values()
    )
    kept = max(1, min(n, MOST_PEOPLE, MOST_FIGURES // per_row))
    rows = np.arange(kept) * n // kept
    return PeoplePart(
        rows=tuple(rows.tolist()),
        n=n,
        expected={
            name: tuple(map(tuple, np.round(values[:, rows], 4).T.tolist()))
            for name, values in zip(expected.stakeholders, expected.values, strict=True)
        },
        decisions={
            label: tuple(decided.codes[rows].tolist())
            if decided.policy is None
            else tuple(map(tuple, np.round(decided.policy[:, rows], 4).T.tolist()))
            for label, decided in decisions.items()
        },
    )


def _unusual(counts: UnusualCounts) -> tuple[str, ...]:
    """Return how many untouched rows are unlike the training rows; nothing if none is."""
    if not counts.unusual:
        return ()
    return (f"Untouched rows: {counts.sentence()} Figures are about what strategies choose, in these rows too.",)


def _outcome_model(case: CaseSpec, policy: ParticipatoryPolicy, evidence: Evidence) -> OutcomeModelPart:
    """Return what f is, and how good it is beside the shares of outcomes among training rows."""
    shares = None
    if not case.problem.continuous:
        counts = np.bincount(policy.evidence_.log.outcomes.astype(np.intp), minlength=len(case.problem.outcome_names))
        shares = counts / counts.sum()
    return OutcomeModelPart(
        name=outcome_model_name(policy),
        quality=tuple(_as(Measure, measure) for measure in outcome_quality(evidence, shares)),
    )


def _learning(case: CaseSpec, policy: ParticipatoryPolicy) -> LearningPart:
    learned = policy.learned_
    return LearningPart(
        action_aware=learned.identification.action_aware,
        action_counts=dict(zip(case.problem.actions, learned.identification.counts, strict=True)),
        proxies=tuple(_as(ProxyCheck, proxy) for proxy in learned.proxies),
        overlap=None if learned.overlap is None else _as(Overlap, learned.overlap),
        searches={name: _search(search) for name, search in learned.searches.items()},
        reward_errors=tuple(_as(RewardError, error) for error in learned.reward_errors),
        effort=policy.effort,
    )


def _grid(policy: ParticipatoryPolicy, evidence: Evidence) -> GridPart | None:
    """Return the grid of a continuous action, and what it leaves out; None if actions have no values."""
    grid = policy.problem.grid
    if grid is None:
        return None
    moved = MovedValues.of(grid, policy.evidence_.log)
    resolution = policy.grid_resolution(evidence.log.contexts)
    return GridPart(
        unit=grid.unit,
        points=dict(zip(grid.names, grid.values, strict=True)),
        moved_share=moved.share,
        mean_distance=moved.mean_distance,
        largest_distance=moved.largest_distance,
        n=resolution.n,
        gains=tuple(_as(ResolutionGain, gain) for gain in resolution.gains),
        better_for_all=resolution.better_for_all,
        sentence=resolution.sentence(),
    )


def _consults(policy: ParticipatoryPolicy, leaderboard: Leaderboard) -> str:
    """Say if D* does not weigh all stakeholders, by its rule or by what it comes to on the untouched rows."""
    rule = policy.strategies_[policy.selected_]
    alike = leaderboard[policy.selected_].alike
    other = None if alike is None else policy.strategies_[alike]
    if rule.consults or other is None or not other.consults:
        return rule.consults
    return f"On the untouched rows it decides as {alike} does: {other.consults[0].lower()}{other.consults[1:]}"


def _metric_names(case: CaseSpec) -> tuple[str, ...]:
    """Return what criteria may call the metrics of a case: their labels and their registered names."""
    return (*case.metrics, *(spec.metric for spec in case.metrics.values()))


def _scope(card: ScopeCard, known: Collection[str]) -> CardPart:
    """Return a card with its hash and what it leaves open today; only an overdue review depends on the day."""
    findings = [asdict(finding) for finding in lint(card, date.today(), known)]  # noqa: DTZ011 - a day on a card has no time zone
    return CardPart(hash=card.hash, findings=findings, **card.model_dump(mode="json"))


def _with_opposed(leaderboard: Board, case: CaseSpec, evidence: Evidence) -> Board:
    """Return the leaderboard with remarks on groups of nearly equal size that want opposite things."""
    if evidence.expected is None:
        return leaderboard
    problem, labels = case.problem, {}
    for attribute in problem.sensitive_attributes:
        groups = evidence.groups((attribute.name,))
        labels[attribute.name] = np.array(groups.labels)[groups.codes]
    whose = [name for name, weight in zip(problem.stakeholder_names, problem.weights, strict=True) if weight > 0]
    opposed = opposed_groups(evidence.expected, labels, with_weight=whose, clusters=evidence.clusters)
    return leaderboard.model_copy(update={"remarks": (*leaderboard.remarks, *opposed_remarks(opposed))})


def board(leaderboard: Leaderboard) -> Board:
    """Return a leaderboard with how it was computed."""
    same = {name: getattr(leaderboard, name) for name in Board.model_fields if hasattr(leaderboard, name)}
    columns = tuple(_as(Column, column) for column in leaderboard.columns)
    return Board(**same, metrics=columns, leaderboard=tuple(Row(**plain(row)) for row in leaderboard.to_json()))


def leaderboard_of(found: Board) -> Leaderboard:
    """Return the leaderboard that a record holds; of the log's support for decisions it keeps what pages tell."""
    rows = tuple(
        LeaderboardRow(
            row.strategy, row.kind, row.candidate, _estimate(row.score, found.level), row.among_best, row.alike,
            float(row.tied or 0.0), row.below_best_constant,
            {label: _metric_cell(cell, found.level) for label, cell in row.metrics.items()},
        )
        for row in found.leaderboard
    )  # fmt: skip
    columns = tuple(MetricColumn(**column.model_dump()) for column in found.metrics)
    same = {
        name: getattr(found, name) for name in ("n", "resamples", "level", "normalisation", "best_constant", "remarks")
    }
    return Leaderboard(rows, columns, **same)


def _metric_cell(figures: MetricFigures, level: float) -> MetricCell:
    groups = tuple(
        GroupEstimate(rate.rate, rate.group, _estimate(rate, level), rate.n or 0) for rate in figures.by_group
    )
    return MetricCell(_estimate(figures, level), figures.normalised, figures.n or 0, figures.reason, groups)


def _estimate(limits: Limits, level: float) -> Estimate:
    """Return a value with its interval as records hold it; the level is that of the whole board."""
    return Estimate(
        limits.value, limits.low, limits.high, None if limits.low is None else level, undefined=limits.undefined
    )


def _as(part: type[Written], value: Any) -> Written:
    """Return a dataclass as the part of a record with the same fields."""
    return part(**plain(asdict(value)))


def outcome_model_name(policy: ParticipatoryPolicy) -> str:
    """Return what f is, in a few words."""
    model = policy.outcome_model_
    estimator = getattr(model, "classifier", None) or getattr(model, "learner", None)
    weights = getattr(estimator, "weights_", None)
    if weights:
        parts = [f"{weight:.0%} {name}" for name, weight in sorted(weights.items(), key=lambda pair: -pair[1])]
        return " + ".join(parts) + ", chosen by cross-validation"
    if getattr(model, "grid", None) is not None and isinstance(base := getattr(estimator, "base", None), str):
        return f"{base}, reading features and the value of the action"
    inner = getattr(estimator, "estimator", estimator)
    return type(inner).__name__


def plain(value: Any) -> Any:
    """Return a value as JSON types: tuples become lists, NaN None, infinities text, numpy numbers plain."""
    if isinstance(value, dict):
        return {str(key): plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def _warnings(policy: ParticipatoryPolicy, data: CaseData) -> list[str]:
    simulated = ["No data were given: all rows come from a simulator, and nothing here is about real people."]
    looks = [QUICK] if policy.effort == "quick" else []
    return [
        *(simulated if data.simulated else []),
        *policy.warnings_[: len(looks)],
        *looks,
        *data.repairs,
        *policy.warnings_[len(looks) :],
    ]


def _guessed(sources: dict[str, RewardSource]) -> list[str]:
    """Say whose rewards nobody stated."""
    names = [name for name, source in sources.items() if source.kind == GUESSED]
    if not names:
        return []
    want = "wants" if len(names) == 1 else "want"
    follows = "whatever follows from them shows the method and supports no decision"
    return [f"Nobody said what {listed(names)} {want}: the rewards are guesses, and {follows}."]


def _of_groups(split: tuple[StakeholderGroups, ...]) -> tuple[str, ...]:
    return tuple(f"Groups of {part.stakeholder!r}: {sentence}" for part in split for sentence in part.warnings)


def groupings(case: CaseSpec) -> tuple[tuple[str, ...], ...]:
    """Return every sensitive attribute alone, and all together if there are several."""
    names = tuple(attribute.name for attribute in case.problem.sensitive_attributes)
    return (*((name,) for name in names), *((names,) if len(names) > 1 else ()))


def _search(search: Search) -> SearchPart:
    losses = search.mean_losses().tolist() if search.searched else [None] * len(search.points)
    points = tuple(
        SearchPoint(parameters=plain(dict(point)), loss=loss) for point, loss in zip(search.points, losses, strict=True)
    )
    return SearchPart(points=points, best=plain(dict(search.best)))
