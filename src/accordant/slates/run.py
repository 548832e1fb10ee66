"""A market that is served by many rules: what is opened, what each rule showed, and the folder that is written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from accordant import __version__
from accordant.evaluation.leaderboard import Leaderboard
from accordant.runs.folder import Run
from accordant.runs.pages import PAGE
from accordant.scope import Verdict
from accordant.slates.case import SlateCase
from accordant.slates.catalogue import Catalogue
from accordant.slates.evaluation.front import Front, Prices
from accordant.slates.evaluation.held_out_selection import HeldOutComparison
from accordant.slates.evaluation.staleness import StalenessPrice
from accordant.slates.market import Served
from accordant.slates.measures import SlateMeasure
from accordant.slates.options import SlateOptions
from accordant.slates.proxies import ProxyReports
from accordant.slates.result import FORMAT, RequestCounts, RuleResult, SlateResult
from accordant.slates.rule import SlateRule
from accordant.slates.slates import NOTHING
from accordant.slates.sources import MarketSource
from accordant.tables.output import output_folder, write_part
from accordant.tables.text import csv_text

RECORD, SLATES, RANKINGS = "slates.json", "slates.csv", "rankings.csv"


@dataclass(frozen=True, eq=False)
class OpenedSlates:
    """A market that is about to be served.

    `rules` compete, by label, under floors where the case declares them; `kinds` are those of the rules themselves.
    `known` are the ids of all requests of the case, whether they are served or not. `run` is the finished run whose
    models give E; None for a case.
    """

    case: SlateCase
    options: SlateOptions
    source: MarketSource
    rules: Mapping[str, SlateRule]
    kinds: Mapping[str, str]
    k: int
    known: frozenset[str]
    run: Run | None = None

    def header(self) -> dict[str, Any]:
        """Return what `SlateResult` says of the case, by field."""
        market, declared = self.source.market, self.case.slates
        batches = market.batches
        stated = {stakeholder.name: stakeholder.model_dump(mode="json") for stakeholder in declared.stakeholders}
        return {
            "result": FORMAT,
            "version": __version__,
            "case": self.case.model_dump(mode="json", include={"name", "title", "description", "notes"}),
            "source": {name: getattr(self.source, name) for name in ("label", "simulated", "sha256", "notes", "facts")},
            "seed": self.options.seed,
            "options": self.options.to_json(),
            "k": self.k,
            "user": market.user_stakeholder,
            "close_when_full": market.close_when_full,
            "stakeholders": [
                stated.get(name, {"name": name, "values": [], **self.source.described.get(name, {})})
                | {"weight": market.weights.get(name, 1.0), "floor": market.floors.get(name)}
                for name in market.stakeholders
            ],
            "items": _items(market.catalogue),
            "requests": RequestCounts(
                n=sum(batch.n_users for batch in batches),
                users=len({user for batch in batches for user in batch.users}),
                cold=int(sum(batch.cold.sum() for batch in batches)), days=len({batch.day for batch in batches}),
                batches=len(batches),
            ),
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class ServedSlates:
    """What each rule showed, by label, and everything that is measured about it; see `SlateResult` for the fields.

    `measures` are the columns of the leaderboard by label; `proxies` is None if nobody speaks for a stakeholder.
    """

    opened: OpenedSlates
    served: Mapping[str, Served]
    measures: Mapping[str, SlateMeasure]
    leaderboard: Leaderboard
    front: Front
    prices: Prices | None
    trial: HeldOutComparison | None
    staleness: StalenessPrice | None
    rules: Mapping[str, RuleResult]
    consumption: Mapping[str, Any] | None
    examples: tuple[Mapping[str, Any], ...]
    verdicts: Mapping[str, tuple[Verdict, ...]]
    proxies: ProxyReports | None
    warnings: tuple[str, ...]

    def _range(self, label: str) -> list[float] | None:
        """Return the declared range of a measure, or its own; None for no bound."""
        declared = self.opened.case.slates.measures.get(label)
        ends = declared.range if declared and declared.range else self.measures[label].range
        return None if ends is None else list(ends)

    @cached_property
    def result(self) -> SlateResult:
        """The typed result."""
        board, card = self.leaderboard, self.opened.case.slates.scope
        columns = [
            {
                "label": column.label, "measure": self.measures[column.label].name,
                "parameters": dataclasses.asdict(self.measures[column.label]), "goal": column.goal,
                "weight": column.weight, "range": self._range(column.label), "uninformative": column.uninformative,
                "description": column.description,
            }
            for column in board.columns
        ]  # fmt: skip
        return SlateResult.read(self.opened.header() | {
            "rules": list(self.rules.values()),
            "columns": columns, "leaderboard": board.to_json(), "remarks": board.remarks, "resamples": board.resamples,
            "level": board.level, "normalisation": board.normalisation,
            "front": self.front,
            "prices": None if self.prices is None else self.prices.to_json(),
            "trial": None if self.trial is None else self.trial.to_json(),
            "staleness": None if self.staleness is None else self.staleness.to_json(),
            "consumption": self.consumption,
            "examples": self.examples,
            "verdicts": {rule: [verdict.to_json() for verdict in verdicts] for rule, verdicts in self.verdicts.items()},
            "scope": None if card is None else card.model_dump(mode="json"),
            "voices": () if self.proxies is None else self._voices(self.proxies),
            "warnings": self.warnings,
        })  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        return self.result.to_json()

    def _voices(self, proxies: ProxyReports) -> list[dict[str, Any]]:
        """Return who spoke for whom."""
        gate = {"threshold": proxies.threshold, "instead": proxies.instead}
        return [summary.to_json() | gate for summary in proxies.summaries]

    def slates_csv(self) -> str:
        """Return the file of slates: one line for each rule, request and place."""
        return csv_text(("rule", "request", "user", "day", "place", "item"), self._shown())

    def _shown(self) -> Iterator[tuple[object, ...]]:
        """Yield rule, request, user, day, place and item."""
        for rule, served in self.served.items():
            for request, (name, user, day) in enumerate(
                zip(served.market.ids, served.users, served.days.tolist(), strict=True)
            ):
                for place, item in enumerate(served.slates.items[request].tolist(), 1):
                    if item != NOTHING:
                        yield rule, name, user, day, place, served.slates.item_names[item]


def _items(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return what is known of each item."""
    columns = ("category", "provider", "popularity", "capacity", "latitude", "longitude", "price", "safety")
    return [
        {"name": name} | {column: getattr(catalogue, column)[c] for column in columns}
        for c, name in enumerate(catalogue.items)
    ]


def write_result(found: ServedSlates, page: str, folder: Path) -> Path:
    """Write a new folder with the page, the record and the slates; return the folder.

    Raises `InputError` if nothing can be written there.
    """
    files = {
        RECORD: json.dumps(found.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        SLATES: found.slates_csv(),
        PAGE: page,
    }
    if found.proxies is not None:
        files[RANKINGS] = found.proxies.rankings_csv()
    with output_folder(folder) as unfinished:
        for name, text in files.items():
            write_part(unfinished / name, text)
    return folder
