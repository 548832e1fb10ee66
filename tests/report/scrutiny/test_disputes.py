"""Whether conflicts are real: every verdict has words, and pairs say what these rest on."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.evaluation.conflict import VERDICTS
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny.disputes import MEANINGS, disputes


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]


def found(record: Json) -> dict[str, Any]:
    return {pair.verdict: pair for pair in disputes(Reading.of(record)).pairs}


def test_every_verdict_has_words() -> None:
    assert set(MEANINGS) == set(VERDICTS)


def test_pairs_are_counted_and_those_that_ask_for_something_come_first(records: dict[str, Json]) -> None:
    said = disputes(Reading.of(records["scrutinised, many metrics"]))
    assert said.summary.startswith(
        "91 pairs of metrics with weight: missing strategy for 10, a lottery improves for 10,"
    )
    order = [list(MEANINGS).index(pair.verdict) for pair in said.pairs]
    assert order == sorted(order)
    assert [word for word, _ in said.verdicts] == list(MEANINGS)


def test_a_pair_says_what_its_verdict_rests_on(records: dict[str, Json]) -> None:
    pairs = found(records["scrutinised, many metrics"])
    missing = pairs["missing strategy"]
    assert missing.costs[0].startswith(f"utilitarian, best in {missing.metrics[0]}, is behind by 0.250 in ")
    assert missing.costs[1].startswith(f"maximin, best in {missing.metrics[1]}, is behind by 0.125 [0.062, 0.188] in")
    assert missing.concessions == (
        ("candidates", "100%"), ("lotteries between two", "50%"), ("other rules", "better than both"),
        ("with hindsight", "0% to 25%"),
    )  # fmt: skip
    assert missing.grounds == ("one candidate is best in both in 12.5% of resamples",)
    assert len(missing.improvements) == 1
    assert "0.5 a + 0.5 b instead of utilitarian: " in missing.improvements[0]
    assert "+0.250 [0.125, 0.375]" in missing.improvements[0]
    assert pairs["undecided"].improvements == ()
    assert len(pairs["undecided"].attempts) == 1
    assert pairs["same direction"].costs == ("utilitarian is best in both",)
    assert pairs["no difference"].costs == ("not defined",)
    assert pairs["no difference"].reasons == ("not known with hindsight",)


def test_rules_say_how_far_they_pass_lotteries(records: dict[str, Json]) -> None:
    record = records["scrutinised, many metrics"]
    pair = next(each for each in record["scrutiny"]["conflict"]["pairs"] if each["verdict"] == "missing strategy")
    (found,) = pair["improvements"]
    assert found["beyond"] is None
    found |= {"beyond": {"value": 0.09, "low": 0.05, "high": 0.137}, "missing": True}
    pair["concessions"]["hindsight_interval"] = [-0.1, 0.3]
    words = disputes(Reading.of(record)).pairs[0]
    assert words.improvements[0].endswith("; beyond all lotteries by 9% [5%, 13.7%]")
    assert words.concessions[-1] == ("with hindsight, over resamples", "better than both to 30%")
    found["compromise"] = True
    said = disputes(Reading.of(record)).pairs[0].improvements[0]
    assert said.endswith("; besides the candidates it lowers the concession of lotteries by 9% [5%, 13.7%]")


@pytest.mark.parametrize(("name", "pairs"), [("one metric", 0), ("two metrics", 1)])
def test_few_metrics_have_few_pairs(records: dict[str, Json], name: str, pairs: int) -> None:
    record = records[f"scrutinised, {name}"]
    said = disputes(Reading.of(record))
    assert len(said.pairs) == pairs
    none = "Fewer than two metrics have weight, so there is no pair that could be in conflict."
    assert (said.summary == none) == (pairs == 0)
    assert ("Pairs of metrics with weight" in rendered(record)) == (pairs > 0)


def test_what_was_tried_leaves_out_what_was_not(records: dict[str, Json]) -> None:
    said = disputes(Reading.of(records["scrutinised"])).tried
    assert said == (
        "the candidates, the utilitarian rule under 10 stakeholder weights and 60 random rules that only test whether "
        "metrics can come apart"
    )
