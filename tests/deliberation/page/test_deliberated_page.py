"""The page of a deliberation: one well-formed file that says what the JSON says, losses and nulls included."""

from __future__ import annotations

import copy
import json
import re

import pytest

from accordant.errors import InputError
from accordant.deliberation.page import render_deliberated, write_deliberated
from accordant.deliberation.result import FORMAT, read_result
from tests.drawings import faults

ONE = ("answer", "sides", "emergence", "ledger", "transcript", "process", "regrets", "otherwise", "patients", "made")
MANY = ("answer", "lines", "emergence", "made")
HOSTILE = "<script>alert('x')</script>\u202e\x07\"><img src=x onerror=y>"


@pytest.mark.long
def test_every_kind_is_one_well_formed_page_that_leads_nowhere(contents, page):
    for name, content in contents.items():
        html = render_deliberated(content)
        found = page(html)
        identifiers = found.all("id")
        assert len(identifiers) == len(set(identifiers)), name
        assert set(ONE if content["kind"] == "one" else MANY) <= set(identifiers), name
        assert {href[1:] for href in found.all("href")} <= set(identifiers), name
        assert set(" ".join(found.all("aria-labelledby")).split()) <= set(identifiers), name
        assert html.count("<script") == 1
        assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import", html), name
        assert not re.search(r"\b(is|are) fair\b", found.text), name
        assert not {"nan", "none,", "undefined"} & set(found.text.lower().split()), name


@pytest.mark.long
def test_a_page_that_is_written_speaks_by_words(contents, page, tmp_path):
    for place, content in enumerate(contents.values()):
        written = write_deliberated(read_result(content), tmp_path / f"{place}.html").read_text(encoding="utf-8")
        text = page(re.sub(r"<(pre|code)\b.*?</\1>", "", written, flags=re.DOTALL)).text
        assert not re.findall(r"\b[a-z]+_[a-z_]+\b(?!\.csv)", text)
        assert content["kind"] == "many" or "chance with the grant" in text


@pytest.mark.long
def test_a_page_comes_from_json_alone_and_is_the_same_every_time(contents):
    for content in contents.values():
        kept = copy.deepcopy(content)
        html = render_deliberated(content)
        assert content == kept
        assert render_deliberated(json.loads(json.dumps(content))) == html


def test_what_is_simulated_and_who_is_adversarial_stands_above_everything(content, page):
    text = page(render_deliberated(content)).text
    first = text.index("The joint allocation")
    assert text.index("SIMULATED") < text.index("ADVERSARIAL") < text.index("not clinical decision support") < first
    content["source"] = {
        "label": "visits.csv (sha256 0123)",
        "simulated": False,
        "sha256": "0" * 64,
        "found_in": "--data",
    }
    content["deliberation"]["adversarial"], content["warnings"] = [], []
    text = page(render_deliberated(content)).text
    assert "SIMULATED" not in text and "ADVERSARIAL" not in text
    assert "sha256 " + "0" * 64 in text


def test_the_answer_names_who_is_granted_and_every_criterion_with_its_threshold(content, page):
    text = page(render_deliberated(content)).text
    answer = text[text.index("The joint allocation") : text.index("Side by side Who")]
    assert ", ".join(content["deliberation"]["settled"]["allocation"]) in answer
    assert "For card triage-random, version 1" in answer
    for each in content["verdict"]["criteria"]:
        assert re.search(rf"{each['metric']}.*? {each['threshold']:.3f} {each['standing']}\b", answer)
    assert "fixture" in answer and "read before using any number below" in answer


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": "agreement"}, "All agents agreed on one proposal."),
        ({"rule": "bargain", "time": 0.25}, "It was settled by the rule bargain. The rule found it at time 0.25 of 1."),
        ({"rule": "bargain", "agreed": False}, "The agents did not agree"),
        ({"tied": True}, "a tie-break decided"),
        ({"tied": False}, "There was no tie."),
        ({"gap": 0.125}, "could be better by up to 0.125"),
        ({"gap": None}, "It is not known how much better"),
    ],
)
def test_how_it_was_settled_is_said_in_words(content, page, change, sentence):
    content["deliberation"]["settled"] |= change
    text = page(render_deliberated(content)).text
    assert sentence in text[: text.index("Criterion Value")]


def test_gain_and_loss_have_equal_weight_and_losses_are_named(content, page):
    found = content["emergence"]
    label = found["criteria"][0]
    found |= {"better_solo": "rawlsian", "difference": -1, "gain": 0, "loss": 1, "lost": [label], "joint": []}
    found["solo"]["rawlsian"] = [label]
    html = render_deliberated(content)
    text = page(html).text
    assert (
        f"A loss of 1: the joint allocation meets 0 of 4 criteria, 1 fewer than rawlsian alone. It wins none and loses {label}."
        in text
    )
    assert html.count('class="scale-number"') == 2
    assert "Gain 0 criteria more" in text and "Loss 1 criterion fewer" in text
    assert "Difference −1" in text and f"Lost {label}" in text
    found |= {"difference": 0, "loss": 0, "gain": 0, "joint": [found["criteria"][1]]}
    text = page(render_deliberated(content)).text
    assert f"It wins {found['criteria'][1]} and loses {label}." in text


def test_both_null_hypotheses_stand_in_the_table_of_emergence(contents, page):
    for name in ("pair", "five", "vote"):
        content = contents[name]
        text = page(render_deliberated(content)).text
        table = text[text.index("Who decides") : text.index("Losses count as gains do")]
        for each in content["deliberation"]["agents"]:
            assert f"null 1: random, at the level of {each['name']} " in table
            assert f"null 2: {each['name']} searches alone " in table
            assert f"{each['name']} alone " in table


@pytest.mark.parametrize("null", ["random", "search"])
@pytest.mark.parametrize("kind", ["one", "many"])
def test_a_missing_null_hypothesis_is_an_error(content, many, null, kind):
    given = content if kind == "one" else many
    found = given["emergence"] if kind == "one" else given["repeated"]
    whole = found[null]
    partial = (
        [each for each in whole if each["agent"] != "biased"] if kind == "one" else {"rawlsian": whole["rawlsian"]}
    )
    for wrong in (partial, type(whole)()):
        found[null] = wrong
        with pytest.raises(InputError, match=f"{len(wrong)} null hypotheses for 2 agents; allowed: one for each"):
            render_deliberated(given)
    del found[null]
    with pytest.raises(InputError, match=rf"key '\w+\.{null}' is missing"):
        render_deliberated(given)


def test_json_is_read_back_to_the_same_result(contents):
    for content in contents.values():
        result = read_result(content)
        assert result.to_json() == json.loads(json.dumps(content))
        assert read_result(result.to_json()) == result


@pytest.mark.parametrize("kind", ["one", "many"])
def test_unknown_and_missing_keys_are_named(content, many, kind):
    given = content if kind == "one" else many
    with pytest.raises(InputError, match="unknown key 'warning'.*did you mean 'warnings'"):
        read_result(given | {"warning": []})
    del given["source"]["simulated"]
    with pytest.raises(InputError, match=r"key 'source\.simulated' is missing"):
        read_result(given)


def test_other_formats_and_kinds_are_refused(content):
    with pytest.raises(InputError, match=r"has format 99; allowed: 1"):
        render_deliberated(content | {"result": 99})
    with pytest.raises(InputError, match=r"kind 'few'; allowed: one, many"):
        render_deliberated(content | {"kind": "few"})
    with pytest.raises(InputError, match="has format None"):
        render_deliberated({})
    assert FORMAT == 1


def _poisoned(value, names):
    """Return JSON with hostile text behind every text that is not a word the page reads."""
    if isinstance(value, dict):
        return {key: HOSTILE + str(each) if key in names and isinstance(each, str) else _poisoned(each, names)
                for key, each in value.items()}  # fmt: skip
    return [_poisoned(each, names) for each in value] if isinstance(value, list) else value


def test_hostile_text_is_shown_and_does_nothing(content, many, page):
    names = {"title", "text", "about", "code", "generated_by", "label", "description", "chosen_by", "card"}
    for given in (content, many):
        poisoned = _poisoned(given, names)
        poisoned["warnings"] = poisoned["notes"] = [HOSTILE]
        if given["kind"] == "one":
            record = poisoned["deliberation"]
            record["scenario"]["patients"][0]["facts"]["note"] = HOSTILE
            for each in record["scenario"]["patients"][1:]:
                each["facts"]["note"] = "a note"
            record["turns"][0]["void"] = [HOSTILE]
            record["turns"][0]["reasons"][0] |= {"facts": [HOSTILE], "passages": [HOSTILE]}
            record["settled"]["details"] = {HOSTILE: HOSTILE, "list": [HOSTILE, {"agent": HOSTILE}], "of": {HOSTILE: 1}}
            poisoned["usage"] = {HOSTILE: {HOSTILE: 1}}
            poisoned["ledger"][0]["void"] = [HOSTILE]
        html = render_deliberated(poisoned)
        assert html.count("<script") == 1 and "<img" not in html
        assert "\u202e" not in html and "\x07" not in html
        assert page(html).text.count("<script>alert('x')</script>") > (20 if given["kind"] == "one" else 3)


@pytest.mark.long
def test_hostile_names_of_agents_and_patients_are_escaped(contents, page):
    renamed = json.loads(
        json.dumps(contents["pair"])
        .replace('"p01"', '"<b>p01"')
        .replace("rawlsian", "<i>rawls")
        .replace("'p01'", "'<b>p01'")
    )
    html = render_deliberated(renamed)
    assert "<b>p01" not in html and "<i>rawls" not in html
    assert "<b>p01" in page(html).text and "<i>rawls alone" in page(html).text


def test_what_is_not_defined_says_so_and_why(content, page):
    content["process"]["influence"] = {"rawlsian": None, "biased": None}
    content["restored"], content["conversion"] = None, {"rawlsian": None}
    content["flips"], content["order"], content["emergence"], content["verdict"] = None, None, None, None
    content["access"] = dict.fromkeys(content["access"])
    for row in content["sides"].values():
        for each in row.values():
            each |= {"value": None, "met": None}
    text = page(render_deliberated(content)).text
    assert "not defined nobody moved" in text
    assert "Restored access not defined: it needs" in text
    assert "rawlsian: not defined, both wanted the same from the start" in text
    assert "Not defined: no criteria were declared beforehand" in text
    assert "Not defined: no fact is protected" in text
    assert "no scope card: nobody stated criteria" in text
    content["usage"] = {"rawlsian": {"calls": 3}}
    text = page(render_deliberated(content)).text
    assert "a language model speaks, and is not asked again for every permutation" in text and "calls 3" in text


def test_without_a_watched_group_nothing_is_said_of_access(content, page):
    content |= {"marginal": None, "access": None, "restored": None, "conversion": {}}
    text = page(render_deliberated(content)).text
    assert "watched group" not in text.lower()


def test_every_allocation_stands_with_its_values_and_its_access(content, page):
    labels = list(content["sides"]["joint"])
    for place, (row, key) in enumerate(zip(content["sides"].values(), list(content["access"]), strict=True)):
        content["access"][key] = 0.101 * (place + 1)
        row[labels[0]] = {"value": 0.011 * (place + 1), "met": place == 0}
    html = render_deliberated(content)
    table = html[html.index('id="sides-caption"') :]
    rows = re.findall(r"<tr.*?</tr>", table[: table.index("</table>")], re.S)[1:]
    said = [page(row).text for row in rows]
    names = ["rawlsian alone", "biased alone", "rawlsian revised", "biased revised", "joint"]
    for place, (name, text) in enumerate(zip(names, said, strict=True)):
        assert text.startswith(f"{name} {0.011 * (place + 1):.3f} {'met' if place == 0 else 'not met'}")
        assert text.endswith(f"{0.101 * (place + 1):.3f}")


def test_heads_of_criteria_are_stacked_so_that_columns_stay_narrow(contents, page):
    """Name, parameters and threshold stand below one another; the text is still the whole label."""
    for name in ("pair", "many"):
        content = copy.deepcopy(contents[name])
        label, longer = "benefit_ratio ≥ 0.75", "equal_opportunity_gap(group=sex, urgent=severity) ≤ 0.34"
        content = json.loads(json.dumps(content, ensure_ascii=False).replace(label, longer))
        html = render_deliberated(content)
        (head,) = re.findall(r'<th scope="col" class="number metric">(equal_(?:(?!</th>).)*severity.*?)</th>', html)
        lines = [page(part).text for part in re.findall(r'<span class="sub">.*?</span>', head)]
        assert lines == ["(group=sex, urgent=severity)", "≤ 0.34"]
        assert page(head).text == "equal_opportunity_gap (group=sex, urgent=severity) ≤ 0.34"
        assert re.search(r"\.deliberated \.metric \{ max-width: \d+rem; \}", html)


def test_measures_of_the_process_stand_with_what_they_mean(content, page):
    content["process"] |= {
        "hamming": {"rawlsian": 3, "biased": 1}, "influence": {"rawlsian": 0.25, "biased": None},
        "grounding": 0.125, "minority_survival": None,
    }  # fmt: skip
    content["process"]["contestation"] = {"rawlsian": 0.5, "biased": 0.0, "anybody": 0.625}
    content["satisfaction"]["gap"] = 0.321
    text = page(render_deliberated(content)).text
    assert "moved on Patients whose joint share differs from the agent's first wish. 3 1 " in text
    assert "over all moves of all agents. 25% not defined nobody moved" in text
    assert "challenged by anybody Disputed patients that some agent challenged" in text and "patients. 62.5% " in text
    assert "grounding Citations of passages that had been looked up by then, over all citations. 12.5% " in text
    assert "not defined no wish was held by fewer than half of the agents" in text
    assert "Largest minus smallest utility of the joint allocation: 0.321." in text


def test_the_ledger_says_who_moved_towards_whom_and_why(content, page):
    html = render_deliberated(content)
    text = page(html).text
    table = text[text.index("First → last → joint") : text.index("Transcript Only typed")]
    for each in content["ledger"]:
        shares = " → ".join(f"{each[when]:.0f}" for when in ("solo", "revised", "joint"))
        assert re.search(rf"{each['patient']}\b.*?{each['agent']}.*?{shares}", table)
        for sentence in each["void"]:
            assert f"void: {sentence}" in table
    assert any(each["conceded_to"] or each["yielded_to"] for each in content["ledger"])


def test_the_transcript_marks_what_is_void_and_where_a_rule_stood_in(content, page):
    turns = content["deliberation"]["turns"]
    turns[0] |= {"fallback": True, "generated_by": "model tiny"}
    turns[0]["reasons"][0]["passages"] = ["invented-1"]
    if "faults" in turns[0]:
        fault = {"why": "not_looked_up", "part": "reason", "place": 0, "names": ["invented-1"]}
        turns[0]["faults"] = [*turns[0]["faults"], fault]
    html = render_deliberated(content)
    text = page(html).text
    assert "model tiny · fallback: a rule stood in for the model" in text
    assert "invented-1 (never looked up) · void" in text
    assert "reads group (protected) · void" in text
    for turn in turns:
        for sentence in turn["void"]:
            assert sentence in text
    for name, commitment in content["deliberation"]["commitments"].items():
        assert f"{name} {commitment}" in text


def test_what_an_agent_would_do_instead_is_not_called_its_proposal(contents, page):
    content = contents["offers"]
    last = content["deliberation"]["turns"][-1]
    assert last["accepts"] is not None
    text = page(render_deliberated(content)).text
    assert f"accepts the proposal of {last['accepts']} template Otherwise it would grant" in text
    assert "Offer 1" in text and "Round 1" not in text


def test_a_vote_shows_candidates_from_one_and_rankings(contents, page):
    content = contents["vote"]
    text = page(render_deliberated(content)).text
    winner = content["deliberation"]["settled"]["details"]["winners"][0]
    assert f"winners candidate {winner + 1}" in text
    ballots = [turn["ranking"] for turn in content["deliberation"]["turns"] if turn["move"] == "vote"]
    assert ballots and all(
        f"ranks the candidates {', '.join(str(k + 1) for k in each)}, best first" in text for each in ballots
    )


def test_regrets_are_numbered_shaded_and_own_frameworks_framed(content, page):
    html = render_deliberated(content)
    matrix = html[html.index('id="regrets-caption"') :]
    cells = re.findall(r'<td class="number regret-(\d) (own)?">([\d.]+)</td>', matrix[: matrix.index("</table>")])
    flat = [value for row in content["regrets"]["regrets"] for value in row]
    assert [text for _, _, text in cells] == [f"{value:.2f}" for value in flat]
    assert all((shade == "0") == (value <= 0) for (shade, _, _), value in zip(cells, flat, strict=True))
    assert [
        shade for shade, _ in sorted(zip((c[0] for c in cells), flat, strict=True), key=lambda pair: pair[1])
    ] == sorted(c[0] for c in cells)
    assert sum(bool(own) for _, own, _ in cells) == 2  # alone and revised of the one agent that has a framework


def test_strategies_say_whether_they_choose_the_joint_allocation_and_whom_otherwise(content, page):
    joint = content["deliberation"]["settled"]["allocation"]
    label = next(iter(content["choices"]))
    content["choices"][label] |= {"allocation": {}, "tied": True, "agrees": False, "shared": 0.5, "exact": True}
    text = page(render_deliberated(content)).text
    assert f"{label} another 50% a tie-break decided {', '.join(sorted(joint))}" in text


def test_flips_and_orders_are_told(content, page):
    content["order"]["changed"] = [0, 3]
    text = page(render_deliberated(content)).text
    assert "biased, then rawlsian 3 " in text
    assert "group was handed on among patients 20 times" in text and "The test is empty" not in text
    assert "patients who then get another share, with 95% intervals" in text


def test_many_replies_are_counted_and_folded(content, page):
    turn = next(each for each in content["deliberation"]["turns"] if each["move"] == "contest")
    reply = {"patient": "p01", "kind": "concede", "reason": None}
    turn["replies"] = [reply] * 30 + [reply | {"kind": "challenge"}]
    text = page(render_deliberated(content)).text
    assert "31 replies: 1 challenge and 30 concede All replies concede p01" in text


@pytest.mark.long
def test_struck_claims_stand_between_contestation_and_answers(contents, page):
    """Where they were made: after the round that cited a protected fact, before anybody answered."""
    content = contents["no deal"]
    struck = content["deliberation"]["struck"]
    assert list(struck) == ["biased"]
    text = page(render_deliberated(content)).text
    told = text[text.index("Round 2: Contestation") : text.index("Round 3: Accept or counter")]
    claims = told[told.index("Struck claims") :]
    assert claims.startswith("Struck claims A reason had cited a protected fact, so the agent was asked again without")
    assert re.search(rf"biased proposes .*Grants {', '.join(struck['biased']['allocation'])} ", claims)
    assert text.count("Struck claims") == 1
    assert "The agents did not agree" in text


@pytest.mark.long
def test_a_struck_claim_shows_its_turn_where_the_record_has_it(contents, page):
    content = copy.deepcopy(contents["no deal"])
    record = content["deliberation"]
    record["asides"] = [
        {**record["struck"]["biased"], "move": "propose", "agent": "biased", "step": 2, "generated_by": "model tiny",
         "fallback": True, "void": ["one reason is on nobody"], "faults": []},
        {**record["turns"][0], "step": 1, "faults": []},
    ]  # fmt: skip
    text = page(render_deliberated(content)).text
    claims = text[text.index("Struck claims") : text.index("Round 3")]
    assert claims.count("biased proposes") == 1
    assert "model tiny · fallback: a rule stood in" in claims and "one reason is on nobody" in claims
    unheard = text[text.index("First wishes Asked for the record alone") : text.index("Round 1")]
    assert f"{record['turns'][0]['agent']} proposes" in unheard


@pytest.mark.long
def test_faults_of_the_record_are_what_the_transcript_marks(content, page):
    """A passage that was looked up later is void where it was cited first, and a reason on nobody has no bad name."""
    first = content["deliberation"]["turns"][0]
    first["reasons"] = [
        {"patient": "p01", "code": name, "text": name, "facts": ["group"], "passages": ["doc-1"]} for name in "abc"
    ]
    first["faults"] = [
        {"why": "not_looked_up", "part": "reason", "place": 0, "names": ["doc-1"]},
        {"why": "no_patient", "part": "reason", "place": 2, "names": []},
        {"why": "no_reply", "part": None, "place": None, "names": []},
    ]
    text = page(render_deliberated(content)).text
    assert "a a · reads group · cites doc-1 (never looked up) · void" in text
    assert "b b · reads group · cites doc-1 p01 c" in text
    assert "c c · reads group · cites doc-1 · void" in text


@pytest.mark.long
@pytest.mark.parametrize("holds", [True, False])
def test_emergence_is_an_answer_with_a_definition(content, page, holds):
    """No sentence on the page claims what the answer denies."""
    content["emergence"] |= {"strict": holds, "novel_set": holds, "possible": holds}
    text = page(render_deliberated(content)).text
    start = "yes (it means that" if holds else "no (it would mean that"
    assert f"Strict emergence {start} the joint allocation meets all criteria and no agent alone does)" in text
    assert f"Novel set {start} no agent alone meets all the criteria that the joint allocation meets)" in text
    assert f"Possible {start} some allocation that was compared meets all criteria)" in text
    assert "contained in what no agent" not in text


@pytest.mark.long
def test_an_empty_test_of_facts_says_so(content, page):
    assert "The test is empty" not in page(render_deliberated(content)).text
    content["flips"] |= {"touched": 0.0, "empty": True}
    assert "The test is empty: no patient got other protected facts" in page(render_deliberated(content)).text


def test_approach_stands_beside_conversion(content, page):
    content["approach"] = {"rawlsian": -0.125}
    text = page(render_deliberated(content)).text
    told = text[text.index("Conversion How far") :]
    assert "Approach How much nearer" in told and "rawlsian: −0.125" in told
    content["approach"] = {"rawlsian": None}
    told = page(render_deliberated(content)).text.partition("Approach How much nearer")[2]
    assert "rawlsian: not defined, both wanted the same" in told[:400]
    content["approach"] = {}
    assert "Approach How much" not in page(render_deliberated(content)).text


def test_choices_of_a_search_say_among_how_many(content, page):
    for each in content["choices"].values():
        each["exact"] = True
    assert "that a search found" not in page(render_deliberated(content)).text
    label, *others = content["choices"]
    content["choices"][label] |= {"exact": False, "among": 123}
    text = page(render_deliberated(content)).text
    assert f"{label} of 123 allocations that a search found" in text and text.count("that a search found") == 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("$ACCORDANT_DATA", "through $ACCORDANT_DATA"),
        ("cache", "in the cache"),
        ("beside the case", "beside the case file"),
    ],
)
def test_data_that_were_found_must_be_there_again(content, page, place, words):
    assert "must be there again" not in page(render_deliberated(content)).text  # simulated
    content["source"] = {"label": "v.csv (sha256 0123)", "simulated": False, "sha256": "0" * 64, "found_in": place}
    text = page(render_deliberated(content)).text
    assert f"The command names no data: the file was found {words}. It must be there again" in text
    content["source"]["found_in"], content["options"]["data"] = "--data", "visits.csv"
    assert "must be there again" not in page(render_deliberated(content)).text


@pytest.mark.parametrize(
    ("replaced", "words", "loud"),
    [
        (0, "A rule stood in for it in 0 of 3 moves (0%).", False),
        (1, "A rule stood in for it in 1 of 3 moves (33.3%).", False),
        (3, "A rule stood in for it in all 3 moves (100%): what stands here was decided by rules", True),
    ],
)
def test_how_often_a_rule_stood_in_stands_beside_the_answer(content, page, replaced, words, loud):
    """Of the moves of the model alone: a rule agent beside it has none to lose."""
    content["usage"] = {"rawlsian": {"calls": 3, "moves": 3} | ({"fallbacks": replaced} if replaced else {})}
    html = render_deliberated(content)
    text = page(html).text
    answer = text[text.index("The joint allocation") : text.index("Criterion Value")]
    assert f"A language model speaks for rawlsian. {words}" in answer
    assert ("No language model spoke" in answer) == loud


@pytest.mark.long
def test_without_a_model_nothing_is_said_of_one(contents, page):
    for content in contents.values():
        assert "language model speaks" not in page(render_deliberated(content)).text.partition("How to reproduce")[0]


@pytest.mark.parametrize(
    ("spent", "words", "loud"),
    [
        ({"moves": 8, "fallbacks": 2}, "A rule stood in for it in 2 of 8 moves (25%).", False),
        ({"moves": 8, "fallbacks": 8}, "A rule stood in for it in all 8 moves (100%)", True),
    ],
)
def test_many_deliberations_say_how_often_a_rule_stood_in(many, page, spent, words, loud):
    """Of the moves of the model alone: rule agents beside it made the others."""
    many["usage"] = {"rawlsian": {**spent, "calls": 12, "tokens_in": 345}}
    text = page(render_deliberated(many)).text
    answer = text[text.index("The answer") : text.index("All ways to decide How often")]
    assert f"A language model speaks for rawlsian. {words}" in answer and ("No language model spoke" in answer) == loud
    assert "What the language models used" in text and "calls 12, tokens in 345" in text


@pytest.mark.long
def test_many_patients_fold_those_who_are_treated_alike(contents, page, hold):
    content = hold("rawlsian,utilitarian", patients=60, capacity={"bed": 58.0})
    html = render_deliberated(content)
    text = page(html).text
    assert re.search(r"\d+ patients whom all allocations of agents and the joint one treat alike", text)
    assert "Who they are" in text
    assert html.count('class="chart sized"') == 2


def test_lines_of_many_patients_are_folded_with_moves_first(content, page):
    quiet = {**content["ledger"][0], "solo": 1.0, "revised": 1.0, "joint": 1.0, "patient": "p02"}
    moved = {**quiet, "joint": 0.0, "patient": "p03"}
    content["ledger"] = [quiet] * 40 + [moved]
    html = render_deliberated(content)
    first = html[html.index('id="ledger-caption"') : html.index('id="ledger-rest-caption"')]
    assert first.index("p03") < first.index("p02") and html.count('<th scope="row">p02') == 40
    assert "The other 5 lines" in page(html).text


def test_many_deliberations_report_losses_and_nulls_beside_the_joint(many, page):
    repeated = many["repeated"]
    repeated["loss"] |= {"value": 0.75, "low": 0.3, "high": 0.95}
    text = page(render_deliberated(many)).text
    assert "and fewer in 75% [30%, 95%]" in text
    assert text.count("Losses count as gains do.") == 2
    assert "Loss 75%" in text
    for name in repeated["agents"]:
        assert f"null 1: random, level of {name}" in text and f"null 2: search by {name}" in text
    for key in repeated["lines"]:
        assert (
            key.replace("solo ", "").replace("revised ", "").replace("strategy ", "") in text or key == "disagreement"
        )
    for label in repeated["criteria"]:
        assert label in text
    assert all(each in text for each in repeated["hashes"])


def test_many_without_an_adversary_say_why_access_is_not_restored(contents, page):
    text = page(render_deliberated(contents["many legitimate"])).text
    assert "restored access it needs exactly one adversarial agent, and a watched group not defined" in text
    assert "ADVERSARIAL" not in text


def test_a_share_that_is_defined_in_some_scenarios_says_in_how_many(many, page):
    label = many["repeated"]["criteria"][0]
    shares = many["repeated"]["lines"]["joint"]["met"]
    shares[label] |= {"value": 0.5, "low": 0.1, "high": 0.9, "n": 2}
    shares[many["repeated"]["criteria"][1]] |= {"value": None, "low": None, "high": None, "n": 0}
    text = page(render_deliberated(many)).text
    assert "50% [10%, 90%] mean" in text and "defined in 2" in text and "defined in 0" in text


def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(contents):
    assert {name: found for name, content in contents.items() if (found := faults(render_deliberated(content)))} == {}
