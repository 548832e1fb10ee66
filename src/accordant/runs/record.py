"""The record of a run: what ``run.json`` holds, and nothing that is not in it appears in a report."""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np

from accordant.cases.loaders import CaseData
from accordant.cases.spec import CaseSpec
from accordant.evaluation import Leaderboard, group_table
from accordant.evaluation.outcome_quality import outcome_quality
from accordant.evidence import Evidence
from accordant.learning.tuning import Search
from accordant.policy import ParticipatoryPolicy
from accordant.runs.row_split import Dealing
from accordant.scope import ScopeCard, lint

FORMAT = 2
LIBRARIES = ("accordant", "numpy", "scipy", "pandas", "scikit-learn", "skops", "joblib")
MEBIBYTE = 1024**2


@dataclass(frozen=True)
class Record:
    """Everything that a run found, as plain JSON values; undefined numbers are None.

    Attributes
    ----------
    content
        The object of ``run.json``; see `make_record` for its keys.
    """

    content: dict[str, Any]

    def summary(self, path: str) -> dict[str, Any]:
        """Return the object that ``accordant run --json`` prints."""
        content = self.content
        return {
            "case": content["case"]["name"],
            "data": content["data"],
            "seed": content["seed"],
            "selected": content["selected"],
            "run": path,
            **content["cost"],
            "peak_rss_mb": peak_memory(),
            "warnings": content["warnings"],
            "remarks": content["test"]["remarks"],
            "outcome_model": content["outcome_model"],
            "leaderboard": content["test"]["leaderboard"],
        }


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
) -> Record:
    """Collect a run.

    Keys: ``format``, ``versions``, ``case`` (the whole specification), ``seed``, ``data`` (and how
    its rows were divided: `accordant.runs.row_split.Dealing`), ``selected``,
    ``selection`` (whom D* consults, its corrected score), ``notes``, ``warnings``, ``test`` and ``validation`` (a
    leaderboard each, see `board`), ``groups`` (per attribute), ``scrutiny`` (how far decisions and choice can be
    trusted, see `accordant.runs.scrutiny.Scrutiny`), ``outcome_model`` (name and quality on test rows), ``learning``
    (identification, proxies, overlap, searches, reward errors), ``reward_sources`` (stakeholder to where a learned
    reward comes from), ``strategies`` (name and parameters by label), ``scope`` (card and hash), ``cost`` (times: all
    that differs between two runs of the same command).
    """
    learned = policy.learned_
    shares = None
    if not case.problem.continuous:
        counts = np.bincount(policy.evidence_.log.outcomes.astype(np.intp), minlength=len(case.problem.outcome_names))
        shares = counts / counts.sum()
    content = {
        "format": FORMAT,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "case": case.model_dump(mode="json"),
        "seed": seed,
        "data": {
            "source": data.source,
            "simulated": data.simulated,
            "sha256": data.sha256,
            "rows": len(data.log),
            "train": n_train,
            "test": evidence.n_contexts,
            **dealt.to_json(),
        },
        "selected": policy.selected_,
        "selection": {
            "consults": _consults(policy, leaderboard),
            "score": None if (score := policy.leaderboard_.chosen_score) is None else score.to_json(),
        },
        "notes": [*dealt.sentences(), *case.notes],
        "warnings": _warnings(policy, data),
        "test": board(leaderboard),
        "validation": board(policy.leaderboard_),
        "groups": [
            group_table(policy.decide_on(evidence), evidence, attributes).to_json()
            for attributes in groupings(case)
        ],
        "scrutiny": scrutiny,
        "outcome_model": {
            "name": outcome_model_name(policy),
            "quality": [asdict(measure) for measure in outcome_quality(evidence, shares)],
        },
        "learning": {
            "action_aware": learned.identification.action_aware,
            "action_counts": dict(zip(case.problem.actions, learned.identification.counts, strict=True)),
            "proxies": [asdict(check) for check in learned.proxies],
            "overlap": None if learned.overlap is None else asdict(learned.overlap),
            "searches": {name: _search(search) for name, search in learned.searches.items()},
            "reward_errors": [asdict(error) for error in learned.reward_errors],
        },
        "reward_sources": {name: found for name, each in policy.signals_.items() if (found := each.provenance())},
        "strategies": {
            label: {"name": rule.name, "kind": rule.kind, "candidate": rule.candidate, "note": rule.note,
                    "selectable": rule.may_be_selected, "parameters": rule.parameters}
            for label, rule in policy.strategies_.items()
        },
        "scope": None if case.scope is None else _scope(case.scope, _metric_names(case)),
        "cost": dict(zip(("seconds", "cpu_seconds"), seconds, strict=True)),
    }  # fmt: skip
    return Record(plain(content))


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
    return (*case.metrics, *(each.metric for each in case.metrics.values()))


def _scope(card: ScopeCard, known: Collection[str]) -> dict[str, Any]:
    """Return a card with its hash and what it leaves open today; only an overdue review depends on the day."""
    findings = [asdict(each) for each in lint(card, date.today(), known)]  # noqa: DTZ011 - a day on a card has no time zone
    return {"hash": card.hash, "findings": findings, **card.model_dump(mode="json")}


def board(leaderboard: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard with how it was computed: ``n``, ``resamples``, ``level``, ``normalisation``,
    ``best_constant``, ``remarks``, ``metrics`` (label, goal, weight, uninformative, description), ``leaderboard``.
    """
    return {
        "n": leaderboard.n,
        "resamples": leaderboard.resamples,
        "level": leaderboard.level,
        "normalisation": leaderboard.normalisation,
        "best_constant": leaderboard.best_constant,
        "remarks": list(leaderboard.remarks),
        "metrics": [asdict(column) for column in leaderboard.columns],
        "leaderboard": leaderboard.to_json(),
    }


def outcome_model_name(policy: ParticipatoryPolicy) -> str:
    """Return what f is, in a few words."""
    model = policy.outcome_model_
    estimator = getattr(model, "classifier", None) or getattr(model, "learner", None)
    weights = getattr(estimator, "weights_", None)
    if weights:
        parts = [f"{weight:.0%} {name}" for name, weight in sorted(weights.items(), key=lambda each: -each[1])]
        return " + ".join(parts) + ", chosen by cross-validation"
    inner = getattr(estimator, "estimator", estimator)
    return type(inner).__name__


def peak_memory() -> float:
    """Return the largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MEBIBYTE if sys.platform == "darwin" else 1024)


def plain(value: Any) -> Any:
    """Return a value as JSON types: tuples become lists, NaN None, infinities text, numpy numbers plain."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def _warnings(policy: ParticipatoryPolicy, data: CaseData) -> list[str]:
    simulated = ["No data were given: all rows come from a simulator, and nothing here is about real people."]
    return [*(simulated if data.simulated else []), *data.repairs, *policy.warnings_]


def groupings(case: CaseSpec) -> tuple[tuple[str, ...], ...]:
    """Return every sensitive attribute alone, and all together if there are several."""
    names = tuple(attribute.name for attribute in case.problem.sensitive_attributes)
    return (*((name,) for name in names), *((names,) if len(names) > 1 else ()))


def _search(search: Search) -> dict[str, Any]:
    losses = search.mean_losses().tolist() if search.searched else [None] * len(search.points)
    points = [{"parameters": dict(point), "loss": loss} for point, loss in zip(search.points, losses, strict=True)]
    return {"points": points, "best": dict(search.best)}
