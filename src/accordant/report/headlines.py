"""What each fold of the page says while it is closed: its finding in one line."""

from __future__ import annotations

from markupsafe import Markup

from accordant.naming import counted, listed
from accordant.report.charts.svg import clean
from accordant.report.distribution import Grouping, rewards_by_stakeholder
from accordant.report.overview import metric_influences
from accordant.report.reading import Reading
from accordant.report.scale import count, number
from accordant.report.scrutiny import Findings
from accordant.report.standings import Standing, compare
from accordant.report.summary import Answer, Check

GAIN = "gain over"  # how the measure of an outcome model against a trivial one begins
MOST_SOURCES = 2  # where rewards come from, in a line
MOST_NAMED = 4  # names in a line; more are counted


def headlines(
    reading: Reading,
    answer: Answer,
    findings: Findings | None,
    checks: tuple[Check, ...],
    standing: tuple[Standing, ...],
    groupings: tuple[Grouping, ...],
) -> dict[str, str]:
    """Return what each fold says, by its identifier; all but the first arguments are what the folds hold."""
    said = {
        "stakeholders": _stakeholders(reading),
        "data": _data(reading),
        "models": _models(reading),
        "rules": _rules(reading),
        "leaderboard": _leaderboard(reading, answer),
        "trade-off": _trade_off(reading),
        "pareto": _pareto(standing),
        "distribution": _distribution(reading, groupings),
        "validation": _validation(reading),
        "scope": _scope(reading, checks),
        "reproduction": f"Seed {reading.record.seed}, record format {reading.record.format}, "
        f"accordant {reading.record.versions.get('accordant', '')}.",
    }
    return said | (_scrutinised(findings) if findings else {})


def _stakeholders(reading: Reading) -> str:
    names, sources = [stakeholder.name for stakeholder in reading.stakeholders], reading.record.reward_sources
    words = list(dict.fromkeys(source.words for source in sources.values() if source.words))
    who = _named(names, "stakeholder")
    parts = reading.record.stakeholder_groups
    split = [f"{part.stakeholder} is split into {len(part.groups)} groups" for part in parts if part.split]
    rewards = [f"rewards {listed(words)}" if len(words) <= MOST_SOURCES else f"rewards from {len(words)} sources"]
    return "; ".join([who, *(rewards if words else []), *split]) + "."


def _data(reading: Reading) -> str:
    data = reading.record.data
    kind = "simulated rows" if data.simulated else "rows"
    return f"{count(data.rows)} {kind}: {count(data.train)} to learn and select, {count(data.test)} untouched."


def _models(reading: Reading) -> str:
    """Return the outcome model with what it gains, and whether outcomes may depend on the action."""
    model = reading.record.outcome_model
    gains = [measure for measure in model.quality if measure.name.startswith(GAIN)]
    measure = next(iter([*gains, *model.quality]), None)
    told = "" if measure is None else f", {measure.name} {number(measure.value)}"
    if measure is not None and measure.standard_error is not None:
        told += f" (standard error {number(measure.standard_error)})"
    told += "" if measure is None else " on the untouched rows"
    end = "" if reading.record.learning.action_aware else "; outcomes are assumed not to depend on the action"
    return f"{model.name}{told}{end}."


def _rules(reading: Reading) -> str:
    folded = len(reading.lines) - len(reading.shown)
    alike = f"; {folded} of them decide{'s' if folded == 1 else ''} as another one does" if folded else ""
    return f"{counted(len(reading.lines), 'rule')}, each in one sentence{alike}."


def _leaderboard(reading: Reading, answer: Answer) -> str:
    best = [line.name for line in reading.shown if line.row.among_best]
    if not best:
        return answer.leads.striptags()
    return f"Among the best, with {reading.level} confidence: {_named(best, 'strategy', 'strategies')}."


def _trade_off(reading: Reading) -> str:
    influences = metric_influences(reading.weighted)
    if influences:
        return f"Differences between scores come from {influences}."
    return f"{counted(len(reading.weighted), 'metric')} with weight."


def _pareto(standing: tuple[Standing, ...]) -> str:
    compared = [candidate for candidate in standing if candidate.compared]
    free = [candidate for candidate in compared if not candidate.dominated_by]
    selected = next((candidate for candidate in compared if candidate.line.selected), None)
    start = (
        f"{len(free)} of {counted(len(compared), 'candidate')} {'is' if len(free) == 1 else 'are'} dominated by none"
    )
    if selected is None:
        return f"{start}."
    if not selected.dominated_by:
        return f"{start}, {selected.line.name} among them."
    return f"{start}; {selected.line.name} is dominated by {_named(list(selected.dominated_by), 'candidate')}."


def _distribution(reading: Reading, groupings: tuple[Grouping, ...]) -> str:
    """Return who is worst off under the selected strategy, and which groups are told apart."""
    line, names = reading.selected, [stakeholder.name for stakeholder in reading.stakeholders]
    shares = next((shares for rule, shares in rewards_by_stakeholder(reading) if rule == line), [])
    worst = [(name, share.value) for name, share in zip(names, shares, strict=False) if share.worst_off]
    groups = f"; by {listed([grouping.title for grouping in groupings])}" if groupings else "; no groups are declared"
    if line is None or not worst:
        return f"Mean rewards by stakeholder{groups}."
    return f"{line.name} leaves {listed([name for name, _ in worst])} worst off, at {number(worst[0][1])}{groups}."


def _validation(reading: Reading) -> str:
    places, line = compare(reading), reading.selected
    if line is None or line.name not in places.validation or line.name not in places.test:
        return "Orders in selection and on the untouched rows."
    return (
        f"{line.name} has place {places.validation[line.name]} of {len(places.validation)} in selection, "
        f"and place {places.test[line.name]} of {len(places.test)} on the untouched rows."
    )


def _scope(reading: Reading, checks: tuple[Check, ...]) -> str:
    if reading.record.scope is None:
        return "There is no scope card: nobody has stated criteria."
    judged = [check for check in checks if check.meets is not None]
    if not judged:
        return "The card states no criterion with a threshold that was evaluated."
    return f"The value meets the threshold of {sum(bool(check.meets) for check in judged)} of {len(judged)} criteria."


def _scrutinised(findings: Findings) -> dict[str, str]:
    """Return what the folds of the scrutiny say; what the first screen says already is not said again."""
    weighed, trust, hidden = findings.weighed, findings.trust.sentences, findings.confounding
    said: dict[str, str] = {
        "weights": weighed.sentences[0] if weighed else f"There is no winner to look behind: {findings.unweighed}.",
        "conflict": clean(f"{findings.disputes.summary} {conflict_pairs(findings)}"),
        "trust": trust[1] if len(trust) > 1 else trust[0] if trust else clean("Nothing was certified."),
        "deciders": Markup(" ").join(findings.deciders.sentences[1:2] or findings.deciders.sentences[:1]),
    }
    if hidden:
        said["confounding"] = hidden.sentences[1] if len(hidden.sentences) > 1 else next(iter(hidden.sentences), "")
    return said


def conflict_pairs(findings: Findings) -> str:
    """Return the pairs whose verdict comes first, and that verdict."""
    pairs = findings.disputes.pairs
    if not pairs:
        return findings.disputes.summary
    first = [pair for pair in pairs if pair.verdict == pairs[0].verdict]
    names = [" with ".join(pair.metrics) for pair in first]
    return f"{_named(names, 'pair')}: {pairs[0].verdict}, for {dict(findings.disputes.verdicts)[pairs[0].verdict]}."


def _named(names: list[str], one: str, more: str = "") -> str:
    """Return names, or how many there are."""
    return listed(names) if len(names) <= MOST_NAMED else counted(len(names), one, more)
