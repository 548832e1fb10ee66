"""`accordant slate`: what it writes, and what it refuses before or instead of writing."""

import csv
import json

import pytest

from accordant.slates.terminal import _interval, _number, slate_options
from accordant.compute import compute
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.slates.run import RECORD, SLATES, write_result
from accordant.slates.options import SlateOptions
from accordant.slates.section import open_slates, show_slates

FEW = SlateOptions(k=1, requests=12, resamples=100, strategies=(Named("borda"),))
NOBODY = {"base_url": None, "replay": None, "agents": None}


def options(**changes):
    """Return what the command makes of options, one of them changed."""
    given = {
        "strategies": "borda", "capacity": [], "rankings": None, "model": NOBODY, "threshold": 0.5,
        "instead": "declared",
    }  # fmt: skip
    return slate_options(**(given | changes))


@pytest.fixture(scope="module")
def shortest():
    """Lists of one item for a dozen requests: much is not defined for them."""
    return show_slates(open_slates("tourism-city", FEW))


@pytest.mark.long
@pytest.mark.usefixtures("alone")
def test_lists_are_the_same_wherever_rules_serve(shortest):
    for where in ("here", "threads:2", "processes:2"):
        with compute(where):
            found = show_slates(open_slates("tourism-city", FEW))
        assert json.dumps(found.to_json()) == json.dumps(shortest.to_json()), where
        assert found.slates_csv() == shortest.slates_csv()


@pytest.mark.long
def test_lists_of_one_item_are_written_whole(shortest, tmp_path):
    folder = write_result(shortest, "<!doctype html>", tmp_path / "made")
    content = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    rows = list(csv.DictReader((folder / SLATES).read_text(encoding="utf-8").splitlines()))
    assert {row["rule"] for row in rows} == {row["strategy"] for row in content["leaderboard"]}
    assert len(rows) == 12 * len(content["leaderboard"]) and {row["place"] for row in rows} == {"1"}


@pytest.mark.long
def test_nothing_is_left_where_nothing_can_be_written(shortest, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="below cannot be written: .*file is not a folder"):
        write_result(shortest, "<!doctype html>", taken / "below")
    assert taken.read_text(encoding="utf-8") == ""


@pytest.mark.long
def test_a_note_says_that_only_some_requests_are_served(shortest):
    assert "Of 280 requests the first 12 are served" in shortest.opened.source.notes[0]
    assert len(shortest.opened.known) == 280


def test_options_without_effect_are_refused():
    with pytest.raises(InputError, match="no effect without --rankings, --llm or --replay"):
        options(threshold=0.3)
    with pytest.raises(UnknownNameError, match="nothing.*declared"):
        options(instead="nothing")
    with pytest.raises(InputError, match="ITEM=VISITS"):
        options(capacity=["poi01"])
    assert options(capacity=["poi01=3"]).capacity == {"poi01": 3.0}


@pytest.mark.parametrize(("value", "words"), [(None, "-"), (0.0, "0.000"), (0.12345, "0.123")])
def test_what_is_not_defined_is_no_number(value, words):
    assert _number(value, 3) == words
    estimate = {"value": value, "low": None, "high": None}
    assert _interval(estimate) == ("not defined" if value is None else words)
