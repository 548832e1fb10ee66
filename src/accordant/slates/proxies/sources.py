"""Who speaks for stakeholders of slates: recorded rankings from a file, and a language model where a user asks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from accordant.agents.language.options import ModelOptions
from accordant.agents.language.participant import connect
from accordant.errors import InputError, UnknownNameError
from accordant.slates.fidelity import THRESHOLD, Instead
from accordant.slates.market import Market
from accordant.slates.proxies import ProxyReports, proxy_reports
from accordant.slates.rankers import LanguageModelRanker, ObjectiveRanker, Ranker, RecordedRanker
from accordant.slates.rankers.ranking_file import read_rankings
from accordant.slates.run import OpenedSlates

RECORDED = "recorded rankings"
MODEL = "language model for {}"


@dataclass(frozen=True, eq=False)
class OpenedWithProxies:
    """A market that is about to be served, and who speaks in it: nothing is said yet; None if nobody speaks."""

    opened: OpenedSlates
    proxies: ProxyReports | None


def with_proxies(
    opened: OpenedSlates,
    model: ModelOptions | None,
    rankings: str | None,
    *,
    threshold: float = THRESHOLD,
    instead: Instead = "silence",
) -> OpenedWithProxies:
    """Return an opened market in which a file or a language model, or both, speak for stakeholders.

    Whatever can be refused is refused here, before a recording is begun and anything is asked.

    Parameters
    ----------
    model
        Which model, and for whom (`ModelOptions.agents`, names of stakeholders): by default for everybody for whom no
        rankings are recorded. Its fallback is the declared utility.
    rankings
        CSV with the columns of `read_rankings`, ``stakeholder`` among them: it speaks for everybody whom it names.
    threshold, instead
        Of the gate, see `accordant.slates.proxies.proxy_reports`.

    Raises `UnknownNameError` if the model or the file shall speak for a stakeholder that does not exist, or `instead`
    is none that does; `DataError` if a file is of another form, or a request or item in it does not exist; `InputError`
    if both speak for one stakeholder, nobody is left for the model, or a key cannot be sent.
    """
    if model is None and rankings is None:
        return OpenedWithProxies(opened, None)
    if not -1 <= threshold <= 1:
        raise InputError(f"threshold is {threshold}; allowed: a number in [-1, 1]")
    if instead not in get_args(Instead):
        raise UnknownNameError("instead", instead, get_args(Instead))
    market, seed = opened.source.market, opened.options.seed
    rankers: dict[str, Ranker] = {}
    if rankings is not None:
        served = None if opened.options.requests is None else set(market.ids)
        rankers.update(_recorded(rankings, market, opened.known, served))
    if model is not None:
        rankers.update(_models(model, _represented(model, market.stakeholders, rankers)))
    in_order = {name: rankers[name] for name in market.stakeholders if name in rankers}
    declared = opened.case.slates.stakeholders
    proxies = proxy_reports(market, in_order, declared=declared, threshold=threshold, instead=instead, seed=seed)
    return OpenedWithProxies(replace(opened, source=replace(opened.source, market=proxies.market)), proxies)


def names_with_commas(text: str, what: str) -> tuple[str, ...]:
    """Return names with commas between; unlike names of agents, those of stakeholders may hold blanks.

    Raises `InputError`, which says where they were written, if a name is missing or repeated.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{what} is {text!r}; allowed: different names with commas between")
    return names


def _recorded(file: str, market: Market, known: Collection[str], served: Collection[str] | None) -> dict[str, Ranker]:
    """Return a ranker for everybody whom a file names; requests of the case that are not `served` are passed over."""
    rankers: dict[str, RecordedRanker] = {}
    for name in read_rankings(file):
        if name is None:
            raise InputError(f"--rankings {file} has no column 'stakeholder'; allowed: one that says who speaks")
        if name not in market.stakeholders:
            raise UnknownNameError(f"stakeholder in --rankings {file}:", name, market.stakeholders)
        ranker = RecordedRanker(file, name, name=RECORDED)
        ranker.check(list(known), market.catalogue.items)
        rankers[name] = ranker if served is None else ranker.among(served)
    return dict(rankers)


def _represented(model: ModelOptions, stakeholders: Sequence[str], recorded: Collection[str]) -> tuple[str, ...]:
    """Return for whom the model speaks."""
    for name in model.agents:
        if name not in stakeholders:
            raise UnknownNameError("stakeholder that the model shall speak for:", name, stakeholders)
        if name in recorded:
            raise InputError(f"--speaks-for and --rankings both speak for {name!r}; allowed: one of them")
    names = model.agents or tuple(name for name in stakeholders if name not in recorded)
    if not names:
        raise InputError("--llm has nobody to speak for: --rankings speaks for every stakeholder")
    return names


def _models(model: ModelOptions, stakeholders: Sequence[str]) -> dict[str, Ranker]:
    """Return a ranker of the model for each stakeholder; all of them share one budget and one recording."""
    settings, fallback = connect(model), ObjectiveRanker() if model.fallback else None
    return {
        name: LanguageModelRanker(MODEL.format(name), model.base_url, model.model, fallback=fallback, **settings)
        for name in stakeholders
    }
