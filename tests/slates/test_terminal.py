"""What ``accordant slate`` prints of its result, from results made by hand."""

from __future__ import annotations

import pytest

from accordant.slates.result import SlateResult
from accordant.slates.terminal import FIRST, _names, print_slates
from tests.slates.page.conftest import estimate, made


@pytest.fixture
def printed(capsys, tmp_path):
    """A function from the JSON of a result to the lines that are printed of it."""

    def of(content):
        print_slates(SlateResult.read(content), tmp_path)
        return capsys.readouterr().out.splitlines()

    return of


def cells(lines, rule):
    """Return the cells of a rule in the table."""
    (line,) = [line for line in lines if line.startswith(f"{rule} ")]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


@pytest.mark.parametrize(("n", "users", "days", "words"), [
    (1, 1, 1, "1 request of 1 user on 1 day, 0 of them"),
    (2, 1, 2, "2 requests of 1 user on 2 days, 0 of them"),
    (40, 20, 6, "40 requests of 20 users on 6 days, 0 of them"),
])  # fmt: skip
def test_what_was_served_is_said_first(printed, n, users, days, words):
    content = made() | {"requests": {"n": n, "users": users, "cold": 0, "days": days, "batches": 1}}
    title, said, blank, *_ = printed(content)
    assert title == "A tiny case: tiny.csv" and not blank
    assert said == f"{words} by users without a past; lists of 3 out of 6 items; seed 7"


def test_a_rule_has_a_line_with_its_score_and_the_measures_the_heaviest_first(printed):
    content = made()
    first, second = content["leaderboard"][:2]
    for column in content["columns"]:
        column["weight"] = {"overload": 0.7, "attained City": 0.3}.get(column["label"], 0.0)
    values = {
        "overload": 0.125,
        "attained City": 0.25,
        "worst off": 0.5,
        "user attained": None,
        "attained Residents": 1.0,
    }
    for label, value in values.items():
        first["metrics"][label] |= estimate(value)
    second["score"] = {"value": 0.5, "low": None, "high": None, "undefined": None}
    second["metrics"]["overload"] |= {"value": 0.1234567}
    lines = printed(content)
    (head,) = [line for line in lines if line.startswith("rule ")]
    assert head.split("  ")[-1].strip() == "attained Residents"
    assert head.index("overload") < head.index("attained City") < head.index("worst off") < head.index("user attained")
    assert cells(lines, "stakeholder:Visitor") == [
        "stakeholder:Visitor", "baseline", "0.990 [0.960, 1.040]", "yes", "0.125", "0.250", "0.500", "-", "1.000"
    ]  # fmt: skip
    assert cells(lines, "stakeholder:Residents")[2] == "0.500"
    assert cells(lines, "stakeholder:Residents")[4] == "0.123"


def test_numbers_and_standings_end_below_each_other(printed):
    content = made()
    first, second = content["leaderboard"][:2]
    second |= {"score": {"value": 0.5, "low": None, "high": None, "undefined": None}, "among_best": None}
    second["metrics"]["attained City"] |= estimate(None)
    one, other = (
        line for line in printed(content) if line.startswith(("stakeholder:Visitor", "stakeholder:Residents"))
    )
    for long, short in (("1.040]", "0.500"), ("yes", " - "), (one[-5:], " -")):
        assert one.index(long) + len(long) == other.rindex(short) + len(short.rstrip())


def test_no_more_than_six_measures_are_shown(printed):
    content = made(stakeholders=("Visitor", *(f"Shop {k}" for k in range(9))))
    head = next(line for line in printed(content) if line.startswith("rule "))
    assert head.split("  ")[-1].strip() == "attained Shop 2" and "attained Shop 3" not in head


@pytest.mark.parametrize(("row", "words"), [
    ({"among_best": True}, "yes"),
    ({"among_best": False}, "no"),
    ({"among_best": None}, "-"),
    ({"among_best": True, "alike": "borda"}, "as borda"),
])  # fmt: skip
def test_who_may_be_the_best_or_shows_the_lists_of_another(printed, row, words):
    content = made()
    content["leaderboard"][0] |= row
    assert cells(printed(content), "stakeholder:Visitor")[3] == words


@pytest.mark.parametrize("more", [0, 1, 5])
def test_the_first_rules_are_shown_and_every_baseline(printed, more):
    """Three lists of stakeholders come first; the draw at random comes last."""
    names = [f"rule_{k}" for k in range(FIRST - 3 + more)]
    content = made(rules=tuple(names))
    lines = printed(content)
    shown = [line.split()[0] for line in lines if line.startswith("rule_")]
    assert shown == names[: FIRST - 3] and cells(lines, "random_slate")
    rest = [line for line in lines if "all of them on the page" in line]
    assert rest == ([f"… and {more} more, all of them on the page"] if more else [])


@pytest.mark.parametrize(("probability", "on_front", "words"), [
    (0.9375, True, " (in brackets: in how many resamples): borda (94%)"),
    (None, True, ": borda"),
    (1.0, False, ": nobody"),
])  # fmt: skip
def test_who_is_not_dominated(printed, probability, on_front, words):
    content = made()
    for row in content["front"]["rows"]:
        row |= {"on_front": on_front and row["rule"] == "borda", "probability": probability}
    assert f"- not dominated in user attained and worst off{words}" in printed(content)


def test_what_was_found_and_what_to_mind_are_listed_in_order(printed, tmp_path):
    content = made()
    content["trial"]["words"] = "borda improves it."
    lines = printed(content)
    at = lines.index("found:")
    assert lines[at - 1] == "" and lines[at + 1] == "- borda improves it."
    assert lines[at + 2].startswith("- not dominated")
    assert lines[at + 3 : -3] == [
        "- The table orders rules on the requests that it reports.", "", "mind:", "- nobody was consulted",
        "- DAYS ARE MADE UP.",
    ]  # fmt: skip
    assert lines[-3:] == ["", f"page: {tmp_path / 'report.html'}", f"lists: {tmp_path / 'slates.csv'}"]
    content["warnings"], content["source"]["notes"] = [], []
    assert "mind:" not in printed(content)


@pytest.mark.parametrize("tried", [True, False])
def test_the_price_of_an_old_state_is_told_of_the_rule_that_was_chosen(printed, tried):
    """Without a trial, of the first candidate; by the measures that count."""
    content = made()
    content["leaderboard"][0]["candidate"] = False
    content["trial"] = content["trial"] | {"chosen": "borda"} if tried else None
    price = {"value": -0.125, "low": -0.25, "high": -0.0625, "undefined": 0.0, "better": False}
    labels = [column["label"] for column in content["columns"]]
    rules = {row["strategy"]: dict.fromkeys(labels, price) for row in content["leaderboard"]}
    rules["borda"] = dict.fromkeys(labels, price | {"value": 0.5, "low": None, "high": None, "better": None})
    content["staleness"] = {
        "staleness": 1, "batches": 4, "at_once": 2, "rounds": 2, "level": 0.95, "words": "Rules see an old state.",
        "rules": rules,
    }  # fmt: skip
    (line,) = [line for line in printed(content) if line.startswith("- Rules see an old state.")]
    assert line.removeprefix("- Rules see an old state. ") == (
        "borda: worst off +0.500; user attained +0.500."
        if tried
        else "stakeholder:Residents: worst off −0.125 [−0.250, −0.062]; user attained −0.125 [−0.250, −0.062]."
    )


@pytest.mark.parametrize(("stakeholders", "names"), [
    (("Visitor", "Small_shops"), {
        "Small_shops": "Small shops", "stakeholder:Small_shops": "Small shops alone",
        "nash_slate[swaps=1]": "Nash slate (swaps=1)", "stakeholder:Visitor": "Visitor alone",
        "random_slate": "random slate",
    }),
    (("Small_shops", "Small shops"), {
        "nash_slate[swaps=1]": "Nash slate (swaps=1)", "random_slate": "random slate",
    }),
    (("random slate", "_"), {
        "nash_slate[swaps=1]": "Nash slate (swaps=1)", "stakeholder:random slate": "random slate alone",
        "stakeholder:_": "_ alone",
    }),
])  # fmt: skip
def test_labels_are_put_into_words_unless_two_would_read_alike(stakeholders, names):
    content = made(rules=("nash_slate[swaps=1]", "borda"), stakeholders=stakeholders, user=None)
    assert _names(SlateResult.read(content)) == names
