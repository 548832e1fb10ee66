"""Results in cells of a notebook: escaped, bound to their block, small, honest about what they leave out."""

from __future__ import annotations

import html.parser
import re
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Survey, Threat, certify, survey
from accordant.decisions import Decisions
from accordant.evaluation import group_table
from accordant.evaluation.stakeholder_gains import stakeholder_gains
from accordant.evaluation.weighting import weigh_leaderboard
from accordant.explanation import explain
from accordant.faces import Displayed, representations
from accordant.report.notebook.scoped_style import dark_rules, scoped
from accordant.statistics import Estimate
from accordant.utilities import ExpectedRewards

HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}\x1b[31m\u202e"


class Texts(html.parser.HTMLParser):
    """Collects tags, texts outside of styles, and attributes."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.texts, self.attributes, self.inside = [], [], [], ""
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside != "style":
            self.texts.append(data.strip())

    @property
    def text(self):
        return " ".join(filter(None, self.texts))


def shown(result):
    return Texts(result._repr_html_())


@pytest.fixture(scope="module")
def expected():
    values = np.random.default_rng(0).random((3, 3, 40)).round(3)
    return ExpectedRewards(
        values, stakeholders=["Bank", "Applicant", HOSTILE], actions=["grant", "deny", HOSTILE + "!"]
    )


@pytest.fixture(scope="module")
def results(expected, loans_policy, loans):
    """One of each, with hostile names where names are free."""
    rule = strategies.create("maximin")
    board, evidence = loans_policy.leaderboard_, loans_policy.evidence_
    decided = loans_policy.decide_on(evidence)
    generator = np.random.default_rng(0)
    return {
        "ExpectedRewards": expected,
        "Decisions": rule(expected),
        "Recommendations": loans_policy.recommend(loans.columns),
        "Estimate": Estimate(0.5, 0.4, 0.6, 0.95, 20, reason=HOSTILE),
        "Leaderboard": board,
        "GroupTable": group_table(decided, evidence, ["sex"]),
        "StakeholderGains": stakeholder_gains(decided, "maximin", "utilitarian", evidence, generator=generator),
        "Weighing": weigh_leaderboard(board, generator=generator),
        "Certificate": certify(rule, expected, Threat(0.05, (HOSTILE,))),
        "Survey": survey(rule, expected),
        "Explanation": explain(rule, expected, rows=[3])[0],
    }


def test_every_representation_is_tried(results):
    assert set(representations.names()) == {*results, "Slates", "Run"}  # these two have tests of their own


def test_nothing_of_a_name_becomes_markup_and_nothing_is_loaded(results):
    for name, result in results.items():
        found = shown(result)
        assert not {"script", "link", "img", "iframe", "a"} & set(found.tags), name
        assert not [key for key, _ in found.attributes if key.startswith("on") or key in ("id", "src", "href")], name
        source = result._repr_html_()
        assert "\x1b" not in source and "\u202e" not in source and "49" not in found.text.split("7*7")[-1][:3], name
        assert "url(" not in source and "@import" not in source, name


def test_styles_reach_only_the_block(results):
    for name, result in results.items():
        style = re.search(r"<style>(.*?)</style>", result._repr_html_(), re.DOTALL)[1]
        for head in re.findall(r"([^{}]+)\{", style):
            if not head.strip().startswith("@"):
                for selector in re.split(r",(?![^()]*\))", head):
                    assert ".accordant" in selector, (name, selector)
        assert style.count("{") == style.count("}")


def test_cells_are_small(results):
    for name, result in results.items():
        assert len(result._repr_html_()) < 40_000, name


def test_numbers_of_one_context_are_those_of_e():
    expected = ExpectedRewards([[0.25, 0.5], [0.75, 1.0]], stakeholders=["a", "b"], actions=["x", "y"])
    assert re.findall(r"\d\.\d{3}", shown(expected).text) == ["0.250", "0.500", "0.750", "1.000"]


def test_means_of_many_contexts_and_what_is_left_out(expected):
    text = shown(expected).text
    for value in expected.values.mean(axis=2).ravel():
        assert f"{value:.3f}" in text
    assert "and 28 more contexts of 40" in text
    wide = ExpectedRewards(
        np.full((20, 30, 2), 0.5), stakeholders=[f"s{i}" for i in range(20)], actions=[f"a{i}" for i in range(30)]
    )
    assert "8 more stakeholders of 20" in shown(wide).text and "22 more actions of 30" in shown(wide).text


def test_no_contexts_are_no_error():
    expected = ExpectedRewards(np.empty((1, 2, 0)), stakeholders=["a"], actions=["x", "y"])
    nobody = Decisions("r", ("x",), np.array([], dtype=np.intp), np.array([], dtype=bool))
    assert "0 contexts" in shown(expected).text and "0 decisions" in shown(nobody).text


def test_decisions_say_shares_ties_and_who_is_referred():
    codes, tied = np.array([0, 1, 1, 1]), np.array([True, False, False, False])
    found = Decisions("r[x]", ("yes", "no"), codes, tied, referred=np.array([False, False, False, True]))
    text = shown(found).text
    assert "75%" in text and "25%" in text and "1 of them are left to a person" in text
    assert "a person decides" in text and text.count("tied") == 1


@pytest.mark.parametrize(
    ("radii", "exact", "cells", "kind"),
    [
        ([0.02, 0.02, 0.2, np.inf], True, ["100%", "50%", "50%", "0.020"], "Radii are the largest ones."),
        ([0.0, np.inf, np.inf, np.inf], False, ["75%", "75%", "75%", "never"], "the largest ones may be larger."),
        ([], True, ["–", "–", "–", "–"], "Radii are the largest ones."),
    ],
)
def test_a_survey_shows_what_share_of_decisions_withstands_each_coalition(radii, exact, cells, kind):
    found = shown(Survey("maximin", (("Bank", "Applicant"),), np.array([radii]), exact, ""))
    assert " ".join(["Bank and Applicant", *cells]) in found.text and kind in found.text
    assert f"how far {len(radii)} decisions withstand misreports" in found.text


def test_an_estimate_shows_interval_or_reason():
    assert "0.500 [0.400, 0.600]" in shown(Estimate(0.5, 0.4, 0.6, 0.95, 20)).text
    assert "95% interval, from n = 20" in shown(Estimate(0.5, 0.4, 0.6, 0.95, 20)).text
    assert "not defined" in shown(Estimate(None, reason="nobody counts")).text
    assert "nobody counts" in shown(Estimate(None, reason="nobody counts")).text


def test_a_leaderboard_shows_names_scores_and_intervals(results):
    board, text = results["Leaderboard"], shown(results["Leaderboard"]).text
    assert "Always Grant" in text and "constant:Grant" not in text
    best = board[board.best]
    assert f"{best.score.value:.3f}" in text and f"[{best.score.low:.3f}, {best.score.high:.3f}]" in text
    assert f"and {len(board.rows) - 12} more strategies" in text


def test_a_subclass_is_shown_as_its_base(expected):
    class Own(ExpectedRewards):
        pass

    own = Own(expected.values, stakeholders=expected.stakeholders, actions=expected.actions)
    assert own._repr_html_() == expected._repr_html_()
    assert isinstance(own, Displayed)


def test_rules_that_nothing_uses_are_left_out():
    sheet = ":root { --ink: #000; } p, .x > li { margin: 0 } table { border: 0 } .number:not(.y) { color: red } @media print { p { margin: 1 } }"
    found = scoped(sheet, '<p class="x number"></p>')
    assert found.splitlines() == [
        ".accordant.accordant { --ink: #000; }", ".accordant.accordant p { margin: 0 }",
        ".accordant.accordant .number:not(.y) { color: red }",
    ]  # fmt: skip


def test_rules_for_the_dark_are_kept_apart():
    sheet = "@media screen and (prefers-color-scheme: dark) { :root { --ink: #fff; } p { margin: 0 } } p { margin: 1 }"
    assert scoped(sheet, "<p></p>") == ".accordant.accordant p { margin: 1 }"
    assert scoped(dark_rules(sheet), "<p></p>").splitlines() == [
        ".accordant.accordant { --ink: #fff; }", ".accordant.accordant p { margin: 0 }"
    ]  # fmt: skip


def test_the_dark_of_a_notebook_is_the_dark_of_pages():
    sheet = (files("accordant.report") / "style.css").read_text(encoding="utf-8")
    colours = re.findall(r"--[\w-]+: #\w+", dark_rules(sheet))
    shown = ExpectedRewards([[[0.5]]], stakeholders=["a"], actions=["x"])._repr_html_()
    dark = [line for line in shown.splitlines() if '[data-jp-theme-light="false"]' in line and ":has(" not in line]
    assert len(colours) > 30 and all(any(colour in line for line in dark) for colour in colours)
    assert any("color-scheme: dark" in line for line in dark)


def test_rules_within_media_stay_within():
    found = scoped("@media (max-width: 3rem) { p { margin: 0 } b { margin: 1 } }", "<p></p>")
    assert found == "@media (max-width: 3rem) { .accordant.accordant p { margin: 0 } }"


@pytest.mark.long
def test_showing_nothing_imports_nothing():
    code = "import accordant as ac, sys; ac.ExpectedRewards([[.5]], stakeholders=['a'], actions=['x']); print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
