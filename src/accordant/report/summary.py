"""The answer in plain words, on top of the report."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import EQUAL, Line, Reading
from accordant.report.scale import count, interval, listed, number

VERDICT = "no strategy earns its cost"  # how `accordant.evaluation.remarks` puts it


@dataclass(frozen=True)
class Answer:
    """What a reader learns first.

    Attributes
    ----------
    verdict
        The remark that no strategy beats a constant action; empty if one does.
    sentences
        The answer, one thought each.
    remarks
        All other remarks of the test leaderboard.
    """

    verdict: str
    sentences: tuple[str, ...]
    remarks: tuple[str, ...]


def answer(reading: Reading) -> Answer:
    """Return the answer of a run."""
    remarks = reading.content["test"]["remarks"]
    verdicts = [remark for remark in remarks if VERDICT in remark]
    sentences = [*_selected(reading), *_constant(reading), *_close(reading)]
    return Answer(" ".join(verdicts), tuple(sentences), tuple(each for each in remarks if each not in verdicts))


def _selected(reading: Reading) -> list[str]:
    data, line = reading.content["data"], reading.find(reading.content["selected"])
    if line is None:
        return ["Cross-validation selected no strategy."]
    kind = "" if line.name == line.kind else f" ({line.kind})"
    return [
        f"Cross-validation on {count(data['train'])} training rows selected {line.name}{kind}.",
        f"On the {count(data['test'])} test rows, which were used neither to learn nor to select, "
        f"its composite score is {_score(line, reading)}.",
    ]


def _constant(reading: Reading) -> list[str]:
    """Compare the selected strategy with the best constant action."""
    constant = reading.find(reading.content["test"]["best_constant"])
    line = reading.find(reading.content["selected"])
    if constant is None:
        return ["No constant action is ranked, so there is no comparison with the same action for everybody."]
    start = f"The same action for everybody ({constant.name}) scores {_score(constant, reading)}"
    if line is None or line.row["score"]["value"] is None:
        return [f"{start}."]
    gap = line.row["score"]["value"] - constant.row["score"]["value"]
    comparison = "as much as" if abs(gap) <= EQUAL else "less than" if gap > 0 else "more than"
    return [f"{start}, {comparison} the selected strategy."]


def _close(reading: Reading) -> list[str]:
    """Say which candidate scores best on the test rows and which ones the rows cannot tell from it."""
    ranked = [line for line in reading.candidates if line.row["score"]["value"] is not None]
    if not ranked:
        return ["No candidate is ranked: a metric with positive weight is not defined for any of them."]
    best, rivals = ranked[0], ranked[1:]
    close = [line for line in rivals if line.row["distinguishable"] is False]
    whose = f"{best.name}, the selected strategy," if best.selected else best.name
    start = f"{whose} has the highest composite score on the test rows"
    if not close:
        resampled = reading.content["test"]["resamples"] > 0
        return [f"{start}, distinguishable from every other ranked candidate." if rivals and resampled else f"{start}."]
    names = [f"{line.name} (the selected strategy)" if line.selected else line.name for line in close]
    return [f"{start}; these rows do not distinguish it from {listed(names)}."]


def _score(line: Line, reading: Reading) -> str:
    score = line.row["score"]
    if score["value"] is None:
        return "not defined, because a metric with positive weight is not"
    limits = interval(score["low"], score["high"])
    return number(score["value"]) + (f" (with a {reading.level} interval of {limits})" if limits else "")
