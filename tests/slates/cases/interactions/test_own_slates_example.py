"""The invented library: its data are what the script makes, and the case runs to a page, as the how-to says."""

from __future__ import annotations

import re

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from accordant.slates.cases.interactions.loader import interactions
from accordant.slates.case import read_slates
from accordant.naming import Named
from accordant.slates.options import SlateOptions
from accordant.slates import section
from accordant.slates.section import open_slates, show_slates
from accordant.slates.measures import measures
from accordant.slates.market import on_one_scale, serve

LIBRARY = Path(__file__).parents[4] / "examples" / "own_slates"


@pytest.mark.long
def test_the_data_are_what_the_script_makes(tmp_path):
    copy = tmp_path / "make_data.py"
    copy.write_text((LIBRARY / "make_data.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, "-W", "error", str(copy)], check=True, timeout=40)
    for name in ("books.csv", "loans.csv"):
        assert (tmp_path / name).read_bytes() == (LIBRARY / name).read_bytes()


def test_what_the_how_to_says_of_the_data():
    declared = read_slates(LIBRARY / "library.yaml")[0].slates
    demand = interactions(LIBRARY / declared.file, 0, **declared.parameters)
    assert len(demand.catalogue.items) == 60 and demand.facts["learned_from"] == 1657
    assert demand.facts["requests"] == 208 and demand.facts["cold_requests"] == 2
    assert demand.facts["taken_again"] == 0 and demand.facts["uncategorised_items"] == 2
    assert len(demand.catalogue.providers) == 4 and demand.catalogue.capacity.max() == 3.0


@pytest.fixture(scope="module")
def found():
    rules = (Named("nash_slate"), Named("seq_pav"))
    return show_slates(
        open_slates(LIBRARY / "library.yaml", SlateOptions(requests=16, resamples=100, strategies=rules))
    )


@pytest.mark.long
def test_the_case_runs(found):
    content = found.to_json()
    assert content["source"]["label"].startswith("loans.csv (sha256 ") and not content["source"]["simulated"]
    assert {"nash_slate", "seq_pav", "stakeholder:Reader", "random_slate"} <= set(found.served)
    assert found.slates_csv().count("\n") == 1 + 5 * sum(s.slates.n_users for s in found.served.values())
    assert [each["floor"] for each in content["stakeholders"]] == [0.5, None, None]
    for label in ("nash_slate", "seq_pav"):  # the hard floor of the reader holds in every list
        assert (found.served[label].gains.attained[0] >= 0.5 - 1e-9).all()
    assert set(found.verdicts) == set(found.served)


@pytest.mark.long
def test_the_table_of_the_how_to():
    text = (LIBRARY.parents[1] / "docs" / "how-to" / "bring-your-own-slates.md").read_text(encoding="utf-8")
    page = re.sub(r"<!--.*?-->", "", text)
    opened = open_slates(LIBRARY / "library.yaml", SlateOptions())
    every = on_one_scale({label: serve(rule, opened.source.market, opened.k) for label, rule in opened.rules.items()})
    made = [
        measures.create("worst_off"),
        measures.create("attained", {"stakeholder": "Reader"}),
        measures.create("ndcg"),
    ]
    for label in ("utilitarian_slate", "dynamic", "stakeholder:Reader"):
        assert f"| `{label}` | " + " | ".join(f"{each.of(every[label]):.3f}" for each in made) + " |" in page


@pytest.mark.long
def test_nobody_is_shown_a_book_that_they_had(found):
    for served in found.served.values():
        assert not (served.slates.shown() & (served.history > 0)).any()


@pytest.mark.long
@pytest.mark.parametrize("user", ["Reader", None])
def test_prices_are_told_against_the_user_s_own_list_if_there_is_a_user(tmp_path, monkeypatch, user):
    monkeypatch.setattr(section, "findings_of_all", lambda served, *_: {label: label for label in served})
    monkeypatch.setattr(section, "_consumption", lambda *_: None)
    declared = yaml.safe_load((LIBRARY / "library.yaml").read_text(encoding="utf-8"))
    if user is None:
        del declared["slates"]["user"]
    file = tmp_path / "library.yaml"
    file.write_text(yaml.safe_dump(declared), encoding="utf-8")
    for name in ("books.csv", "loans.csv"):
        (tmp_path / name).symlink_to(LIBRARY / name)
    shown = show_slates(open_slates(file, SlateOptions(requests=2, resamples=20, strategies=(Named("borda"),))))
    if user is None:
        assert shown.prices is None and shown.trial is None
        assert shown.front.axes == ("worst off",)
        return
    assert shown.prices.reference == "stakeholder:Reader"
    assert set(shown.prices.rules) == set(shown.served) - {"stakeholder:Reader"}
    assert shown.trial.reference == "stakeholder:Reader" and shown.front.axes == ("reader attained", "worst off")
