"""``accordant deliberate``: the transcript as it happens, the verdict, JSON, wrong input and exit codes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.cli.deliberating import capacities
from accordant.errors import InputError

SMALL = ["deliberate", "triage-random", "--patients", "6", "--capacity", "bed=2", "--jobs", "1"]


def ran(*options):
    return CliRunner().invoke(app, [*SMALL, *options])


def test_a_transcript_in_three_rounds_then_ledger_verdict_and_nulls():
    result = ran("--agents", "rawlsian,biased", "--settle", "bargain", "--seed", "0")
    assert result.exit_code == 0, result.output
    text = result.stdout
    for part in ("round 1", "round 2", "round 3", "joint allocation, by ", "Ledger", "verdict:", "for card ", "null, "):
        assert part in text
    assert text.index("round 1") < text.index("round 2") < text.index("joint allocation")
    assert "Rule agent, no language model" in text
    assert "cites the protected fact 'group'" in text
    assert "not clinical decision support" in text
    assert "adversarial fixture" in result.stderr


def test_the_same_seed_gives_the_same_json():
    first, second = (ran("--agents", "rawlsian,utilitarian", "--seed", "3", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    content = json.loads(first.stdout)
    assert content["kind"] == "one" and len(content["hash"]) == 64
    assert len(content["deliberation"]["settled"]["allocation"]) == 2
    assert [turn["step"] for turn in content["deliberation"]["turns"]] == [1, 1, 2, 2, 3, 3]
    assert "round 1" in first.stderr  # with --json the transcript goes to standard error


def test_another_seed_is_another_scenario():
    one, two = (json.loads(ran("--seed", seed, "--json").stdout) for seed in ("1", "2"))
    assert one["deliberation"]["scenario"] != two["deliberation"]["scenario"]


def test_agents_of_the_case_are_taken_if_none_are_named_and_none_of_them_is_adversarial():
    content = json.loads(ran("--json").stdout)
    assert len(content["deliberation"]["agents"]) == 2
    assert content["deliberation"]["adversarial"] == []


@pytest.mark.parametrize("settle", ["mediated", "nash_product", "split_contested", "priority_vote", "no_deal"])
def test_every_settlement_rule(settle):
    content = json.loads(ran("--agents", "rawlsian,utilitarian,care", "--settle", settle, "--json").stdout)
    assert content["deliberation"]["settled"]["rule"] in (settle, "agreement")


@pytest.mark.parametrize(("protocol", "name"), [("offers", "alternating_offers"), ("vote", "voting")])
def test_other_protocols(protocol, name):
    result = ran("--agents", "rawlsian,utilitarian[concession=boulware]", "--protocol", protocol, "--json")
    assert json.loads(result.stdout)["deliberation"]["protocol"] == name


def test_many_scenarios_give_a_table_with_intervals_and_nulls():
    result = ran("--agents", "rawlsian,biased", "--repeat", "6")
    assert result.exit_code == 0, result.output
    for part in ("6 scenarios", "95% interval", "null hypotheses:", "a search by rawlsian alone", "loss: "):
        assert part in result.stdout
    content = json.loads(ran("--agents", "rawlsian,biased", "--repeat", "6", "--json").stdout)
    assert content["kind"] == "many" and content["repeated"]["n"] == 6
    assert set(content["repeated"]["random"]) == {"rawlsian", "biased"}


def test_an_agent_named_twice_gets_numbers():
    content = json.loads(ran("--agents", "rawlsian,rawlsian[concession=conceder]", "--json").stdout)
    assert [each["name"] for each in content["deliberation"]["agents"]] == ["rawlsian 1", "rawlsian 2"]


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


def test_a_page_and_a_folder_are_written_and_a_folder_only_once(tmp_path):
    page = tmp_path / "page.html"
    assert ran("--out", str(page)).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    folder = tmp_path / "kept"
    assert ran("--out", str(folder)).exit_code == 0
    assert sorted(each.name for each in folder.iterdir()) == ["deliberation.json", "report.html"]
    again = ran("--out", str(folder))
    assert isinstance(again.exception, InputError) and "exists" in str(again.exception)


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
        (("--model", "some"), "no effect without --llm"),
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


def test_an_unknown_case_names_those_that_deliberate():
    result = CliRunner().invoke(app, ["deliberate", "lendin"])
    assert isinstance(result.exception, InputError)
    assert "triage" in str(result.exception)


def test_capacities():
    assert capacities(["bed=5", "ventilator=2.5"]) == {"bed": 5.0, "ventilator": 2.5}
    for wrong in (["bed"], ["=2"], ["bed=-1"], ["bed=many"], ["bed=1", "bed=2"]):
        with pytest.raises(InputError, match="--capacity"):
            capacities(wrong)
