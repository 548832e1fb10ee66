"""What the page says in words: what was served, what the trial found, and what is gained and lost."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.naming import listed
from accordant.report.scale import NOT_DEFINED, count, interval, number, percent
from accordant.slates.evaluation.front import dominance
from accordant.slates.page.reading import SlateReading
from accordant.slates.result import Change, TrialResult

PLUS = "+"
BETTER = {True: "better", False: "worse", None: "no change shown"}  # of a difference with an interval
DOES = {True: "improves", False: "worsens", None: "cannot be shown to change"}
NAMED = 3  # rules that a sentence names


@dataclass(frozen=True)
class Finding:
    """One of the boxes of the answer: title, number with its interval, meaning, class, and a sentence."""

    title: str
    value: str
    limits: str
    word: str
    css: str
    sentence: str


def served_sentences(reading: SlateReading) -> list[str]:
    """Return how many requests were served, and with what."""
    content, asked = reading.content, reading.result.requests
    days = "1 day" if asked.days == 1 else f"{count(asked.days)} days"
    users = "1 user" if asked.users == 1 else f"{count(asked.users)} users"
    rules = len(reading.lines)
    cold = {0: "No request is", asked.n: "All requests are"}.get(asked.cold, f"{count(asked.cold)} requests are")
    return [
        f"{count(asked.n)} request{'s' * (asked.n != 1)} of {users} on {days} were served.",
        f"Each list holds up to {content['k']} of {count(len(content['items']))} items.",
        f"{count(rules)} rules answered the same requests." if rules != 1 else "One rule answered them.",
        f"{cold} by users without a past.",
    ]


def trial_findings(reading: SlateReading) -> list[Finding]:
    """Return what the trial found: gain, price and dominance, in this order; empty without a trial."""
    trial = reading.result.trial
    if trial is None:
        return []
    findings = [
        _changed(reading, trial, trial.gain_of, trial.gain),
        _changed(reading, trial, trial.price_of, trial.price),
    ]
    return [*findings, _standing(trial, reading.result.level)]


def no_trial_reason(reading: SlateReading) -> str:
    """Return why there is no trial."""
    if reading.result.user is None:
        return "Nobody is the user here, so no list of the user alone is there to compare with, and no rule was tried."
    return (
        "No rule was tried on requests that took no part in choosing it: too few requests, or no rule with a score. "
        "Every number below may look too good for whatever comes first."
    )


def headline(reading: SlateReading, trial: TrialResult) -> str:
    """Return what the trial found in one sentence, the loss beside the gain."""
    gain, cost = trial.gain.better, trial.price.better
    joined = "and" if gain == cost else "but"
    both = (
        f"There it {DOES[gain]} {reading.called(trial.gain_of)} against {trial.reference}, {joined} {DOES[cost]} "
        f"{reading.called(trial.price_of)}"
    )
    return f"{both}. {dominance(trial.dominated_by, trial.dominators, trial.on_front)}"


def user_gain_sentence(user: str) -> str:
    """Return why the user may be better off than with the list of the user alone."""
    return (
        f"Even {user} attains more than with lists that are chosen for {user} alone. Such lists are best one by one, "
        "but what they fill or use up is missing for later requests."
    )


def front_sentence(reading: SlateReading) -> str:
    """Return which rules no other dominates, each with the share of resamples in which none does."""
    front = reading.result.front
    free = [line for line in reading.lines if line.standing.on_front]
    names = [f"{line.name}{_of_resamples(line.standing.probability)}" for line in free]
    if not names:
        return f"No rule has a value in {reading.called_all(front.axes)}, so none is compared."
    shares = "" if free[0].standing.probability is None else " (in brackets: in how many resamples none does)"
    return f"On all requests no rule dominates {_several(names)} in {reading.called_all(front.axes)}{shares}."


def first_sentence(reading: SlateReading) -> str | None:
    """Return which rule has the highest score; None if none has one."""
    best = next((line for line in reading.lines if "first" in line.roles), None)
    if best is None:
        return None
    score = best.row.score
    told = f"{number(score.value)} {interval(score.low, score.high)}".strip()
    return f"On all requests {best.name} has the highest composite score, {told}."


def meaning(difference: Change) -> str:
    """Return whether a difference is for the better."""
    return NOT_DEFINED if difference.value is None else BETTER[difference.better]


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference with its sign."""
    told = number(value, digits)
    return PLUS + told if value is not None and value > 0 and any(digit in told for digit in "123456789") else told


def span(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return the interval of a difference, with signs."""
    return "" if low is None or high is None else f"[{signed(low, digits)}, {signed(high, digits)}]"


def _changed(reading: SlateReading, trial: TrialResult, label: str, difference: Change) -> Finding:
    """Return a difference of the trial."""
    word, called = meaning(difference), reading.called(label)
    css = {"better": "better", "worse": "worse"}.get(word, "open")
    sentence = f"Change of “{label}” against {trial.reference} on the later {count(trial.later)} requests."
    title = called[0].upper() + called[1:]
    return Finding(title, signed(difference.value), span(difference.low, difference.high), word, css, sentence)


def _standing(trial: TrialResult, level: float) -> Finding:
    """Return whether another rule is at least as good in both and better in one, and how sure that is."""
    free, share = not trial.dominated_by, trial.on_front
    sure = "" if share is None else f"It is not dominated in {percent(share)} of resamples.{_often(trial)}"
    value, limits = ("not dominated", "") if free else ("dominated", f"by {_several(list(trial.dominated_by))}")
    if share is not None and (share < level if free else share > 1 - level):
        return Finding("Dominance", value, limits, "may be chance: resamples disagree", "open", sure)
    if free:
        return Finding("Dominance", value, limits, "no rule is as good in both and better in one", "better", sure)
    return Finding("Dominance", value, limits, "another rule is as good in both and better in one", "worse", sure)


def _often(row: TrialResult) -> str:
    """Name the rules that dominate one in more than a few resamples, with their shares."""
    named = [f"{rule} dominates it in {percent(share)}" for rule, share in row.dominators.items()]
    return f" {_several(named)}." if named else ""


def _of_resamples(share: float | None) -> str:
    return "" if share is None else f" ({percent(share)})"


def _several(names: list[str]) -> str:
    """Return names, the first few where there are many."""
    if len(names) <= NAMED + 1:
        return listed(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} others"
