"""The answer in plain words, on top of the report."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import counted
from accordant.report.charts.svg import clean
from accordant.report.page import sentence, strong
from accordant.report.reading import EQUAL, GOALS, Line, Reading
from accordant.report.scale import NOT_DEFINED, count, decimals, interval, number
from accordant.runs.record import Column, Limits
from accordant.scope import Criterion

VERDICT = "deciding case by case shows no gain"  # how `accordant.evaluation.remarks` puts it


@dataclass(frozen=True)
class Answer:
    """What a reader learns first."""

    verdict: str  # the remark that no strategy beats a constant action; empty if one does
    exceptions: tuple[str, ...]  # baselines that do beat it: the verdict is about strategies that use expected rewards
    chosen: Markup  # of how many it was selected, and on what
    scores: tuple[Markup, ...]  # how it scores on untouched rows, one thought each, with names of strategies emphasised
    leads: Markup  # which candidate scores best on the untouched rows, and whether they tell the selected one from it
    corrected: str  # its score on the rows that selected it; empty if it is not known
    remarks: tuple[str, ...]  # all other remarks of the test leaderboard

    @property
    def sentences(self) -> tuple[Markup, ...]:
        """All that is said of the selected strategy."""
        return (self.chosen, *self.scores, self.leads)


def answer(reading: Reading) -> Answer:
    """Return the answer of a run."""
    remarks = reading.record.test.remarks
    verdict = " ".join(remark for remark in remarks if VERDICT in remark)
    others = tuple(remark for remark in remarks if VERDICT not in remark)
    constant = () if verdict else _constant(reading)  # the verdict says it
    scores = (*_score_told(reading), *constant)
    return Answer(
        verdict, _exceptions(reading) if verdict else (), _selected(reading), scores, _close(reading),
        _corrected(reading), others,
    )  # fmt: skip


def _selected(reading: Reading) -> Markup:
    """Say of how many candidates the selected strategy was selected, and on what."""
    if reading.selected is None:
        return clean("No strategy was selected on held-out folds.")
    rows = f"{count(reading.record.data.train)} training rows, held out in turn"
    return clean(f"Selected of {counted(len(reading.candidates), 'candidate')} by its score on {rows}.")


def _score_told(reading: Reading) -> list[Markup]:
    """Return the score of the selected strategy on the untouched rows."""
    line, data = reading.selected, reading.record.data
    if line is None:
        return []
    place = f"On the {count(data.test)} untouched rows, used neither to learn nor to select, "
    if not data.test:
        place = f"On the {count(data.train)} rows of training, held out from the models in turn, "
    return [sentence(f"{place}its score is {_score(line, reading)}.")]


def _corrected(reading: Reading) -> str:
    """Return the score of the selected strategy on the training rows that selected it."""
    chosen = reading.record.selection.score
    if reading.selected is None or chosen is None:
        return ""
    limits = interval(chosen.low, chosen.high)
    score = f"{number(chosen.value)} ({reading.level} interval {limits}), corrected for having been chosen on them"
    return f"On the training rows the score of {reading.selected.name} is {score}."


def _constant(reading: Reading) -> list[Markup]:
    """Compare the selected strategy with the best constant action."""
    constant = reading.find(reading.record.test.best_constant)
    line = reading.selected
    if constant is None:
        return [clean("No constant action is ranked, so there is no comparison with the same action for everybody.")]
    start = ("The same action for everybody (", strong(constant.name), f") scores {_score(constant, reading)}")
    if line is None or line.row.score.value is None or constant.row.score.value is None:
        return [sentence(*start, ".")]
    gap = line.row.score.value - constant.row.score.value
    comparison = "as much as" if abs(gap) <= EQUAL else "less than" if gap > 0 else "more than"
    return [sentence(*start, f", {comparison} the selected strategy.")]


def _close(reading: Reading) -> Markup:
    """Say which candidate scores best on the untouched rows, and whether they tell the selected one from it."""
    ranked = [line for line in reading.candidates if line.row.score.value is not None]
    if not ranked:
        return clean("No candidate is ranked: a metric with positive weight is not defined for any of them.")
    best, rivals = ranked[0], ranked[1:]
    told = [line.row.among_best for line in rivals]
    end = "."
    if best.selected and told and all(among is False for among in told):
        end = ", and all others are shown to be worse."
    for line in rivals:
        if line.selected and line.row.among_best is not None:
            worse = "; the selected strategy is shown not to be the best."
            end = "; the selected strategy cannot be told from the best." if line.row.among_best else worse
    whose = ", the selected strategy," if best.selected else ""
    start = f"{whose} has the highest composite score on these rows"
    if best.row.among_best is None and any(among is not None for among in told):
        start += ", but was not compared: its interval is withheld, or the log hardly supports what it decides"
        end = end.replace("from the best.", "from the best of the others.")
    return sentence(strong(best.name), start, end)


def _exceptions(reading: Reading) -> tuple[str, ...]:
    """Name baselines above the best constant, which the verdict on strategies is not about."""
    constant = reading.find(reading.record.test.best_constant)
    if constant is None or (least := constant.row.score.value) is None:
        return ()
    baselines = [line for line in reading.candidates if line.family == "baseline"]
    scores = [(line.name, line.row.score.value) for line in baselines]
    return tuple(name for name, score in scores if score is not None and score > least + EQUAL)


def _score(line: Line, reading: Reading) -> str:
    score = line.row.score
    if score.value is None:
        return "not defined, because a metric with positive weight is not"
    limits = interval(score.low, score.high)
    return number(score.value) + (f" ({reading.level} interval {limits})" if limits else "")


@dataclass(frozen=True)
class Check:
    """A criterion and what was found.

    Attributes
    ----------
    criterion
        As the card has it.
    label, requirement
        The metric in the leaderboard and what the threshold asks of it, in words.
    value, interval
        Of the selected strategy on the untouched rows.
    finding
        Whether the value meets the threshold, and whether the whole interval does.
    meets
        Whether the value does; None without a value or a threshold.
    """

    criterion: Criterion
    label: str
    requirement: str
    value: str
    interval: str
    finding: str
    meets: bool | None = None


def checks(reading: Reading) -> tuple[Check, ...]:
    """Return every criterion of the card with what the record says about it."""
    card = reading.record.scope
    line = reading.selected
    return tuple(_check(reading, line, criterion) for criterion in card.criteria) if card else ()


def _check(reading: Reading, line: Line | None, criterion: Criterion) -> Check:
    column = _column(reading, criterion)
    threshold = criterion.threshold
    if column is None:
        said = "not evaluated: no such metric in this run"
        return Check(criterion, criterion.metric, _plain(threshold), "–", "", said)
    label, goal = column.label, column.goal
    requirement = _requirement(label, goal, threshold)
    if line is None:
        return Check(criterion, label, requirement, "–", "", "not evaluated: no strategy was selected")
    cell = line.row.metrics[label]
    if cell.value is None:
        reason = f"{NOT_DEFINED} (n={count(cell.n)}: {cell.reason})"
        return Check(criterion, label, requirement, NOT_DEFINED, "", reason)
    digits = decimals([cell.value, cell.low, cell.high])
    limits = interval(cell.low, cell.high, digits)
    return Check(
        criterion, label, requirement, number(cell.value, digits), limits, _finding(cell, goal, threshold),
        None if threshold is None else _meets(cell.value, goal, threshold),
    )  # fmt: skip


def _column(reading: Reading, criterion: Criterion) -> Column | None:
    """Return the metric that a criterion names: by its label, or by its registered name and parameters."""
    declared = reading.record.case.metrics
    for column in reading.columns:
        if column.label == criterion.metric:
            return column
    for column in reading.columns:
        about, wanted = declared.get(column.label), criterion.params
        if about is None or about.metric != criterion.metric:
            continue
        if all(about.parameters.get(key) == wanted[key] for key in wanted):
            return column
    return None


def _plain(threshold: float | None) -> str:
    return "no threshold given" if threshold is None else f"threshold {threshold:g}"


def _requirement(label: str, goal: str, threshold: float | None) -> str:
    if threshold is None:
        return f"no threshold given; {GOALS[goal]}"
    bounds = {"zero": f"|{label}| ≤", "min": f"{label} ≤", "max": f"{label} ≥"}
    return f"{bounds[goal]} {threshold:g}"


def _finding(cell: Limits, goal: str, threshold: float | None) -> str:
    if threshold is None or cell.value is None:
        return "no threshold to compare with"
    value_meets = _meets(cell.value, goal, threshold)
    start = "the value meets the threshold" if value_meets else "the value does not meet the threshold"
    if cell.low is None or cell.high is None:
        return start
    ends = [_meets(end, goal, threshold) for end in (cell.low, cell.high)]
    if value_meets:
        return (
            f"{start}, and so does its whole interval" if all(ends) else f"{start}, but part of its interval does not"
        )
    crosses = any(ends) or (goal == "zero" and cell.low <= 0 <= cell.high)
    return f"{start}, but part of its interval does" if crosses else f"{start}, nor does any of its interval"


def _meets(value: float, goal: str, threshold: float) -> bool:
    return {"zero": abs(value) <= abs(threshold), "min": value <= threshold, "max": value >= threshold}[goal]
