"""Explanation pages: well formed, closed in themselves, complete, and the same for the same content."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.explanation import (
    Change,
    Forecast,
    Person,
    Recourse,
    Trait,
    as_document,
    explain,
    influence,
    pivotal,
)
from accordant.explanation.contexts import Difference
from accordant.explanation.value_text import shown
from accordant.report.section_parts import nested
from accordant.report.explanation import explanation_part, pages, render_explanation
from accordant.report.explanation.render import strip_chart
from tests.drawings import faults
from accordant.utilities import ExpectedRewards

HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}\x00"
LONG = "The association of everybody concerned " * 3
VOID = {"meta", "br", "wbr", "rect", "line", "path"}


class Page(HTMLParser):
    """Tags with attributes and text; complains about wrong nesting."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(html)
        self.close()
        assert not self.open
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.words.append(" ")

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def attributes(self, name):
        return [given[name] for _, given in self.tags if given.get(name)]


def make_expected(stakeholders=("Bank", "Applicant"), actions=("Grant", "Grant lower", "Deny"), n=3, seed=0):
    values = np.random.default_rng(seed).random((len(stakeholders), len(actions), n))
    return ExpectedRewards(values, stakeholders=stakeholders, actions=actions)


def document(name="utilitarian", parameters=None, expected=None, *, batch=True, **given):
    expected = make_expected() if expected is None else expected
    rule = strategies.create(name, parameters or {})
    groups = np.arange(expected.n_contexts) % 2
    moved = {"influence": influence(rule, expected, groups=groups), "pivotal": pivotal(rule, expected, groups=groups)}
    return as_document(explain(rule, expected, **given), title="Loans", source="a run", **(moved if batch else {}))


def with_contexts():
    generator = np.random.default_rng(2)
    contexts = Contexts(
        {"income": generator.normal(50, 10, 40), "town": np.array(["a", "b"])[generator.integers(0, 2, 40)]}
    )

    def rewards(given):
        z = 1 / (1 + np.exp((50 - given["income"]) / 5 - (given["town"] == "a")))
        return ExpectedRewards(
            np.array([[z, 0 * z + 0.5], [0 * z + 0.6, 0.5 + 0 * z]]),
            stakeholders=("Bank", "Applicant"),
            actions=("Grant", "Deny"),
        )

    rule = strategies.create("maximin")
    found = explain(
        rule, rewards(contexts), rows=[0, 1, 2], known=Known(contexts=contexts), observed=contexts,
        decide=lambda given: rule(rewards(given)).codes,
    )  # fmt: skip
    return as_document(found)


def with_person(*, discrete=True):
    """A document with a person, a forecast and changes, names hostile."""
    (found,) = explain(strategies.create("utilitarian"), make_expected(n=1, actions=("Grant", "Grant lower", HOSTILE)))
    rows = ((0.7, 0.3), (0.6, 0.4), (0.5, 0.5))
    chances = Forecast((HOSTILE, "Lost"), rows, None, None, None, None, "", "", True, "calibrated")
    level = Forecast(
        (), None, (1.0, 2.0, 3.0), (0.0, 0.5, 1.0), (9.0, 9.5, 10.0), 0.95, HOSTILE, "points", True, "calibrated"
    )
    traits = (
        Trait(HOSTILE, 3.0, 0.2, 0.1, 99),
        Trait("town", "north", None, 0.3, 99),
        Trait("age", None, None, 0.0, 99),
    )
    person = Person(traits, chances if discrete else level, "far", "rule", found.choice.action)
    changes = (Change("Grant lower", 0.5, (Difference(HOSTILE, 3.0, 4.0), Difference("town", "north", HOSTILE))),)
    recourse = Recourse((HOSTILE, "town"), changes if discrete else (), 40, 99)
    return as_document([replace(found, person=person, recourse=recourse)], title="Loans", source="a run")


VARIANTS = {
    "person": with_person,
    "person with a level": lambda: with_person(discrete=False),
    "several": document,
    "one": lambda: document(expected=make_expected(n=1), batch=False),
    "contexts": with_contexts,
    "points": lambda: document("kalai_smorodinsky"),
    "points outside": lambda: document("kalai_smorodinsky", {"disagreement": -0.5, "ideal": 1.5}),
    "no agreement": lambda: document("nash_bargaining", expected=make_expected(actions=("Grant", "Deny"))),
    "constant": lambda: document("constant", {"action": "Grant"}),
    "one action": lambda: document(expected=make_expected(actions=("Grant",))),
    "one stakeholder": lambda: document(expected=make_expected(stakeholders=("Bank",))),
    "drawn": lambda: document("utilitarian", {"selection": "softmax", "temperature": 0.1}),
    "vote": lambda: document("kemeny"),
    "batch": lambda: document("constrained", {"rule": "utilitarian", "budgets": {"Grant": 1}}),
    "batch with contexts": lambda: document(
        "constrained",
        {"rule": "utilitarian", "budgets": {"Grant": 1}},
        observed={"x": [1.0]},
        decide=len,
        known=Known(contexts=Contexts({"x": [1.0, 2.0, 3.0]})),
    ),
    "floor": lambda: document("constrained", {"rule": "maximin", "floors": 1.0}),
    "hostile": lambda: document(expected=make_expected(stakeholders=(HOSTILE, "B"), actions=("Grant", HOSTILE))),
    "long": lambda: document(expected=make_expected(stakeholders=(LONG, "漢字" * 20), actions=("x" * 90, LONG))),
    "many": lambda: document(
        expected=make_expected(stakeholders=[f"s{i}" for i in range(7)], actions=[f"a{i}" for i in range(8)], n=2)
    ),
}


@pytest.fixture(params=VARIANTS, scope="module")
def content(request):
    """Every situation in turn."""
    return VARIANTS[request.param]()


@pytest.mark.few(5)
def test_pages_are_well_formed(content):
    page = Page(render_explanation(content))
    identifiers = page.attributes("id")
    assert len(identifiers) == len(set(identifiers))
    for reference in [each[1:] for each in page.attributes("href")] + " ".join(
        page.attributes("aria-labelledby")
    ).split():
        assert reference in identifiers
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    assert not re.search(r"\bfair\b|\bNone\b|\bnan\b|\binf\b", page.text)


@pytest.mark.few(4)
def test_nothing_leads_out_of_the_file(content):
    html = render_explanation(content)
    page = Page(html)
    assert html.count("<script") == 1  # the one of all pages
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in page.tags}
    assert all(each.startswith("#") for each in page.attributes("href"))
    assert not re.search(r"url\(|@import|javascript:", html)


def test_drawings_stay_in_their_frame_and_are_named(content):
    drawings = re.findall(r"<svg.*?</svg>", render_explanation(content), flags=re.DOTALL)
    charts = [each for each in map(ET.fromstring, drawings) if each.get("aria-hidden") != "true"]
    assert len(charts) == len(content["explanations"])
    for root, explained in zip(charts, content["explanations"], strict=True):
        title, about = list(root)[:2]
        assert title.text
        assert about.text
        width, height = (float(each) for each in root.get("viewBox").split()[2:])
        space = "{http://www.w3.org/2000/svg}"
        bars = list(root.iter(f"{space}rect"))
        assert len(bars) == len(explained["stakeholders"]) * len(explained["actions"])
        decided = [each for each in bars if "decided" in each.get("class")]
        assert len(decided) == len(explained["stakeholders"])
        for bar in bars:
            assert 0 <= float(bar.get("x")) <= float(bar.get("x")) + float(bar.get("width")) <= width
            assert 0 <= float(bar.get("y")) <= height
        for label in root.iter(f"{space}text"):
            assert -1 <= float(label.get("x")) <= width + 1
            assert 0 <= float(label.get("y")) <= height


@pytest.mark.few(5)
def test_every_page_says_what_was_found(content):
    text = Page(render_explanation(content)).text
    for explained in content["explanations"]:
        for said in explained["sentences"].values():
            for sentence in said:
                assert " ".join(sentence.replace("\x00", "\N{REPLACEMENT CHARACTER}").split()) in text
        for row in explained["expected"]:
            for value in row:
                assert shown(value) in text or value < 0.001


@pytest.mark.few(2)
def test_same_content_same_bytes(content):
    before = copy.deepcopy(content)
    assert render_explanation(content) == render_explanation(json.loads(json.dumps(content)))
    assert content == before


def test_lengths_of_bars_are_the_expected_rewards():
    content = document(expected=ExpectedRewards([[0.0, 0.25], [1.0, 0.5]], stakeholders="ab", actions=["r", "g"]))
    root = ET.fromstring(
        re.search(r"<svg[^>]*class=\"chart\".*?</svg>", render_explanation(content), re.DOTALL).group()
    )
    widths = [float(each.get("width")) for each in root.iter("{http://www.w3.org/2000/svg}rect")]
    np.testing.assert_allclose(np.array(widths) / max(widths), [0, 0.25, 1, 0.5], atol=0.01)


def test_cells():
    assert [pages.gain(each) for each in (0.1, -0.1, 0.0)] == ["+0.100", "−0.100", "0.000"]
    assert [pages.feature_value(each) for each in (None, "", "a", 3.0, -1.25)] == [
        "missing",
        "missing",
        "a",
        "3",
        "−1.25",
    ]
    move = {
        "who": None,
        "never": False,
        "exact": False,
        "at_once": False,
        "safe": 0.1239,
        "changed_at": None,
        "action": None,
        "method": "m",
    }
    cases = [
        (move, ("everybody together", "0.123", "–", "certified; no change is known")),
        (
            move | {"changed_at": 0.2001, "action": "a"},
            ("everybody together", "0.123", "a", "certified; a change is known at 0.201"),
        ),
        (move | {"safe": 0}, ("everybody together", "–", "–", "nothing certified")),
        (move | {"safe": None}, ("everybody together", "not defined", "–", "m")),
        (
            move | {"safe": 0.0, "changed_at": 1e-6, "action": "a", "exact": True, "at_once": True},
            ("everybody together", "0", "a", "exact: however little they change"),
        ),
        (move | {"never": True, "who": "x"}, ("x", "any change", "–", "exact")),
    ]
    for given, expected in cases:
        (found,) = pages.moves({"misreports": [given]})
        assert (found.who, found.up_to, found.then, found.known) == expected


def test_a_forecast_that_no_action_changes_is_one_row():
    chances = {"depends_on_action": True, "means": None, "probabilities": [[0.7, 0.3], [0.6, 0.4]]}
    level = {
        "depends_on_action": True,
        "means": [1.0, 2.0],
        "low": [0.5, 1.5],
        "high": [1.5, None],
        "probabilities": None,
    }
    alike = {"depends_on_action": False}
    for forecast, rows in (
        (chances, [("Grant", ["70%", "30%"]), ("Deny", ["60%", "40%"])]),
        (chances | alike, [("whatever is done", ["70%", "30%"])]),
        (level | {"low": None, "high": None}, [("Grant", ["1.000", "–"]), ("Deny", ["2.000", "–"])]),
        (level | alike, [("whatever is done", ["1.000", "0.500 to 1.500"])]),
    ):
        assert pages.forecast_rows({"actions": ["Grant", "Deny"], "person": {"forecast": forecast}}) == rows


def test_a_tie_shows_weights_that_differ_from_the_present_ones():
    tie = ExpectedRewards([[0.5, 0.6], [0.6, 0.5]], stakeholders=["Bank", "Applicant"], actions=["Grant", "Deny"])
    text = Page(render_explanation(document(expected=tie, batch=False))).text
    assert re.search(r"as it is *0\.50000000", text)
    assert re.search(r"more for Bank *0\.5000005\d", text)


def test_one_context_alone_has_no_others():
    one = Contexts({"income": [1.0]})
    given = {"known": Known(contexts=one), "decide": lambda _: ["Grant"], "observed": one}
    content = document("constant", {"action": "Grant"}, make_expected(n=1), batch=False, **given)
    text = Page(render_explanation(content)).text
    assert "Other contexts were looked for among the 1 observed context given: none is decided differently" in text
    assert "associations" not in text


def test_other_formats_are_refused():
    with pytest.raises(InputError, match="format 7; allowed: 2"):
        render_explanation({"format": 7})


def test_a_heading_is_cut_where_its_drawing_ends():
    fits, too_long = "漢" * 24 + "x" * 9, "a b " * 14  # 1 em and 0.57 em a letter: 29.13 of 350 / 12
    explained = {
        "actions": ["Grant", "Deny"], "choice": {"action": "Grant"}, "stakeholders": [fits, too_long], "row": 0,
        "expected": [[0.5, 0.25]] * 2, "favourites": [{"equals": ["Grant"]}] * 2, "points": {},
    }  # fmt: skip
    found = re.findall(r'<text x="1" y="([\d.]+)" class="head">([^<]*)</text>', str(strip_chart("s", explained)))
    assert found[0] == ("19", fits)
    top, cut = found[1]
    assert cut.endswith("…") and too_long.startswith(cut[:-1])
    assert 0.57 * len(cut) <= 350 / 12 < 0.57 * (len(cut) + 2)
    assert float(top) - 19 == 22 + 9 + 2 * 19  # heading, gap, and a row for each action


class Explained:
    """A section that holds what it is given."""

    def __init__(self, content):
        self.content = content

    def to_json(self):
        """Return it."""
        return self.content


def test_a_part_of_a_page_says_what_the_page_says():
    content = document("kalai_smorodinsky")
    kept = {name: content[name] for name in ("explanations", "influence", "pivotal")} | {"rests_on": ["Stated."]}
    part = explanation_part(Explained(kept))
    assert (part.chapter, part.title) == ("person", "Rows 0, 1 and 2, explained")
    assert part.html.startswith('<ul class="remarks">') and "<li>Stated.</li>" in part.html
    whole = render_explanation(content)
    main = whole[whole.index("<section") : whole.index("</main>")].strip()
    assert main in part.html
    assert ".decided-cell" in part.style and "--ink: #" not in part.style
    ids = re.findall(r' id="([^"]+)"', nested(part.html, "s-"))
    assert len(ids) == len(set(ids)) and all(each.startswith("s-") for each in ids)
    one = explanation_part(Explained(document(expected=make_expected(n=1), batch=False)))
    assert one.title == "Row 0, explained" and '<ul class="remarks">' not in one.html.partition("<section")[0]


def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(content):
    assert faults(render_explanation(content)) == []
