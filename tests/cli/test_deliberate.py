"""``accordant deliberate``: the transcript as it happens, the verdict, JSON, wrong input and exit codes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.deliberation.terminal import UNITS
from accordant.terminal import capacities
from accordant.errors import InputError

SMALL = ["deliberate", "triage-random", "--patients", "6", "--capacity", "bed=2"]


def ran(*options):
    return CliRunner().invoke(app, [*SMALL, *options])


@pytest.mark.long
def test_a_transcript_in_three_rounds_then_ledger_verdict_and_nulls():
    result = ran("--agents", "rawlsian,biased", "--settle", "bargain", "--seed", "0")
    assert result.exit_code == 0, result.output
    text = result.stdout
    for part in (
        "round 1",
        "round 2",
        "round 3",
        "joint allocation, by ",
        "Ledger",
        "verdict:",
        "for card ",
        "null, ",
        "eligible allocations: ",
    ):
        assert part in text
    assert text.index("round 1") < text.index("round 2") < text.index("joint allocation")
    assert "Rule agent, no language model" in text
    assert "cites the protected fact 'group'" in text
    assert "not clinical decision support" in text
    assert "adversarial fixture" in result.stderr


@pytest.mark.long
def test_the_same_seed_gives_the_same_json():
    first, second = (ran("--agents", "rawlsian,utilitarian", "--seed", "3", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    content = json.loads(first.stdout)
    assert content["kind"] == "one" and len(content["hash"]) == 64
    assert len(content["deliberation"]["settled"]["allocation"]) == 2
    assert [turn["step"] for turn in content["deliberation"]["turns"]] == [1, 1, 2, 2, 3, 3]
    assert "round 1" in first.stderr  # with --json the transcript goes to standard error


@pytest.mark.long
def test_another_seed_is_another_scenario():
    one, two = (json.loads(ran("--seed", seed, "--json").stdout) for seed in ("1", "2"))
    assert one["deliberation"]["scenario"] != two["deliberation"]["scenario"]


@pytest.mark.long
def test_agents_of_the_case_are_taken_if_none_are_named_and_none_of_them_is_adversarial():
    content = json.loads(ran("--json").stdout)
    assert len(content["deliberation"]["agents"]) == 2
    assert content["deliberation"]["adversarial"] == []


@pytest.mark.long
@pytest.mark.parametrize("settle", ["mediated", "nash_product", "split_contested", "priority_vote", "no_deal"])
def test_every_settlement_rule(settle):
    content = json.loads(ran("--agents", "rawlsian,utilitarian,care", "--settle", settle, "--json").stdout)
    assert content["deliberation"]["settled"]["rule"] in (settle, "agreement")


@pytest.mark.long
@pytest.mark.parametrize(("protocol", "name"), [("offers", "alternating_offers"), ("vote", "voting")])
def test_other_protocols(protocol, name):
    result = ran("--agents", "rawlsian,utilitarian[concession=boulware]", "--protocol", protocol, "--json")
    assert json.loads(result.stdout)["deliberation"]["protocol"] == name


@pytest.mark.long
def test_many_scenarios_give_a_table_with_intervals_and_nulls():
    result = ran("--agents", "rawlsian,biased", "--repeat", "6")
    assert result.exit_code == 0, result.output
    for part in ("6 scenarios", "95% interval", "null hypotheses:", "a search by rawlsian alone", "loss: "):
        assert part in result.stdout
    content = json.loads(ran("--agents", "rawlsian,biased", "--repeat", "6", "--json").stdout)
    assert content["kind"] == "many" and content["repeated"]["n"] == 6
    assert set(content["repeated"]["random"]) == {"rawlsian", "biased"}


def test_an_agent_named_twice_gets_numbers_and_offers_are_counted_instead_of_rounds():
    done = ran("--agents", "rawlsian,rawlsian[concession=conceder]", "--protocol", "offers", "--json")
    agents = json.loads(done.stdout)["deliberation"]["agents"]
    assert [each["name"] for each in agents] == ["rawlsian 1", "rawlsian 2"]
    assert "offer 1" in done.stderr.splitlines() and "round" not in done.stderr


@pytest.mark.long
def test_without_a_corpus_nothing_is_cited_and_everything_else_is_the_same():
    with_passages, without = (
        json.loads(ran("--agents", "rawlsian,utilitarian", "--json", *options).stdout)
        for options in ((), ("--corpus", "none"))
    )
    cited = [turn["reasons"] for turn in with_passages["deliberation"]["turns"] if "reasons" in turn]
    assert any(reason["passages"] for reasons in cited for reason in reasons)
    bare = [turn["reasons"] for turn in without["deliberation"]["turns"] if "reasons" in turn]
    assert not any(reason["passages"] for reasons in bare for reason in reasons)
    assert with_passages["hash"] != without["hash"]
    assert with_passages["deliberation"]["settled"] == without["deliberation"]["settled"]


def test_a_folder_of_passages(tmp_path):
    (tmp_path / "mine.md").write_text(
        "# rawlsian\n\n## own-1\n\n- claim: The worst off come first.\n- implication: Grant to the most severe.\n"
        "- source: our own\n- codes: severity, worst_off\n"
    )
    content = json.loads(ran("--agents", "rawlsian,utilitarian", "--corpus", str(tmp_path), "--json").stdout)
    cited = {
        passage for turn in content["deliberation"]["turns"] for reason in turn.get("reasons", ())
        for passage in reason["passages"]
    }  # fmt: skip
    assert cited == {"own-1"}


@pytest.mark.long
def test_a_page_and_a_folder_are_written_and_a_folder_only_once(tmp_path):
    page = tmp_path / "page.html"
    assert ran("--out", str(page)).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    folder = tmp_path / "kept"
    assert ran("--out", str(folder)).exit_code == 0
    assert sorted(each.name for each in folder.iterdir()) == ["deliberation.json", "report.html"]
    again = ran("--out", str(folder))
    assert isinstance(again.exception, InputError) and "exists" in str(again.exception)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--agents", "rawlsan,biased"), "did you mean 'rawlsian'"),
        (("--agents", "biased[strenght=1],rawlsian"), "did you mean 'strength'"),
        (("--agents", ""), "--agents is ''"),
        (("--settle", "bargian"), "did you mean 'bargain'"),
        (("--protocol", "shouting"), "unknown protocol 'shouting'"),
        (("--guard", "lo"), "unknown guard 'lo'"),
        (("--capacity", "bed"), "RESOURCE=UNITS"),
        (("--capacity", "beds=2"), "beds"),
        (("--agents", "rawlsian[concession=micro],utilitarian"), "alternating_offers"),
        (("--llm", "http://127.0.0.1:9"), "--model"),
        (("--model", "some"), "--model: no effect without --llm"),
        (("--timeout", "30"), "--timeout: no effect without --llm"),
        (("--calls", "3", "--tokens", "9"), "--calls, --tokens: no effect without --llm"),
        (("--seconds", "3"), "--seconds: no effect without --llm"),
        (("--key-variable", "OPENAI_API_KEY"), "--key-variable: no effect without --llm"),
        (("--fallback", "--speaks-for", "care"), "--speaks-for, --fallback: no effect without --llm"),
        (("--record", "talk.jsonl"), "--record: no effect without --llm"),
        (("--llm", "http://127.0.0.1:9", "--model", " "), "--llm needs --model"),
        (("--replay", "talk.jsonl"), "--replay needs --model"),
        (("--replay", "talk.jsonl", "--record", "other.jsonl", "--model", "m"), "do not go together"),
        (("--llm", "http://127.0.0.1:9", "--model", "m", "--agents", "baseline,biased"), "nobody to speak for"),
        (("--agents", "language_model,rawlsian"), "neither a case nor --agents names a model"),
        (("--agents", "rawlsian,,biased"), "a name is missing beside a comma"),
        (("--agents", "rawlsian"), "'rawlsian' has nobody to debate with"),
        (("--agents", "human,rawlsian", "--repeat", "2"), "'human' is a person"),
        (
            ("--agents", "rawlsian,egalitarian[form=group_gap,group=sex]"),
            "fact that the agent 'egalitarian' reads: 'sex'",
        ),
        (("--settle", "bargain[step=5]"), "did you mean 'steps'"),
        (("--settle", "bargain[steps=0]"), "at least 1"),
        (("--protocol", "offers", "--settle", "bargain"), "--settle bargain has no effect on --protocol offers"),
        (("--protocol", "vote", "--settle", "borda[x=1]"), "a name without parameters"),
        (("--capacity", "bed=inf"), "--capacity is 'bed=inf'"),
        (("--jobs", "2"), "--jobs has no effect without --repeat"),
        (("--jobs", "1"), "--jobs has no effect without --repeat"),
        (("--on", "here"), "--on has no effect without --repeat"),
        (("--repeat", "2", "--jobs", "2", "--on", "here"), "--on here and --jobs 2 both say"),
        (("--repeat", "2", "--on", "process:2"), "did you mean 'processes'"),
        (("--out", "page.pdf"), "a file that ends with .html"),
        (("--out", "no/such/folder/page.html"), "there is no folder no/such/folder"),
        (("--llm", "http://127.0.0.1:9", "--model", "m", "--speaks-for", "care"), "care"),
        (("--protocol", "vote", "--settle", "bordaa"), "borda"),
        (("--corpus", "nowhere-at-all"), "nowhere-at-all"),
        (("--repeat", "2", "--protocol", "offers"), "--repeat compares debates"),
        (("--data", "somewhere"), "simulated"),
    ],
)
def test_wrong_input_is_told_before_the_work(options, message):
    result = ran(*options)
    assert isinstance(result.exception, InputError), result.output
    assert message in str(result.exception)
    assert result.stdout == ""


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "old.html").mkdir()
    for place in ("file/page.html", "file/sub/folder", "old.html"):
        result = ran("--out", str(tmp_path / place))
        assert isinstance(result.exception, InputError) and result.stdout == "", place
    monkeypatch.setattr("os.access", lambda *_: False)
    for place in ("page.html", "a/new/folder"):
        result = ran("--out", str(tmp_path / place))
        assert "cannot be written to" in str(result.exception) and result.stdout == "", place


def test_units_that_are_no_whole_portions_are_told_with_the_option():
    result = CliRunner().invoke(app, ["deliberate", "triage-random", "--capacity", "bed=2.5"])
    assert isinstance(result.exception, InputError) and result.stdout == ""
    assert str(result.exception).startswith("--capacity bed=2.5: ")


def test_an_unknown_case_names_those_that_deliberate():
    result = CliRunner().invoke(app, ["deliberate", "lendin"])
    assert isinstance(result.exception, InputError)
    assert "triage" in str(result.exception)


def test_capacities():
    assert capacities(["bed=5", "ventilator=2.5"], UNITS) == {"bed": 5.0, "ventilator": 2.5}
    for wrong in (["bed"], ["=2"], ["bed=-1"], ["bed=many"], ["bed=nan"], ["bed=inf"], ["bed=1", "bed=2"]):
        with pytest.raises(InputError, match="--capacity"):
            capacities(wrong, UNITS)


def test_a_settlement_rule_with_parameters():
    content = json.loads(ran("--settle", "bargain[steps=7]", "--json").stdout)
    assert content["deliberation"]["procedure"]["settle"] == {"rule": "bargain", "parameters": {"steps": 7}}
    assert content["options"]["settle"] == "bargain[steps=7]"
    assert "settled by bargain[steps=7]" in ran("--settle", "bargain[steps=7]", "--repeat", "2").stdout


def test_no_agreement_is_said():
    result = ran("--agents", "rawlsian,biased", "--settle", "no_deal", "--seed", "1")
    assert "no agreement by no_deal: the disagreement allocation: p04, p06" in result.stdout
    assert "joint allocation, by" not in result.stdout


@pytest.mark.long
def test_conversion_stands_beside_approach_for_one_and_for_many():
    one = ran("--agents", "rawlsian,biased[concession=conceder]").stdout
    content = json.loads(ran("--agents", "rawlsian,biased[concession=conceder]", "--json").stdout)
    assert content["conversion"].keys() == content["approach"].keys() == {"rawlsian"}
    shown = "not defined" if content["approach"]["rawlsian"] is None else f"{content['approach']['rawlsian']:.3f}"
    assert f"approach to rawlsian: {shown}" in one
    assert "in any direction" in one and "towards" not in one
    many = ran("--agents", "rawlsian,biased", "--repeat", "3").stdout
    assert "conversion against rawlsian: " in many and "approach to rawlsian: " in many


@pytest.mark.long
def test_what_is_not_defined_has_its_own_mark_and_an_empty_flip_test_says_so():
    result = CliRunner().invoke(app, ["deliberate", "triage-random", "--patients", "1", "--capacity", "bed=1"])
    assert "not defined ?" in result.stdout and "not defined -" not in result.stdout
    assert "? it is not defined" in result.stdout
    assert "flip test of group: empty" in result.stdout
    content = json.loads(ran("--json").stdout)
    assert content["flips"]["touched"] > 0
    assert f"permuting touched {content['flips']['touched']:.3f} of the patients" in ran().stdout


@pytest.mark.long
def test_candidates_are_named_before_the_ballots():
    result = ran("--agents", "rawlsian,utilitarian", "--protocol", "vote")
    content = json.loads(ran("--agents", "rawlsian,utilitarian", "--protocol", "vote", "--json").stdout)
    lines = result.stdout.splitlines()
    candidates = content["deliberation"]["settled"]["details"]["candidates"]
    named = [lines.index(f"  candidate {number}: {', '.join(each)}") for number, each in enumerate(candidates, 1)]
    ballot = next(place for place, line in enumerate(lines) if "ranks the candidates" in line)
    assert len(named) >= 2 and lines.index("round 3") < named[0] and named[-1] < ballot


@pytest.mark.long
def test_what_was_struck_is_told():
    result = ran("--agents", "rawlsian,biased", "--guard", "strike")
    content = json.loads(ran("--agents", "rawlsian,biased", "--guard", "strike", "--json").stdout)
    asked = ", ".join(content["deliberation"]["struck"]["biased"]["allocation"])
    assert f"biased, asked again without the protected facts, proposes {asked}" in result.stdout


def test_the_table_over_scenarios_says_what_each_column_is():
    lines = ran("--agents", "rawlsian,biased", "--repeat", "3").stdout.splitlines()
    title = next(place for place, line in enumerate(lines) if "share that meets" in line)
    assert "interval" not in lines[title]
    header = " ".join(" ".join(lines[title + 1 : title + 4]).split())
    assert "…" not in header
    assert "all met (95% interval)" in header and "mean access of" in header and "marginal" in header
    assert "defined in 3 of 3 scenarios" in "\n".join(lines)


@pytest.mark.long
def test_the_ledger_speaks_of_yielding():
    assert "yielded to" in ran().stdout and "given up" not in ran().stdout


@pytest.mark.long
def test_names_that_steer_a_terminal_are_escaped(tmp_path):
    name = r'rawlsian[name="x\u001bcy\u009bz\u202e\nverdict: met"],biased[name="b\u001bc"]'
    for options in ((), ("--repeat", "2"), ("--protocol", "vote")):
        result = ran("--agents", name, *options)
        assert result.exit_code == 0, result.output
        assert not set(result.output) & set("\x1b\x9b\u202e") and r"x\x1bcy\x9bz\u202e\nverdict: met" in result.stdout
        assert r"b\x1bc is an adversarial fixture" in result.stderr


@pytest.mark.long
def test_where_the_patients_were_found_is_on_record(tmp_path, monkeypatch):
    (tmp_path / "p.csv").write_text("id,severity,p_with,p_without\na,.5,.5,.1\nb,.2,.9,.3\n")
    case = tmp_path / "ward.yaml"
    case.write_text("name: w\ntitle: W\ndeliberation:\n  file: p.csv\n  resources: [{name: bed, capacity: 1}]\n")

    def found(path, *options):
        result = CliRunner().invoke(app, ["deliberate", str(path), "--json", *options])
        return json.loads(result.stdout)["source"]["found_in"]

    assert found(case) == "beside the case"
    assert found(case, "--data", str(tmp_path)) == "--data"
    (tmp_path / "apart").mkdir()
    moved = case.rename(tmp_path / "apart" / "ward.yaml")
    monkeypatch.setenv("ACCORDANT_DATA", str(tmp_path))
    assert found(moved) == "$ACCORDANT_DATA"
    assert json.loads(ran("--json").stdout)["source"]["found_in"] is None
