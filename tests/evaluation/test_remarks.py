"""Sentences about a leaderboard: true of the lines that they name, and each said once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordant.evaluation.leaderboard import LeaderboardRow, MetricCell, MetricColumn
from accordant.evaluation.overlap import Overlap
from accordant.evaluation.remarks import remarks
from accordant.statistics import Estimate


def line(name, value, *, unsupported=0.0, effective=80.0, reason="", among_best=None, alike=None):
    """A candidate without metrics."""
    score = Estimate(value, reason=reason) if reason else Estimate(value, value - 0.1, value + 0.1, 0.95, 100.0)
    overlap = Overlap(unsupported, effective)
    return LeaderboardRow(name, "compromise", True, score, among_best, alike, 0.0, False, {}, overlap)


def said(*rows, resampled=True):
    return remarks(rows, (), None, {row.strategy: "a" for row in rows}, 100, resampled=resampled)


OPEN = "the log does not support {} of its decisions"
WITHHELD = [
    line("first", 0.7, unsupported=0.18, reason=OPEN.format("18%")),
    line("second", 0.6, unsupported=0.33, reason=OPEN.format("33%")),
    line("like second", 0.6, unsupported=0.34, reason=OPEN.format("34%"), alike="second"),
]
SURE = [line("known", 0.5, among_best=True), line("level", 0.5, among_best=True), line("worse", 0.4, among_best=False)]


def test_what_the_log_does_not_hold_is_one_sentence_and_does_not_contradict_itself():
    wide = line("wide", 0.65, unsupported=0.1)
    found = said(WITHHELD[0], wide, *WITHHELD[1:], *SURE)
    about = [each for each in found if "log" in each]
    assert about == [
        "The log hardly holds what these decide: first (18% of its decisions) and second (33% of its decisions). Their "
        "scores have no interval, and they are not compared.",
        "The log hardly holds what these decide: wide (10% of its decisions). Their intervals leave room for whatever "
        "could have followed there, and they are not compared.",
    ]
    assert not any("no interval and are not compared" in each for each in found)


def test_the_best_of_those_compared_is_not_called_the_best():
    compared = "with 95% confidence, all of them compared together"
    assert f"Of those compared the best is among known and level ({compared}); shown to be worse: worse." in said(
        *WITHHELD, *SURE
    )
    assert f"Of those compared known is the best ({compared})." in said(*WITHHELD, SURE[0], SURE[2])
    assert (
        "The best candidate is among known and level (with 95% confidence, all candidates compared together); "
        in (said(*SURE)[0])
    )


def test_other_reasons_are_told():
    scarce = line(
        "rare", 0.7, effective=4.0, reason="the logged cases that match its decisions weigh no more than 4 cases"
    )
    assert any(
        "The scores of rare have no interval and are not compared: the logged cases" in each for each in said(scarce)
    )


@pytest.mark.parametrize("resampled", [True, False])
def test_without_resamples_nothing_is_said_of_intervals(resampled):
    found = " ".join(said(line("wide", 0.65, unsupported=0.1), resampled=resampled))
    assert ("Their intervals" in found) == resampled


@pytest.mark.parametrize("n", [1, 49, 50])
def test_few_contexts_support_no_decision(n):
    first = remarks([line("known", 0.5)], (), None, {"known": None}, n)[:1]
    few = f"There are only {n} contexts: whatever follows illustrates the method and supports no decision."
    assert (first == (few,)) == (n < 50)


ALWAYS = replace(line("constant:a", 0.5, among_best=True), kind="baseline")
GAIN = "on this composite score deciding case by case shows no gain."


@pytest.mark.parametrize(
    ("constant", "rivals", "told"),
    [
        (ALWAYS, [line("other", 0.4)], f", and no strategy scores higher: {GAIN}"),
        (ALWAYS, [line("other", 0.5)], f", and no strategy scores higher: {GAIN}"),
        (ALWAYS, [replace(line("other", 0.6), below_best_constant=True)], f", and no strategy scores higher: {GAIN}"),
        (ALWAYS, [line("other", 0.6)], None),
        (ALWAYS, [line("known", 0.6), replace(line("low", 0.4), below_best_constant=True)],
         ", which cannot be told from the best; scored lower: low."),
        (replace(ALWAYS, among_best=False), [line("known", 0.6), replace(line("low", 0.4), below_best_constant=True)],
         "; scored lower: low."),
        (replace(ALWAYS, score=replace(ALWAYS.score, reason="why")), [line("other", 0.4)], None),
        (ALWAYS, [replace(line("other", 0.4), candidate=False)], None),
        (ALWAYS, [line("other", None, reason="why")], None),
        (ALWAYS, [replace(line("constant:b", 0.4), kind="baseline")], None),
    ],
)  # fmt: skip
def test_what_is_said_against_the_same_action_for_everybody(constant, rivals, told):
    always = {"constant:a": "a", "constant:b": "b"} | {row.strategy: None for row in rivals if row.kind != "baseline"}
    found = [text for text in remarks([*rivals, constant], (), "constant:a", always, 100) if text.startswith("Always")]
    assert found == ([] if told is None else [f"Always a scores {constant.score}{told}"])


def test_a_mixed_baseline_is_a_rival_of_constant_actions_and_without_one_nothing_is_said():
    mixed = replace(line("random", 0.4), kind="baseline")
    assert f"Always a scores {ALWAYS.score}, and no strategy" in " ".join(
        remarks([ALWAYS, mixed], (), "constant:a", {"constant:a": "a", "random": None}, 100)
    )
    assert "Always" not in " ".join(remarks([ALWAYS, mixed], (), None, {"constant:a": "a", "random": None}, 100))


def test_who_is_among_the_best():
    sure = "(with 95% confidence, all candidates compared together)"
    level = [line("one", 0.5, among_best=True), line("two", 0.5, among_best=True)]
    assert said(*level) == (f"The best candidate is among one and two {sure}; nobody is shown to be worse.",)
    assert said(level[0]) == ()
    assert said(level[0], line("worse", 0.4, among_best=False)) == (f"one is the best candidate {sure}.",)
    assert said(*level, line("like two", 0.5, alike="two"))[0].startswith("The best candidate is among one and two (")
    plain = [replace(row, score=Estimate(0.5)) for row in level]
    assert said(*plain) == ("The best candidate is among one and two; nobody is shown to be worse.",)
    assert said(line("none", None, reason="why")) == ("No candidate is ranked.",)
    assert said(replace(line("reference", 0.9), candidate=False)) == ("No candidate is ranked.",)


def test_lines_that_decide_alike_are_told_with_whoever_stands_for_them():
    rows = [line("one", 0.5), line("like one", 0.5, alike="one"), line("as one", 0.5, alike="one"),
            line("two", 0.4), line("like two", 0.4, alike="two")]  # fmt: skip
    assert said(*rows)[-1] == (
        "Decide alike in at least 99% of contexts, and are compared as one: like one and as one as one; like two as two."
    )


def column(label, weight, influence=0.0, *, uninformative=False):
    return MetricColumn(label, "max", weight, uninformative, "what it measures", influence)


def test_which_metrics_decide():
    columns = [column("Little", 0.25, 0.09), column("Some", 0.25, 0.1), column("Most", 0.5, 0.81),
               column("Silent", 0.125, uninformative=True), column("Ignored", 0.0, 0.9, uninformative=True)]  # fmt: skip
    row = replace(line("one", 0.5), metrics={each.label: MetricCell(Estimate(0.5), 0.5, 100.0) for each in columns})
    assert remarks([row], columns, None, {"one": None}, 100) == (
        "The candidates differ by no more than noise on Silent (weight 0.12).",
        "Differences between scores come from Most (81%) and Some (10%).",
    )
    assert remarks([row], columns[1:3], None, {"one": None}, 100) == (
        "Differences between scores come from Most (81%) and Some (10%).",
    )
    assert remarks([row], columns[2:3], None, {"one": None}, 100) == ()


def test_why_strategies_are_unranked():
    missing = {
        "Gap": MetricCell(Estimate(None, reason="nobody"), None, 0.0, "nobody"),
        "Other": MetricCell(Estimate(0.5), 0.5, 100.0),
    }
    columns = [column("Gap", 0.5), column("Other", 0.5)]
    rows = [replace(line(name, None, reason="nobody"), metrics=missing) for name in ("one", "two")]
    always = {"one": None, "two": None}
    assert remarks(rows, columns, None, always, 100)[-1] == "one and two are unranked: Gap is not defined (nobody)."
    assert remarks(rows[:1], columns, None, always, 100)[-1] == "one is unranked: Gap is not defined (nobody)."
    assert not any("unranked" in text for text in remarks(rows, [column("Gap", 0.0), columns[1]], None, always, 100))


def test_scores_that_some_resamples_leave_undefined_are_told_from_more_than_one_in_a_hundred_on():
    rows = [replace(line(name, 0.5), score=Estimate(0.5, 0.4, 0.6, 0.95, 100.0, share))
            for name, share in (("often", 0.25), ("sometimes", 0.02), ("hardly", 0.01), ("never", None))]  # fmt: skip
    assert said(*rows) == (
        "Not defined on some resamples, which their intervals leave out: the scores of often (25%) and sometimes (2%).",
    )
