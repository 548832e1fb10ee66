"""``accordant slate RUN``: lists of a finished run's actions, by its own models, added to it as a section."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from accordant.policy import ParticipatoryPolicy
from accordant.runs import read_run
from accordant.runs.untouched_rows import untouched_rows
from accordant.slates.options import SlateOptions
from accordant.slates.result import SlateResult
from accordant.slates.section import open_slates

QUICK = ("--k", "1", "--resamples", "100", "--strategies", "maximin")


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    for name in ("offered", "lists", "more"):
        shutil.rmtree(case_folder / name, ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "offered")


def test_lists_stand_on_the_expected_rewards_of_the_run(monkeypatch, run, case_folder):
    def learn(*_):
        raise AssertionError("something was learned again")

    monkeypatch.setattr(ParticipatoryPolicy, "fit_log", learn)
    opened = open_slates(run, SlateOptions(data=str(case_folder)))
    untouched = untouched_rows(read_run(run), str(case_folder))
    expected = opened.run.policy.expected_rewards(untouched.data.log.contexts)
    market = opened.source.market
    assert market.stakeholders == expected.stakeholders and market.catalogue.items == expected.actions
    np.testing.assert_array_equal(market.expected.expected.values, expected.values)
    taken = np.bincount(untouched.training.log.actions, minlength=2)
    np.testing.assert_array_equal(market.catalogue.popularity, taken)


@pytest.mark.long
def test_lists_are_added_to_the_run_and_reported(accordant, run, case_folder):
    done = accordant("slate", "offered", *QUICK, "--out", "lists")
    assert done.returncode == 0, done.stderr
    assert "added to the run: sections/0001-slates.json" in done.stdout
    (link,) = read_run(run).links
    section = link.section()
    assert isinstance(section, SlateResult)
    written = json.loads((case_folder / "lists" / "slates.json").read_text(encoding="utf-8"))
    assert link.envelope.result == written
    page = (case_folder / "lists" / "report.html").read_text(encoding="utf-8")
    assert "accordant slate offered --strategies maximin --k 1" in page
    assert accordant("report", "offered", "--out", "with.html").returncode == 0
    assert section.words.split(",")[0] in (case_folder / "with.html").read_text(encoding="utf-8")
    again = accordant("slate", "offered", *QUICK, "--no-add", "--out", "more")
    assert again.returncode == 0 and "added to the run" not in again.stdout
    assert len(read_run(run).links) == 1


def test_a_case_takes_no_section(accordant):
    done = accordant("slate", "tourism-city", *QUICK, "--no-add", "--out", "never")
    assert done.returncode == 2
    assert "--no-add has no effect on tourism-city, which is no finished run" in done.stderr
