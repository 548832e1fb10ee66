"""The page of a comparison: one well-formed file that says what the JSON says."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.preferences.page import render_comparison
from accordant.preferences.page.reading import Row, names_in_words
from accordant.preferences.result import FORMAT, LearnerComparison
from accordant.preferences.page.charts import (
    BINS,
    BOTTOM,
    HEIGHT,
    USERS_BOX,
    WIDTH,
    Users,
    _labels,
    counts,
    highest,
    line_through,
    spread_chart,
    support_chart,
)
from tests.drawings import faults

VOID = {"meta", "br", "wbr", "input"}
NAMES = ("accuracy", "accuracy[big]", "accuracy[small]", "log_loss", "worst_10", "min", "gap", "gini", "jain", "theil",
         "atkinson", "std", "corrected_std", "support_correlation", "support_rank_correlation", "support_slope")  # fmt: skip


class Page(HTMLParser):
    """Text, identifiers and references; complains about wrong nesting."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert not self.open
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.attributes += [(key, value) for key, value in attrs if value]
        self.words.append(" " if tag != "wbr" else "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(key, value) for key, value in attrs if value]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, name):
        return [value for key, value in self.attributes if key == name]


def method(label, value, *, control=False, control_of=None, first=False):
    metric = {"value": value, "low": value - 0.05, "high": value + 0.05, "n": 6}
    difference = {"value": 0.012, "low": -0.034, "high": 0.056, "undefined": 0.0}
    group = {
        "n_users": 3,
        "reference": 0.6,
        "candidate": 0.6,
        "difference": 0.021,
        "low": -0.03,
        "high": 0.07,
        "p_gain": 0.2,
        "p_loss": 0.05,
        "remark": "",
    }
    return {
        "method": label, "learner": "bradley_terry", "parameters": {}, "features": "encoder", "control": control,
        "control_of": control_of, "metrics": {name: dict(metric) for name in NAMES},
        "differences": None if first else dict.fromkeys(NAMES, difference),
        "pareto": None if first else {
            "verdict": "not shown", "reason": "may be worse by 0.02 or more: small",
            "groups": [group | {"group": "big"}, group | {"group": "small", "low": None, "high": None, "remark": "one user"}],
            "power": {"group": "small", "n_users": 1, "gain": 0.2, "declared": True, "probability": 0.31, "detectable": None},
            "p_shown": 0.4, "p_contradicted": 0.9, "tolerance": 0.02, "level": 0.95, "together": 2, "resamples": 10,
        },
        "against_controls": [] if control else [
            {"control": "balanced", "differences": dict.fromkeys(NAMES, difference)}
        ],
        "new_users": None, "warnings": ["mind <b>this</b>"] if label == "new" else [],
    }  # fmt: skip


@pytest.fixture
def content():
    labels = {"pooled": 0.6, "balanced": 0.62, "new": 0.7}
    generator = np.random.default_rng(0)
    return {
        "accordant": "0", "result": FORMAT, "file": "/some/where/data & more.csv", "file_name": "data & more.csv",
        "format": "features", "seed": 7, "records": 60, "users": 7,
        "groups": {"found": "groups: the file says them", "declared": True, "sizes": {"big": 4, "small": 2}, "unknown": 1,
                   "majority": "big", "minority": "small", "support": "counted", "warnings": []},
        "split": {"by": "random", "within_users": True, "test_share": 0.3, "training_records": 40, "test_records": 20,
                  "users_in_training_only": 1, "test_pairs_seen_in_training": 0.25, "first_records_of_new_users": 0,
                  "later_records_of_new_users": 0, "unused_records_of_new_users": 0, "between": 0, "new_users": 0, "seed": 7},
        "encoder": {"name": "the features of the file", "fitted_on": "nothing", "features": 2, "scale": "one for each feature"},
        "ridge": {"value": 0.001, "folds": 5, "log_loss": []},
        "intervals": {"level": 0.95, "resamples": 100, "over": "users"},
        "declared": ["Something was imposed."], "terms": "Ask <first>.",
        "answer": {"looked_at": "new", "picked": "it was named", "nearest_control": "balanced", "sentences": ["One & two."]},
        "methods": [method("pooled", 0.6, control=True, first=True), method("balanced", 0.62, control=True), method("new", 0.7)],
        "skipped": [{"method": "per_group", "reason": "one group"}],
        "excluded": [{"users": 1, "reason": "no record"}],
        "per_user": {"users": list("abcdef"), "group": ["big"] * 4 + ["small", None],
                     "support": [0.5, 0.6, 0.7, 0.8, 0.2, None], "records": [3] * 6,
                     "accuracy": {label: generator.integers(0, 4, 6) / 3 for label in labels}},
        "options": {"methods": ["new[x=1]"], "parameters": None, "compare": True, "encoder": "tf-idf", "test": 0.4,
                    "new_users": 0.0, "first": 8, "seed": 7, "resamples": 1000, "tolerance": 0.02, "gain": None,
                    "source": {"format": "auto", "minority": 0.2, "users": 60, "records": None, "styles": None, "ignore": []}},
        "warnings": ["A warning."],
    }  # fmt: skip


def test_methods_and_groups_are_said_in_words(content):
    content["groups"]["sizes"] = {"the_many": 4, "small": 2}
    content["methods"].append(method("pareto_distillation: pooled_teacher", 0.7, control=True))
    content["methods"].append(method("low_rank[rank=2]", 0.7))
    assert names_in_words(LearnerComparison.read(json_value(content))) == {
        "the_many": "the many", "pareto_distillation": "Pareto distillation", "pooled_teacher": "pooled teacher",
        "low_rank[rank=2]": "low rank (rank=2)", "per_group": "per group",
    }  # fmt: skip


def variants(content):
    """Return comparisons of other shapes: one user, one group, three groups, controls alone, new users, no support."""
    one_user = copy.deepcopy(content)
    one_user["per_user"], one_user["intervals"]["over"] = None, "records"
    one_user["groups"] |= {"sizes": {"everybody": 1}, "majority": "everybody", "minority": "everybody"}
    for row in one_user["methods"]:
        row["pareto"] = None
        empty = {"value": None, "low": None, "high": None, "n": 0}
        row["metrics"] = {
            name: metric if name in ("accuracy", "log_loss") else empty for name, metric in row["metrics"].items()
        } | {"accuracy[everybody]": empty}  # fmt: skip
    one_group = copy.deepcopy(content)
    one_group["groups"] |= {"sizes": {"big": 6}, "minority": "big"}
    for row in one_group["methods"]:
        if row["pareto"]:
            row["pareto"]["groups"].pop()
    alone = copy.deepcopy(content)
    alone["answer"] |= {"looked_at": None, "nearest_control": None}
    alone["methods"].pop()
    fresh = copy.deepcopy(content)
    for row in fresh["methods"]:
        row["new_users"] = {"metrics": row["metrics"], "differences": row["differences"]}
    bare = copy.deepcopy(content)
    bare["per_user"]["support"] = [None] * 6
    many = copy.deepcopy(content)
    many["methods"] += [method(f"m{k}", 0.6 + k / 100, control_of="new" if k % 2 else None) for k in range(8)]
    for row in many["methods"]:
        many["per_user"]["accuracy"][row["method"]] = [0.5] * 6
    return [one_user, one_group, alone, fresh, bare, many]


def test_every_variant_is_one_well_formed_page_that_leads_nowhere(content):
    for each in (content, *variants(content)):
        html = render_comparison(each)
        page = Page(html)
        identifiers = page.all("id")
        assert len(identifiers) == len(set(identifiers))
        assert {href[1:] for href in page.all("href")} <= set(identifiers)
        assert set(" ".join(page.all("aria-labelledby")).split()) <= set(identifiers)
        assert html.count("<script") == 1
        assert not re.search(r"(?:src|href)=\"(?!#)", html)
        assert not re.search(r"\b(is|are) fair\b", page.text)
        assert "nan" not in page.text.lower().split()


def test_the_answer_comes_first_and_text_of_files_is_escaped(content):
    html = render_comparison(content)
    text = Page(html).text
    assert text.index("One & two.") < text.index("A warning.") < text.index("Every method on the test records")
    assert "Ask <first>." in text and "Ask <first>" not in html
    assert "mind <b>this</b>" in text and "<b>this" not in html
    assert "/some/where" not in text.split("How to reproduce")[0]


def test_the_table_of_groups_stands_wherever_a_change_is_claimed(content):
    text = Page(render_comparison(content)).text
    assert "Change of accuracy against the pooled reward, group by group" in text
    assert "+0.021 [−0.030, +0.070]" in text
    assert "one user" in text
    assert "new less each control" in text and "+0.012 [−0.034, +0.056]" in text
    assert "per_group: one group" in text


def test_the_command_gives_what_differs_from_the_defaults(content):
    text = Page(render_comparison(content)).text
    command = "accordant preferences '/some/where/data & more.csv' --method 'new[x=1]' --compare --test 0.4 --seed 7"
    assert command in text
    source = content["options"]["source"] | {"ignore": ["extra", "a b"], "styles": ["academy", "normal"]}
    other = Page(render_comparison(content | {"options": content["options"] | {"source": source}})).text
    assert "--ignore extra --ignore 'a b' --test 0.4 --styles academy,normal --seed 7" in other


def test_another_format_is_refused(content):
    with pytest.raises(InputError, match="has format 99; allowed: 2"):
        render_comparison(content | {"result": 99})


def test_the_same_content_gives_the_same_bytes(content):
    assert render_comparison(content) == render_comparison(copy.deepcopy(content))


def test_users_are_counted_once_in_bins_of_accuracy(content):
    users = Users.of(LearnerComparison.read(json_value(content)), "new")
    assert users.minority == (False, False, False, False, True, False)
    few, others = counts(users, minority=True), counts(users, minority=False)
    assert (sum(few), sum(others)) == (1, 5)
    twin = [0] * BINS
    for accuracy in users.accuracy:
        twin[min(BINS - 1, round(accuracy * 3) * BINS // 3)] += 1
    assert [one + other for one, other in zip(few, others, strict=True)] == twin
    assert highest([users]) == max(twin)
    assert counts(Users((0.3, 0.7, 1.0), (None,) * 3, (False,) * 3), minority=False)[3:] == [1, 0, 0, 0, 1, 0, 1]


def test_the_line_is_that_of_least_squares():
    users = Users((0.1, 0.5, 0.6, 0.9), (0.2, 0.4, None, 0.8), (False,) * 4)
    slope, start = np.polyfit([0.2, 0.4, 0.8], [0.1, 0.5, 0.9], 1)
    assert line_through(users) == pytest.approx((slope, start))
    assert line_through(Users((0.1, 0.5), (0.2, 0.2), (False,) * 2)) is None
    assert line_through(Users((0.1,), (None,), (False,))) is None


def test_a_group_that_is_not_tested_leaves_its_cell_empty_and_unused_records_are_told(content):
    for row in content["methods"]:
        if row["pareto"]:
            row["pareto"]["groups"] = [each for each in row["pareto"]["groups"] if each["group"] != "big"]
    content["split"] |= {"between": 12, "users_in_training_only": 3}
    page = render_comparison(content)
    first, second = re.findall(r'<td class="number">(.*?)</td>', page[page.index('id="groups-caption"') :], re.S)[:2]
    assert (first, "value" in second) == ("\N{EN DASH}", True)
    assert "12 comparisons are used for nothing" in page and "3 users stay in training alone" in page
    content["split"] |= {"between": 1, "users_in_training_only": 1}
    content["excluded"].append({"users": 2, "reason": "one record"})
    text = Page(render_comparison(content)).text
    for words in (
        "1 comparison is used for nothing: of two items, one of which",
        "1 user stays in training",
        "1 user: no record; 2 users: one reco",
    ):
        assert words in text


def lines(drawn, css):
    """Return the ends of straight lines of a class: x and y of one, x and y of the other."""
    found = re.findall(rf'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)" class="{css}"', str(drawn))
    return [tuple(map(float, each)) for each in found]


def test_a_grid_crosses_the_plot_at_each_tick():
    users = Users((0.0, 0.5, 1.0), (0.0, 0.5, 1.0), (False, False, True))
    drawn = str(support_chart("s", "title", users, (1.0, 0.0)))
    left, top, right, base = USERS_BOX
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    upright = [(left + share * (right - left), top, left + share * (right - left), base) for share in shares]
    level = [(left, base + share * (top - base), right, base + share * (top - base)) for share in shares]
    assert lines(drawn, "grid") == [*upright, *level[1:]]
    assert lines(drawn, "axis") == level[:1]
    assert lines(drawn, "trend") == [(left, base, right, top)]
    words = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="tick" text-anchor="(\w+)">([^<]*)<', drawn)
    across = [(x, base + 16, "middle", f"{share:.2f}") for (x, *_), share in zip(upright, shares, strict=True)]
    up = [(left - 8, y + 4, "end", f"{share:.2f}") for (_, y, *_), share in zip(level, shares, strict=True)]
    assert [(float(x), float(y), anchor, said) for x, y, anchor, said in words] == [*across, *up]
    places = re.findall(
        r'class="mark (\w+) user( few)?" transform="translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)"', drawn
    )
    middle = (f"{(left + right) / 2:g}", f"{(top + base) / 2:g}")
    assert places == [
        ("filled", "", f"{left:g}", f"{base:g}", "2.6"),
        ("filled", "", *middle, "2.6"),
        ("open", " few", f"{right:g}", f"{top:g}", "3.4"),
    ]


@pytest.mark.parametrize("alone", [True, False])
def test_users_of_one_group_are_not_told_apart(content, alone):
    if alone:
        content = variants(content)[1]
    page = render_comparison(content)
    drawn = re.findall(r"<title>accuracy 0\.[^<]*</title>", page)
    assert len(drawn) == 2 * BINS
    assert all(("of them of small" in each, "of them of" in each) == ((not alone,) * 2) for each in drawn)


def test_drawings_of_users_show_the_pooled_reward_and_the_one_looked_at(content):
    page = render_comparison(content)
    assert re.findall(r"Accuracy (?:against support|over users): (\w+)<", page) == ["pooled", "new"] * 2
    without, alone = variants(content)[4], variants(content)[2]
    assert "Accuracy against support" not in render_comparison(without)
    assert re.findall(r"Accuracy over users: (\w+)<", render_comparison(alone)) == ["pooled"]


@pytest.mark.parametrize(
    ("n_more", "left_out", "plain", "selected"),
    [(3, (), 30, 6), (4, (), 12, 6), (4, ("nearest_control",), 6, 6), (4, ("nearest_control", "looked_at"), 6, 0)],
)
def test_intervals_are_drawn_of_a_few_methods_or_of_those_that_matter(content, n_more, left_out, plain, selected):
    """Two intervals of three lines each."""
    content["methods"] += [method(f"m{k}", 0.6 + k / 100) for k in range(n_more)]
    content["answer"] |= dict.fromkeys(left_out)
    for row in content["methods"]:
        content["per_user"]["accuracy"][row["method"]] = [0.5] * 6
    drawn = re.search(r'"pareto-chart-title">.*?</svg>', render_comparison(content), re.S)
    assert [len(lines(drawn[0], css)) for css in ("interval", "interval selected")] == [plain, selected]


def test_bars_of_users_stand_on_each_other():
    users = Users((0.05, 0.05, 0.05, 0.95), (None,) * 4, (True, False, False, False))
    drawn = str(spread_chart("s", "title", users, 4.0, groups=("big", "small")))
    left, top, right, base = USERS_BOX
    height, x = (base - top) / 4, left + 0.275 * (right - left)
    assert lines(drawn, "chosen") == [pytest.approx((x, top - 4, x, base), abs=0.01)]
    assert "accuracy 0.0 to 0.1: 3 users, 1 of them of small" in drawn
    assert "accuracy 0.9 to 1.0: 1 user, 0 of them of small" in drawn
    assert "4 users, mean accuracy 0.275, lowest 0.050." in drawn
    for ends in ((base, base - height), (base - height, base - 3 * height)):
        assert all(f" {end:.2f}" in drawn or f" {end:g}" in drawn for end in ends)
    assert f'x="{x + 5:.2f}"'.rstrip("0") in drawn.replace('0"', '"')


@pytest.mark.parametrize(
    ("place", "sides"),
    [((200.0, 150.0), "right"), ((WIDTH - 3.0, 150.0), "left"), ((200.0, HEIGHT - BOTTOM), "above")],
)
def test_the_number_of_a_method_stands_within_the_plot(place, sides):
    ((x, y, anchor),) = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" [^>]*text-anchor="(\w+)"',
        "".join(_labels([Row("pooled", 1, "", None)], {"pooled": place})),
    )
    found = {"right": anchor == "start", "left": anchor == "end", "above": float(y) <= HEIGHT - BOTTOM}
    assert found[sides]
    assert float(y) < HEIGHT - BOTTOM


def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(content):
    assert [faults(render_comparison(each)) for each in (content, *variants(content))] == [[]] * 7


@pytest.mark.parametrize(("control", "control_of", "role", "words"), [
    (False, None, "method", "method"), (True, None, "method", "control"), (True, "new", "method", "control of new"),
    (True, None, "pooled", "control: one reward for everybody"),
])  # fmt: skip
def test_what_a_row_is(content, control, control_of, role, words):
    row = LearnerComparison.read(content).methods[-1].model_copy(update={"control": control, "control_of": control_of})
    assert Row("new", 1, role, row).kind == words
