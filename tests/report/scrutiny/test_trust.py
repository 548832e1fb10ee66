"""How far decisions can be trusted: sentences, rows and ranges on numbers worked out by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from accordant.certificates.survey import Survey
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny.trust import ANYTHING, trust


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]
RADII = (0.0, 0.05, 0.1)


def surveyed(record: Json, radii: dict[tuple[str, ...], list[float]], *, exact: bool = True) -> Json:
    values = np.array(list(radii.values())).reshape(len(radii), -1)
    record["scrutiny"]["certificates"] = Survey("utilitarian", tuple(radii), values, exact, "by hand").to_json(RADII)
    return record


@pytest.fixture
def record(records: dict[str, Json]) -> Json:
    return surveyed(
        records["scrutinised"],
        {("Lender",): [0.04, 0.2, 0.2, 0.2], ("Borrower",): [0.2] * 4, ("Lender", "Borrower"): [0.01, 0.02, 0.07, 0.2]},
    )


def said(record: Json) -> list[str]:
    return [each.striptags() for each in trust(Reading.of(record)).sentences]


def test_the_worst_single_stakeholder_and_everybody_are_named(record: Json) -> None:
    assert said(record) == [
        "If only Lender misreported its rewards by up to 0.05, 75% of the 4 decisions would stay for certain; if everybody did, 50%.",
        "Half of the decisions withstand misreports of everybody together up to 0.020, nine in ten up to 0.010.",
    ]


def test_a_sound_certificate_says_at_least(record: Json) -> None:
    record["scrutiny"]["certificates"]["exact"] = False
    assert "at least 75% of the 4 decisions" in said(record)[0]
    assert "if everybody did, at least 50%." in said(record)[0]
    assert trust(Reading.of(record)).certainty.startswith("sound")


def test_who_cannot_be_moved_is_said_in_one_sentence(record: Json) -> None:
    never = dict.fromkeys((("Lender",), ("Borrower",), ("Lender", "Borrower")), [np.inf] * 4)
    found = trust(Reading.of(surveyed(record, never)))
    assert said(record) == ["No misreport by anybody, however large, changes a decision of utilitarian."]
    assert set(found.coalitions[0].quantiles.values()) == {ANYTHING}
    assert [each.never for each in found.coalitions] == [1.0] * 3
    assert "any δ" in rendered(record).replace("\N{NO-BREAK SPACE}", " ")


def test_half_of_the_decisions_may_withstand_anything(record: Json) -> None:
    surveyed(record, {("Lender",): [0.01, np.inf, np.inf]})
    assert said(record)[1] == "At least half of the decisions withstand any misreport of Lender."


def test_one_stakeholder_is_not_called_everybody(record: Json) -> None:
    surveyed(record, {("Lender",): [0.01, 0.2]})
    assert (
        said(record)[0]
        == "If Lender misreported its rewards by up to 0.05, 50% of the 2 decisions would stay for certain."
    )
    assert [each.name for each in trust(Reading.of(record)).coalitions] == ["Lender"]


def test_without_rows_nothing_is_certified(record: Json) -> None:
    surveyed(record, {("Lender",): [], ("Borrower",): [], ("Lender", "Borrower"): []})
    for each in record["scrutiny"]["by_strategy"]:
        each["everybody"] = each["worst_single"] = [None] * 3
    found = trust(Reading.of(record))
    assert said(record) == ["There are no untouched rows, so there is nothing to certify."]
    assert found.chart is None
    assert not re.search(r"\bnan\b", rendered(record))


def test_the_table_has_single_stakeholders_the_worst_pair_and_everybody(records: dict[str, Json]) -> None:
    names = ("A", "B", "C")
    radii = {(name,): [0.2] for name in names}
    radii |= {("A", "B"): [0.08], ("A", "C"): [0.03], ("B", "C"): [0.08], names: [0.01]}
    found = trust(Reading.of(surveyed(records["scrutinised"], radii)))
    assert [each.name for each in found.coalitions] == ["A", "B", "C", "A and C", "Everybody together"]
    assert [each.members for each in found.others] == [("A", "B"), ("B", "C")]
    assert found.deltas == ((1, 0.05), (2, 0.1))
    assert found.collusion == ((1, (0.0, 0.0)), (2, (1.0, 1.0)), (3, (0.0, 0.0)), (0, (0.0, 0.0)))[1:2]


def test_a_drawing_ends_where_nothing_is_left(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    deltas = [k / 100 for k in range(26)]
    radii = np.array([[0.08] * 4, [0.03] * 4, [0.02] * 4])
    coalitions = (("Lender",), ("Borrower",), ("Lender", "Borrower"))
    record["scrutiny"]["certificates"] = Survey("u", coalitions, radii, True, "by hand").to_json(deltas)
    assert trust(Reading.of(record)).cut == 0.08
    radii[0] = 0.3
    record["scrutiny"]["certificates"] = Survey("u", coalitions, radii, True, "by hand").to_json(deltas)
    assert trust(Reading.of(record)).cut is None


def test_of_many_stakeholders_those_who_can_change_most_are_drawn(records: dict[str, Json]) -> None:
    found = trust(Reading.of(records["scrutinised, ten stakeholders"]))
    assert found.undrawn == 10 - 6
    assert found.chart is not None
    assert found.chart.count('class="curve') == 2 * 8


def test_every_strategy_says_how_sure_its_shares_are(record: Json) -> None:
    found = trust(Reading.of(record)).rivals
    assert [each.certainty.split(":")[0] for each in found] == ["exact", "sound", "exact", "sound", "exact"]
    assert found[0].line is not None
    record["scrutiny"]["by_strategy"][0]["strategy"] = "of another run"
    assert trust(Reading.of(record)).rivals[0].line is None
    assert "of another run" in rendered(record)


def test_share_of_decisions_in_the_page_is_that_of_the_record(record: Json) -> None:
    row = re.search(r'<tr><th scope="row" class="strategy">Lender</th>(.*?)</tr>', rendered(record))
    assert row is not None
    cells = re.findall(r'<td class="number">(.*?)</td>', row[1])
    assert cells == ["75%", "75%", "0%", "0.040", "0.040", "0.200", "0.200"]
