"""Serving the market of a case by many rules, and everything that is measured about it."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from threadpoolctl import threadpool_limits

from accordant.cases.spec import CaseSpec
from accordant.compute.fan_out import run_all
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.naming import Named
from accordant.runs.folder import read_run
from accordant.scope import ScopeCard, Verdict, judge, lint
from accordant.slates.candidates import user_values
from accordant.slates.case import SlateSpec, read_slates, slates_of
from accordant.slates.evaluation import (
    default_measures,
    front,
    price,
    scores,
    why,
)
from accordant.slates.evaluation.board import USER, WORST_OFF
from accordant.slates.evaluation.held_out_selection import held_out_comparison
from accordant.slates.evaluation.leaderboard import leaderboard
from accordant.slates.evaluation.staleness import StalenessPrice, staleness_price
from accordant.slates.market import Market, Served, on_one_scale, serve
from accordant.slates.measures import Range, SlateMeasure, measures
from accordant.slates.measures.users import outcomes_of
from accordant.slates.offers import market_of_offers, market_of_run
from accordant.slates.options import SlateOptions
from accordant.slates.proxies import ProxyReports
from accordant.slates.rule import SlateRule, rules_of
from accordant.slates.rule_findings import findings_of_all
from accordant.slates.rules.consumption_aware import ConsumptionAware
from accordant.slates.rules.floors import Floored
from accordant.slates.run import OpenedSlates, ServedSlates
from accordant.slates.sources import MarketSource, market_source
from accordant.slates.tradeoff import check_served, check_tradeoff
from accordant.tables.output import is_run

logger = logging.getLogger(__name__)

WATCHED = 3  # rules whose stability and manipulability are measured: each takes dozens of servings
EXAMPLES = 3  # requests whose lists are justified
CONSUMED = "consumed value"  # the column of what lists are worth to users who take a few items
LOGGED, MODELLED = "what users consumed", "a model: a user wants one category, and items please by their worth"
ALONE = "stakeholder:{}"  # the list of one stakeholder alone, see `accordant.slates.rules.baselines`


class _Scale(TypedDict):
    """How measures become scores, see `leaderboard`."""

    normalisation: Literal["natural", "relative"]
    ranges: dict[str, Range]


def open_slates(name_or_path: str | Path, options: SlateOptions) -> OpenedSlates:
    """Read the case or the finished run, find its items and requests, and choose the rules.

    The models of a run say what its actions are worth to whom: nothing is learned again.

    Raises
    ------
    InputError
        If the case, the data or an option cannot be used.
    """
    run = read_run(name_or_path) if is_run(name_or_path) else None
    if run is None:
        case, problem, beside = read_slates(name_or_path)
        declared = _declared(case.slates, options)
        source = _source(declared, problem, options, beside)
    else:
        case, options = slates_of(run.case), replace(options, run=str(name_or_path))
        declared = _declared(case.slates, options)
        source = market_of_run(run, declared, options.data)
    every = source.market
    market = _first(every, options.requests)
    if market is not every:
        n_all, n_served = (sum(batch.n_users for batch in offered.batches) for offered in (every, market))
        note = f"Of {n_all} requests the first {n_served} are served; the notes below speak of all of them."
        source = replace(source, notes=(note, *source.notes))
    named = options.strategies or tuple(Named(rule.name, dict(rule.parameters)) for rule in declared.rules)
    chosen = rules_of(named, market.stakeholders, market.user_stakeholder, market.catalogue.n_items)
    if options.consumption is not None:
        chosen = _with_consumption(chosen, market, options.consumption, options.k or declared.k)
    rules = {rule.label: rule for rule in _with_baselines(chosen, market)}
    kinds = {label: rule.kind for label, rule in rules.items()}
    if options.floors and market.floors:
        rules = {label: _floored(rule, market) for label, rule in rules.items()}
    known = frozenset(every.ids)
    return OpenedSlates(
        case, options, replace(source, market=market), rules, kinds, options.k or declared.k, known, run
    )


def show_slates(opened: OpenedSlates, proxies: ProxyReports | None = None, n_jobs: int = 1) -> ServedSlates:
    """Serve the market by every rule, and measure what each showed.

    Parameters
    ----------
    opened
        Case, market and rules.
    proxies
        Who speaks for stakeholders in this market; None if nobody does.
    n_jobs
        Processes on which rules serve; the result is the same for any number.
    """
    market, options = opened.source.market, opened.options
    served = on_one_scale(_served_by_all(opened, n_jobs))
    made, weights = _measures(opened.case.slates, market)
    if options.consumption is not None:
        first = dict(list(made.items())[:2])  # so that it stands where the terminal shows it
        made = {**first, CONSUMED: measures.create("consumed_value", {"consumed": options.consumption}), **made}
    board = scores(served, made, resamples=options.resamples, seed=options.seed)
    kinds = opened.kinds
    drawn = [label for label, rule in opened.rules.items() if rule.name == "random_slate"]
    declared = opened.case.slates
    scale: _Scale = {
        "normalisation": declared.normalisation,
        "ranges": {label: measure.range for label, measure in declared.measures.items() if measure.range is not None},
    }
    table = leaderboard(board, kinds, weights, outside=drawn, **scale)
    user = market.user_stakeholder
    reference = None if user is None else ALONE.format(user)
    worst_off = _label(made, "worst_off")
    own = None if user is None else _label(made, "attained", stakeholder=user)
    standing = front(board, (worst_off,) if own is None else (own, worst_off))
    tried = None
    if reference is not None and own is not None:
        contenders = [label for label, kind in kinds.items() if kind != "baseline"]
        tried = held_out_comparison(
            served, reference, contenders, made, weights, gain_of=worst_off, price_of=own,
            resamples=options.resamples, seed=options.seed, **scale,
        )  # fmt: skip
    watched = list(dict.fromkeys([
        *([reference] if reference else []), *([tried.chosen] if tried else []),
        *(row.strategy for row in table.rows if row.candidate), *standing.rules,
    ]))[:WATCHED]  # fmt: skip
    shown = tried.chosen if tried else next((row.strategy for row in table.rows if row.candidate), watched[0])
    return ServedSlates(
        opened, served, made, table, standing,
        None if reference is None else price(board, reference),
        tried,
        _staleness(opened, served, made, n_jobs),
        findings_of_all(served, opened, watched, n_jobs),
        _consumption(served[shown], opened),
        tuple(_example(shown, served[shown], request) for request in range(min(EXAMPLES, board.n_requests))),
        _verdicts(opened.case.slates.scope, served),
        proxies,
        (*(() if proxies is None else proxies.warnings), *_warnings(opened)),
    )  # fmt: skip


def _served_by_all(opened: OpenedSlates, n_jobs: int) -> dict[str, Served]:
    """Return rule to what it showed.

    The first rule serves here: whoever speaks for stakeholders is asked then, and not again.
    """
    market, (first, *others) = opened.source.market, opened.rules
    logger.info("serving %d requests by %d rules", sum(batch.n_users for batch in market.batches), len(opened.rules))
    with threadpool_limits(1):
        served = {first: serve(opened.rules[first], market, opened.k)}
    tasks = [partial(serve, opened.rules[label], market, opened.k) for label in others]
    served |= dict(zip(others, run_all(tasks, n_jobs, "serving requests"), strict=True))
    return {label: replace(shown, market=market) for label, shown in served.items()}


def _staleness(
    opened: OpenedSlates, served: Mapping[str, Served], made: Mapping[str, SlateMeasure], n_jobs: int
) -> StalenessPrice | None:
    """Return what staleness costs; None where rules see every state as it is."""
    market, options = opened.source.market, opened.options
    if not market.staleness:
        return None
    source = replace(opened.source, market=replace(market, staleness=0))
    fresh = _served_by_all(replace(opened, source=source), n_jobs)
    return staleness_price(served, fresh, made, resamples=options.resamples, seed=options.seed)


def _declared(slates: SlateSpec, options: SlateOptions) -> SlateSpec:
    """Return what a case declares, with what a user said otherwise."""
    staleness = slates.staleness if options.staleness is None else options.staleness
    return slates.replace(capacity={**slates.capacity, **options.capacity}, staleness=staleness)


def _source(declared: SlateSpec, problem: CaseSpec | None, options: SlateOptions, beside: Path | None) -> MarketSource:
    """Return the market: of objectives, or of a decision problem's own models."""
    if declared.stakeholders:
        return market_source(declared, options.seed, options.data, beside)
    if problem is None:
        raise InputError("slates without stakeholders need a decision problem, whose models give E")
    return market_of_offers(problem, declared, options.seed, options.data, beside)


def _first(market: Market, requests: int | None) -> Market:
    """Return the market with at most some requests, the first in time."""
    if requests is None:
        return market
    kept, left = [], requests
    for batch in market.batches:
        if left > 0:
            kept.append(batch.take(np.arange(min(left, batch.n_users))))
            left -= batch.n_users
    return replace(market, batches=tuple(kept))


def _with_baselines(chosen: tuple[SlateRule, ...], market: Market) -> tuple[SlateRule, ...]:
    """Return the rules with what everything must beat: each stakeholder's own list, and a draw."""
    baselines = [Named("stakeholder_slate", {"stakeholder": name}) for name in market.stakeholders]
    needed = rules_of(
        [*baselines, Named("random_slate")], market.stakeholders, market.user_stakeholder, market.catalogue.n_items
    )
    known = {rule.label for rule in chosen}
    return (*(rule for rule in needed if rule.label not in known), *chosen)


def _with_consumption(
    chosen: tuple[SlateRule, ...], market: Market, consumed: int, k: int
) -> tuple[SlateRule, ...]:  # fmt: skip
    """Return the rules with the one for users who take some items of a list.

    Raises
    ------
    InputError
        If a list is shorter than that, or items have fewer than two categories.
    """
    if consumed > k:
        raise InputError(f"--consumption is {consumed}; allowed: 1 to {k}, the places of a list")
    categories = market.catalogue.categories
    if len(categories) < 2:
        words = "no category" if not categories else f"the one category {categories[0]!r}"
        raise InputError(
            f"--consumption needs items of two categories or more, of which a user wants one; the items have {words}"
        )
    rule = ConsumptionAware(consumed=consumed)
    return chosen if any(other.label == rule.label for other in chosen) else (*chosen, rule)


def _floored(rule: SlateRule, market: Market) -> SlateRule:
    """Return the rule under the market's floors; baselines stay as they are, for they are what a rule is held to."""
    if rule.kind == "baseline":
        return rule
    return Floored(rule=rule, floors=dict(market.floors))


def _measures(declared: SlateSpec, market: Market) -> tuple[dict[str, SlateMeasure], dict[str, float]]:
    """Return the columns of the leaderboard and their weights: the case's, or the usual ones.

    What each stakeholder attains, and the worst-off, are always there. Where a case weighs nothing, half of the score
    is for the worst-off and half for the user [ours].
    """
    if declared.measures:
        columns = {
            label: measures.create(measure.measure, measure.parameters) for label, measure in declared.measures.items()
        }
        weights = {label: measure.weight for label, measure in declared.measures.items()}
    else:
        columns = default_measures(market)
        weights = {WORST_OFF: 1.0} if market.user_stakeholder is None else {WORST_OFF: 0.5, USER: 0.5}
    needed = {WORST_OFF: measures.create("worst_off")} | {
        f"attained {name}": measures.create("attained", {"stakeholder": name}) for name in market.stakeholders
    }
    known = list(columns.values())
    return columns | {label: measure for label, measure in needed.items() if measure not in known}, weights


def _label(columns: Mapping[str, SlateMeasure], measure: str, **parameters: Any) -> str:
    """Return the label under which a measure stands on the leaderboard."""
    wanted = measures.create(measure, parameters)
    return next(label for label, column in columns.items() if column == wanted)


def _example(label: str, served: Served, request: int) -> dict[str, Any]:
    """Return the justified list of one request."""
    return why(served, request).to_json() | {
        "rule": label,
        "id": served.market.ids[request],
        "items": list(served.slates.names(request)),
    }


def _consumption(served: Served, opened: OpenedSlates) -> dict[str, Any] | None:
    """Return whether diversity costs accuracy, if it is known of which category items are, and what users consumed.

    Where somebody said how many items a user takes, and nobody knows which were, lists are judged by a model.
    """
    targets, options = served.targets, opened.options
    logged = targets is not None and bool(targets.any())
    if not served.market.catalogue.categories or not (logged or options.consumption):
        return None
    consumed = options.consumption or min(opened.k, max(1, math.ceil(opened.case.slates.visits)))
    if logged:
        check = check_served(served, consumed=consumed, resamples=options.resamples, seed=options.seed)
    else:
        check = check_tradeoff(
            user_values(served.candidates, None), served.candidates.categories, outcomes_of(served), served.users,
            length=served.slates.k, consumed=consumed, available=served.candidates.available,
            resamples=options.resamples, seed=options.seed,
        )  # fmt: skip
    judged_by = {} if options.consumption is None else {"judged_by": LOGGED if logged else MODELLED}
    return dict(json_value(dataclasses.asdict(check))) | judged_by


def _verdicts(card: ScopeCard | None, served: Mapping[str, Served]) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdict on each criterion of the card, rule by rule."""
    if card is None:
        return {}
    made: list[SlateMeasure] = [
        measures.create(criterion.metric, dict(criterion.params)) for criterion in card.criteria
    ]
    verdicts = {}
    for label, shown in served.items():
        values = [measure.of(shown) for measure in made]
        known = [None if np.isnan(value) else value for value in values]
        verdicts[label] = judge(card, known, [measure.goal for measure in made])
    return verdicts


def _warnings(opened: OpenedSlates) -> tuple[str, ...]:
    """Return what a reader must see, the worst first."""
    warnings = [f"the requests are made up: {opened.source.label}"] if opened.source.simulated else []
    card = opened.case.slates.scope
    if card is not None:
        warnings += [f"scope card: {finding.words}" for finding in lint(card, date.today(), measures.names())]  # noqa: DTZ011 - a day has no zone
    return tuple(warnings)
