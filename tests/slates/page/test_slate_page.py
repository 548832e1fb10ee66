"""The page of served slates: one well-formed file that says what the JSON says."""

from __future__ import annotations

import json
import re

import pytest

from accordant.errors import InputError
from accordant.naming import Named
from accordant.report.section_parts import nested
from accordant.report.scale import interval, number, percent
from accordant.sections import page_parts
from accordant.slates.page import render_slates
from accordant.slates.page.reading import SlateReading
from accordant.slates.result import SlateResult
from accordant.slates.page.summary import signed, span
from accordant.slates.options import SlateOptions
from accordant.slates.section import open_slates, show_slates
from tests.drawings import faults

SECTIONS = ("answer", "changes", "front", "leaderboard", "who", "attention", "load", "time", "robustness", "objectives",
            "examples", "scope", "made")  # fmt: skip


def text_of(section, html, page):
    """Return what one section says."""
    part = re.search(rf'<section id="{section}".*?</section>', html, re.DOTALL)
    assert part is not None
    return page(part[0]).text


@pytest.mark.parametrize("found", [None, 0, 1, 3, "2"])
def test_another_format_is_refused(situations, found):
    with pytest.raises(InputError, match="allowed: 2"):
        render_slates(situations("tiny") | {"result": found})


@pytest.mark.long
def test_every_situation_gives_one_whole_page(variant, page):
    content, html = variant
    read = page(html)
    assert html == render_slates(json.loads(json.dumps(content)))
    ids = read.all("id")
    assert len(ids) == len(set(ids))
    for name in ("aria-labelledby", "aria-describedby"):
        assert {part for value in read.all(name) for part in value.split()} <= set(ids)
    assert {value[1:] for value in read.all("href")} <= set(ids)
    for word in ("nan", "None", "inf", "Undefined"):
        assert not re.search(rf"\b{word}\b", read.text)
    assert " fair " not in read.text.lower()


@pytest.mark.few(4)
def test_nothing_is_loaded_from_elsewhere(variant, page):
    _, html = variant
    read = page(html)
    assert {value for value in read.all("xmlns")} <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"(?:src|href|action|data)\s*=\s*[\"']?\s*(?:https?:|//|data:)", html)
    assert not re.search(r"url\(|@import", html)
    assert not {"img", "link", "iframe", "object", "form"} & set(read.tags)


def test_hostile_names_are_text(situations, page):
    html = render_slates(situations("hostile"))
    assert html.count("<script") == 1  # the one of all pages
    assert "\x00" not in html
    read = page(html)
    assert "<script>alert(1)</script>\"'&{{ 7*7 }}" in read.text
    assert "49" not in read.text.replace("0.49", "")
    assert not [value for key, value in read.attributes if key.startswith("on")]


def test_sections_and_contents_agree(situations, page):
    html = render_slates(situations("tiny"))
    found = re.findall(r'<section id="([a-z]+)"', html)
    assert tuple(found) == SECTIONS
    assert [value[1:] for value in page(html).all("href")][1:] == list(SECTIONS[1:])


def test_trial_says_gain_and_price_in_the_same_size(situations, page):
    content = situations("tiny")
    html, trial = render_slates(content), content["trial"]
    answer = text_of("answer", html, page)
    assert "borda was chosen on the first 20 requests, and tried on the other 20" in answer
    assert (
        "There it improves what the worst-off attains against stakeholder:Visitor, but worsens what Visitor attains."
        in answer
    )
    assert "Even Visitor" not in answer
    for each, word in ((trial["gain"], "better"), (trial["price"], "worse")):
        assert f"{signed(each['value'])} {span(each['low'], each['high'])} {word}" in answer
    assert "not dominated no rule is as good in both and better in one It is not dominated in 98.3%" in answer
    assert html.count('<div class="outcome ') == 3
    assert html.count('<p class="outcome-value">') == 3


def test_a_trial_that_shows_nothing_says_so_as_loud(situations, page):
    content = situations("dominated")
    content["trial"]["on_front"] = 0.01
    html = render_slates(content)
    answer = text_of("answer", html, page)
    assert "There it cannot be shown to change what the worst-off attains" in answer
    assert "seq_pav dominates it on these requests; in 99% of resamples some rule does (seq_pav in 62%)." in answer
    assert "dominated by seq_pav another rule is as good in both and better in one" in answer
    assert "+0.010 [−0.020, +0.060] no change shown" in answer
    assert '<div class="outcome open">' in html


@pytest.mark.parametrize(("dominated_by", "on_front"), [([], 0.48), (["seq_pav"], 0.48)])
def test_dominance_that_resamples_do_not_confirm_is_open(situations, page, dominated_by, on_front):
    content = situations("tiny")
    content["trial"] |= {
        "dominated_by": dominated_by, "on_front": on_front, "dominators": {"seq_pav": 0.36, "borda": 0.08}
    }  # fmt: skip
    answer = text_of("answer", render_slates(content), page)
    assert "may be chance: resamples disagree It is not dominated in 48% of resamples." in answer


def test_without_a_user_the_page_says_why_there_is_no_trial(situations, page):
    html = render_slates(situations("nobody is the user"))
    assert "Nobody is the user here" in text_of("answer", html, page)
    assert "nobody is the user, so there is no list of the user alone" in text_of("changes", html, page)
    assert '<div class="outcome ' not in html
    assert "front-chart-title" in html


def test_simulated_data_are_called_so_above_everything(situations, page):
    simulated = render_slates(situations("simulated"))
    assert page(simulated).text.index("SIMULATED The requests are made up") < page(simulated).text.index(
        "What was shown"
    )
    assert "SIMULATED" not in page(render_slates(situations("tiny"))).text


def test_warnings_and_notes_of_the_data_stand_in_the_answer(situations, page):
    answer = text_of("answer", render_slates(situations("tiny")), page)
    assert "Nobody was consulted. DAYS ARE MADE UP." in answer


def test_losses_are_counted_beside_gains(situations, page):
    content = situations("tiny")
    html = render_slates(content)
    changes = text_of("changes", html, page)
    found = content["prices"]["rules"]["borda"]
    better, worse = (sum(each["better"] is state for each in found.values()) for state in (True, False))
    assert f"On all 40 requests: {better} better, {worse} worse and" in changes
    assert html.count('<td class="number gain">') == better > 0
    assert html.count('<td class="number loss">') == worse > 0
    for label, each in found.items():
        assert label in changes
        assert f"{signed(each['value'])} {span(each['low'], each['high'])}" in changes


def test_later_requests_stand_before_all(situations, page):
    content = situations("tiny")
    html = render_slates(content)
    changes = text_of("changes", html, page)
    later, every = content["trial"]["differences"], content["prices"]["rules"]["borda"]
    better, worse = (sum(each["better"] is state for each in later.values()) for state in (True, False))
    assert "On the later 20 requests, which took no part in choosing it," in changes
    assert f"{len(later)} measures: {better} better, {worse} worse" in changes
    assert html.count('<td class="number gain later">') == better > 0
    assert html.count('<td class="number loss later">') == worse > 0
    words = {True: "better", False: "worse", None: "no change shown"}
    for label in later:
        told = (
            f"{signed(each['value'])} {span(each['low'], each['high'])} {words[each['better']]}"
            for each in (later[label], every[label])
        )
        assert " ".join(told) in changes
    assert "The later requests begin with a new day." in changes
    assert "understated" not in page(html).text


def test_a_day_that_is_cut_in_two_is_said_loudly(situations, page):
    html = render_slates(situations("one day"))
    answer, changes = (text_of(name, html, page) for name in ("answer", "changes"))
    assert (
        "All requests are of one day, which is cut in two. What is counted by day, such as crowds, is under" in answer
    )
    assert "Earlier and later requests are of one day, so what is counted by day" in changes
    assert "new day" not in changes


def test_without_a_trial_all_requests_stand_alone(situations, page):
    content = situations("tiny") | {"trial": None}
    content["leaderboard"] = sorted(content["leaderboard"], key=lambda row: row["strategy"] != "borda")
    changes = text_of("changes", render_slates(content), page)
    assert "All requests, borda against stakeholder:Visitor." in changes
    assert "chosen by these same requests" in changes
    assert "later" not in changes


def test_a_user_who_gains_over_its_own_lists_is_explained(situations, page):
    content = situations("tiny")
    content["trial"]["price"] |= {"value": 0.125, "low": 0.0625, "high": 0.25, "better": True}
    answer = text_of("answer", render_slates(content), page)
    assert "Even Visitor attains more than with lists that are chosen for Visitor alone." in answer


def test_tables_hold_the_numbers_of_the_json(situations, page):
    content = situations("tiny")
    html = render_slates(content)
    board, front, who = (text_of(name, html, page) for name in ("leaderboard", "front", "who"))
    for row in content["leaderboard"]:
        assert f"{number(row['score']['value'])} {interval(row['score']['low'], row['score']['high'])}" in board
        for cell in row["metrics"].values():
            assert f"{number(cell['value'])} {interval(cell['low'], cell['high'])}" in board
    for row in content["front"]["rows"]:
        label = next(each for each in content["leaderboard"] if each["strategy"] == row["rule"])
        for axis in content["front"]["axes"]:
            cell = label["metrics"][axis]
            assert f"{number(cell['value'])} {interval(cell['low'], cell['high'])}" in front
    assert front.count("not dominated") - front.count("full: not dominated") >= 3
    assert "floor 0.500" in who
    assert "12.5% 6.2% 3.1% provably cannot" in who
    assert "those of baselines too, which are never mended" in who


def test_floors_are_shown_only_where_there_are_some(situations, page):
    content = situations("tiny")
    content["options"]["floors"] = False
    unmended = text_of("who", render_slates(content), page)
    assert "those of baselines too; no list was mended in this run" in unmended
    assert "Lists changed" not in unmended
    assert "Lists below a floor" in unmended
    bare = text_of("who", render_slates(situations("bare")), page)
    assert "floor" not in bare
    assert "Lists changed" not in bare


def test_a_mean_below_its_floor_is_marked(situations, page):
    content = situations("tiny")
    reading = SlateReading(content)
    below = sum((reading.attained(line, "Visitor")[0] or 0.0) < 0.5 for line in reading.lines)
    html = render_slates(content)
    assert text_of("who", html, page).count("below its floor") == below > 0
    for each in content["rules"]:
        each["floor_unmet"] = 0.0
    assert "below its floor" not in text_of("who", render_slates(content), page)


def test_what_is_attained_is_found_under_other_labels_too(situations):
    content = situations("tiny")
    for column in content["columns"]:
        column["label"] = column["label"].replace("attained City", "the city")
    for row in content["leaderboard"]:
        row["metrics"]["the city"] = row["metrics"].pop("attained City")
    for found in (*content["prices"]["rules"].values(), content["trial"]["differences"]):
        found["the city"] = found.pop("attained City")
    reading = SlateReading(content)
    value, cell = reading.attained(reading.lines[0], "City")
    known = reading.lines[0].row.metrics["the city"]
    assert value == known.value
    assert (cell.value, cell.interval) == (number(value), interval(known.low, known.high))
    assert reading.called("the city") == "what City attains"
    assert reading.called_all(["worst off", "overload"]) == "what the worst-off attains and “overload”"
    assert f"{cell.value}</span>" in render_slates(content)


def test_what_is_attained_is_taken_from_lines_over_time_without_a_measure(situations):
    content = situations("tiny")
    content["columns"] = [each for each in content["columns"] if each["label"] != "attained City"]
    reading = SlateReading(content)
    value, cell = reading.attained(reading.lines[0], "City")
    assert value == reading.lines[0].rule.over_time.attained[2][-1]
    assert (cell.value, cell.interval) == (number(value), "")


def test_many_rules_are_folded_and_none_is_lost(situations, page):
    html = render_slates(situations("many rules"))
    for section in ("leaderboard", "front", "who", "scope", "robustness"):
        found = text_of(section, html, page)
        assert all(f"rule_{k} " in found for k in range(40))
        assert "more rules" in found
    assert len(html) < 1_500_000


def test_robustness_and_majorities(situations, page):
    content = situations("tiny")
    found = text_of("robustness", render_slates(content), page)
    assert "0.812 25% unchanged" in found
    assert "0.087 [0.057, 0.138] in 68.8% of requests largest 0.312" in found
    assert "28 misreports were tried for each stakeholder. Only some misreports were tried" in found
    changes = content["rules"][1]["stability"][0]["changes"]
    low = min(changes, key=changes.get)
    assert f"{low} {signed(changes[low])}" in found
    assert "1 of 40 6.2% 0% 50%" in found
    assert "JR EJR+" in found
    assert "28.1%" in found
    assert "request 1 breaks EJR+: Visitor could claim 1 of 3 places" in found


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ((False, False), ("list by list: what items are worth stays", "")),
        ((True, True), ("All requests were served again", "")),
        ((False, True), ("Where a cell says “all served again”", "list by list")),
    ],
)
def test_whether_the_market_was_served_again_is_said(situations, page, again, said):
    content = situations("tiny")
    watched = [each for each in content["rules"] if each["stability"]]
    for place, each in enumerate(watched):
        for one in (*each["stability"], *each["manipulability"]):
            one["in_market"] = again[min(place, 1)]
    found = text_of("robustness", render_slates(content), page)
    assert found.count(said[0]) == 2
    cells = sum(len(each["stability"]) + len(each["manipulability"]) for each in watched[:1])
    assert len(re.findall(r"(?:nobody gains|[-−+.\d]+) list by list", found)) == (cells if said[1] else 0)


def test_who_spoke_for_whom(situations, page):
    content = situations("spoken for")
    html = render_slates(content)
    found = text_of("voices", html, page)
    assert "A rule stood in for the language model in 4 of 40 rankings" in found
    assert "A ranking counts if it reaches 0.50 of the largest agreement" in found
    assert "If not, the stakeholder has no say for that request" in found
    assert "Residents 0.562 0.438 25% 10 of 40 6 without a say 4 as declared 3 ranked nothing 4 of 40" in found
    assert "City 0.562 0.438 25% 10 of 40 10 as declared 3 ranked nothing –" in found
    assert (
        "speaker of Residents, language model Says what it likes. model small, temperature 0.000, fallback objective_ranker"
        in found
    )
    assert "For Visitor nobody spoke" in found
    assert "tokens per mode json 12 500 problems too long over budget no" in found
    assert 'href="#voices"' in html
    assert "NO MODEL SPOKE" not in html


def test_a_rule_that_stood_in_for_everything_is_said_above_everything(situations, page):
    html = render_slates(situations("no model spoke"))
    text = page(html).text
    assert text.index("NO MODEL SPOKE A rule stood in for all 40 rankings") < text.index("What was shown")
    assert "No ranking came from the language model A rule stood in for all 40 of them." in text_of(
        "voices", html, page
    )


def test_voices_that_were_asked_nothing_or_are_missing(situations, page):
    found = text_of("voices", render_slates(situations("nothing asked")), page)
    assert "Residents not defined not defined not defined" in found
    assert "NO MODEL SPOKE" not in render_slates(situations("nothing asked"))
    muted = situations("tiny")
    assert 'id="voices"' not in render_slates(muted)
    del muted["voices"]
    assert 'id="voices"' not in render_slates(muted)


def test_examples_name_their_request_and_items(situations, page):
    content = situations("tiny")
    content["examples"][0] |= {"id": "row 17", "items": ["item 3", "item 4"]}
    found = text_of("examples", render_slates(content), page)
    assert "Request “row 17” borda item 3 best for Visitor: 1.000 of the way item 4 Shown:" in found


def test_strips_are_hollow_for_dominated_rules(situations):
    content = situations("tiny")
    html = render_slates(content)
    free = sum(row["on_front"] for row in content["front"]["rows"])
    assert html.count('class="strip-cell full"') == free > 0
    assert html.count('class="strip-cell dominated"') == len(content["rules"]) - free > 0


def test_unmeasured_robustness_is_said(situations, page):
    found = text_of("robustness", render_slates(situations("bare")), page)
    assert "was not measured" in found
    assert "Proportionality" not in found


def test_objectives_stand_as_declared(situations, page):
    found = text_of("objectives", render_slates(situations("tiny")), page)
    assert "It is their day. Declared by: the authors." in found
    assert "more relevance per = item 3.00 0.20 0.562 floor met" in found
    assert "what visitors went on to" in found


def test_verdicts_name_threshold_and_who_chose_it(situations, page):
    found = text_of("scope", render_slates(situations("tiny")), page)
    assert "worst_off at least 0.300 the council nobody is left" in found
    assert "ndcg at least 0.300 nobody named not stated" in found
    assert "1 of 3 met met 0.406 not defined no threshold 0.156" in found
    assert "Not meant for guiding visitors" in found


@pytest.mark.parametrize("verdict", ["artefact", "real", "none", "undecided"])
def test_consumption_says_its_verdict_and_its_numbers(situations, page, verdict):
    content = situations("checked")
    content["consumption"]["verdict"] = verdict
    content["consumption"]["points"][1]["best_change"] = {"value": 0.0125, "low": 0.0, "high": 0.025, "effect": "holds"}
    found = text_of("consumption", render_slates(content), page)
    assert verdict in found.lower()
    assert "With more categories accuracy changes." in found
    assert "−0.0125 [−0.0312, +0.0062] unclear" in found
    assert "+0.0125 [0.0000, +0.0250] holds" in found
    assert "Users of these 147" in found


def test_consumption_in_words_alone(situations, page):
    html = render_slates(situations("checked in words"))
    assert "Too few requests. n 3" in text_of("consumption", html, page)
    assert "consumption-chart" not in html
    assert 'id="consumption"' not in render_slates(situations("tiny"))


def test_maps_bars_or_nothing(situations, page):
    tiny, bars, free = (render_slates(situations(name)) for name in ("tiny", "no coordinates", "neither"))
    assert "map-1-1-title" in tiny
    assert "load-1-title" not in tiny
    assert "Closed, and never shown: item 1." in text_of("load", tiny, page)
    assert "map-1-1-title" not in bars
    assert "load-1-title" in bars
    assert "Items have no coordinates" in text_of("load", bars, page)
    assert "No open item has a limit" in text_of("load", free, page)
    assert "map-1-1-title" not in free
    assert "load-1-title" not in free


def test_maps_are_titled_where_a_dense_centre_has_its_own_alone(situations, page):
    content = situations("tiny")
    assert "All items" not in text_of("load", render_slates(content), page)
    near = [content["items"][0] | {"name": f"near {k}", "latitude": 55 + k / 1e3, "longitude": -3.0} for k in range(12)]
    content["items"] += [*near, near[0] | {"name": "far", "latitude": 57.0}]
    said = text_of("load", render_slates(content), page)
    assert said.index("All items") < said.index("The centre, inside the frame")


def test_items_without_a_place_are_counted(situations, page):
    content = situations("tiny")
    content["items"][2] |= {"latitude": None}
    assert "1 item has no coordinates and is not on the map" in text_of("load", render_slates(content), page)


def test_the_most_crowded_items_come_first(situations, page):
    content = situations("tiny")
    lines = SlateReading(content).compared
    worst = max(peak for line in lines for peak in line.rule.crowding.peak)
    table = text_of("load", render_slates(content), page).split("chosen")[-1]
    assert f"1. {lines[0].rule.crowding.items[0]}" in table
    assert number(worst, 2) in table.split("2. item")[0]


@pytest.mark.long
def test_attention_and_time(situations, page):
    html = render_slates(situations("tiny"))
    assert text_of("attention", html, page).count("0.438") >= 3
    time = text_of("time", html, page)
    assert "Visitor 2 0.037 0.250 0.125" in time
    assert "One bar stands for" not in text_of("attention", html, page)
    many = render_slates(situations("many items"))
    assert "One bar stands for 16 or 17 items" in text_of("attention", many, page)
    assert len(many) < 1_500_000


def test_command_names_what_is_not_as_usual(situations):
    content = situations("tiny")
    assert "accordant slate tiny --resamples 300 --seed 7</pre>" in render_slates(content)
    content["options"] |= {
        "k": 4, "floors": False, "capacity": {"item 0": 2.5}, "requests": 9, "resamples": 1000, "data": "a b",
        "strategies": [{"name": "borda", "parameters": {}}, {"name": "owa", "parameters": {"share": 0.5}}],
    }  # fmt: skip
    found = re.search(r"<pre[^>]*>(.*?)</pre>", render_slates(content))
    assert found is not None
    assert found[1].replace("&#39;", "'") == (
        "accordant slate tiny --strategies 'borda,owa[share=0.5]' --no-floors --capacity 'item 0=2.5' --k 4 "
        "--requests 9 --data 'a b' --seed 7"
    )


def test_command_names_who_spoke(situations):
    content = situations("tiny")
    content["options"] |= {"rankings": "people.csv", "threshold": 0.25, "instead": "silence", "model": {
        "base_url": "http://localhost:1/v1", "model": "small", "agents": ["City", "Small shops"], "key_variable": "none",
        "fallback": True, "calls": 9, "tokens": None, "seconds": None, "timeout": 30.0, "record": None, "replay": None,
    }}  # fmt: skip
    found = re.search(r"<pre[^>]*>(.*?)</pre>", render_slates(content))
    assert found is not None
    assert found[1].replace("&#39;", "'") == (
        "accordant slate tiny --resamples 300 --rankings people.csv --threshold 0.25 --instead silence "
        "--llm http://localhost:1/v1 --model small --speaks-for 'City,Small shops' --fallback --key-variable none "
        "--calls 9 --seed 7"
    )


def test_facts_and_hash(situations, page):
    made = text_of("made", render_slates(situations("tiny")), page)
    assert "ab" * 32 in made
    assert "cold share 0.469" in made
    assert "open yes none not defined" in made
    assert "A note of the case." in made


@pytest.mark.long
def test_a_real_run_is_rendered(page):
    options = SlateOptions(strategies=(Named("borda"), Named("seq_pav")), requests=12, resamples=20)
    content = show_slates(open_slates("tourism-city", options)).to_json()
    html = render_slates(content)
    read = page(html)
    assert "SIMULATED" in read.text
    assert html == render_slates(json.loads(json.dumps(content)))
    for row in content["leaderboard"]:
        assert row["strategy"] in read.text
        assert percent(row["tied"]) in read.text


def test_the_part_of_a_page_of_a_run_is_the_page_without_head_foot_and_contents(situations, page):
    content = situations("tiny")
    part = page_parts.factory("slates")(SlateResult.read(content))
    assert (part.chapter, part.title) == ("lists", f"Lists of {content['k']}")
    whole = render_slates(content)
    sections = re.findall(r'<section id="([a-z]+)"', whole)
    assert re.findall(r'<section id="([a-z]+)"', part.html) == sections
    for section in sections[1:]:
        assert text_of(section, part.html, page) == text_of(section, whole, page)
    assert "<nav" in whole and "<nav" not in part.html
    html = nested(part.html, "s-")
    ids = re.findall(r' id="([^"]+)"', html)
    assert set(re.findall(r' href="#([^"]+)"', html)) <= set(ids)
    labelled = re.findall(r' aria-(?:labelledby|describedby)="([^"]+)"', html)
    assert {each for names in labelled for each in names.split()} <= set(ids)
    assert not re.search("<h[1-3]", html)
    assert ".outcomes" in part.style


@pytest.mark.few(6)
def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(variant):
    assert faults(variant[1]) == []
