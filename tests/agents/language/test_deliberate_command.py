"""``accordant deliberate --llm``: a whole debate with a model behind a real HTTP server."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import InputError, InvalidMoveError

KEY = "sk-secret-0123456789-ABCDEF"
SMALL = ["deliberate", "triage-random", "--patients", "5", "--capacity", "bed=2", "--agents", "rawlsian,utilitarian"]


def ran(server, *options):
    return CliRunner().invoke(app, [*SMALL, "--llm", server.url, "--model", "fake", *options])


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["debate", "offers", "vote"])
def test_a_model_speaks_for_the_frameworks(protocol, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    result = ran(server, "--protocol", protocol, "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert {agent["kind"] for agent in content["deliberation"]["agents"]} == {"language model"}
    assert {turn["generated_by"] for turn in content["deliberation"]["turns"]} == {"model fake"}
    assert content["usage"]["rawlsian"]["calls"] > 0
    assert len(content["deliberation"]["settled"]["allocation"]) == 2
    assert content["flips"] is None and content["order"] is None
    assert KEY not in result.output
    assert "(model fake)" in result.stderr


@pytest.mark.long
def test_it_speaks_for_some_and_not_for_fixtures(server):
    content = json.loads(ran(server, "--speaks-for", "rawlsian", "--json").stdout)
    assert [agent["kind"] for agent in content["deliberation"]["agents"]] == ["language model", "rule"]
    mixed = json.loads(ran(server, "--agents", "rawlsian,biased", "--json").stdout)
    assert [agent["kind"] for agent in mixed["deliberation"]["agents"]] == ["language model", "fixture"]
    refused = ran(server, "--agents", "rawlsian,biased", "--speaks-for", "biased")
    assert isinstance(refused.exception, InputError) and "cannot speak for 'biased'" in str(refused.exception)


@pytest.mark.long
def test_no_valid_move_is_an_error_or_a_counted_fallback(server):
    server.script("no JSON at all")
    failed = ran(server)
    assert isinstance(failed.exception, InvalidMoveError) and "rawlsian" in str(failed.exception)
    loud = ran(server, "--fallback", "--json")
    content = json.loads(loud.stdout)
    assert f"accordant: {content['warnings'][0]}" in " ".join(loud.stderr.split())
    assert content["deliberation"]["fallbacks"] == len(content["deliberation"]["turns"])
    assert any("a rule stood in" in each for each in content["warnings"])
    assert content["warnings"][0].startswith("NO MOVE CAME FROM THE LANGUAGE MODEL")
    rules = json.loads(CliRunner().invoke(app, [*SMALL, "--json"]).stdout)
    assert content["deliberation"]["settled"] == rules["deliberation"]["settled"]


def test_recorded_and_replayed_without_a_server(server, tmp_path):
    file = tmp_path / "talk.jsonl"
    first = json.loads(ran(server, "--record", str(file), "--json").stdout)
    asked = len(server.requests)
    again = ran(server, "--replay", str(file), "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["hash"] == first["hash"]
    elsewhere = CliRunner().invoke(app, [*SMALL, "--model", "fake", "--replay", str(file), "--json"])
    assert json.loads(elsewhere.stdout)["hash"] == first["hash"]  # no endpoint named: the same transcript
    assert len(server.requests) == asked


def test_an_empty_recording_sends_nothing(server, tmp_path):
    file = tmp_path / "talk.jsonl"
    file.touch()
    refused = ran(server, "--replay", str(file), "--speaks-for", "rawlsian")
    assert isinstance(refused.exception, InputError) and "is empty" in str(refused.exception)
    assert not server.requests


def test_a_budget_ends_the_conversation(server):
    spent = ran(server, "--calls", "3")
    assert isinstance(spent.exception, InvalidMoveError) and "budget" in str(spent.exception)
    assert len(server.requests) == 3


@pytest.mark.long
def test_over_many_scenarios_it_is_said_that_rules_made_every_move(server):
    server.script("no JSON at all")
    options = ("--fallback", "--repeat", "2")
    content = json.loads(ran(server, *options, "--json").stdout)
    assert content["fallbacks"] == sum(each["moves"] for each in content["usage"].values()) == 12
    assert content["usage"].keys() == {"rawlsian", "utilitarian"}
    loud = "NO MOVE CAME FROM THE LANGUAGE MODEL: a rule stood in for all of its 12 moves"
    assert content["warnings"][0] == loud
    shown = ran(server, *options)
    assert loud in shown.stderr and shown.stdout.index(loud) < shown.stdout.index("share that meets")
    assert "rawlsian: 6 moves, 6 of them by a rule" in shown.stdout


@pytest.mark.long
def test_a_model_that_moves_is_not_called_silent(server):
    content = json.loads(ran(server, "--fallback", "--repeat", "2", "--json").stdout)
    assert content["fallbacks"] == 0 and content["usage"]["rawlsian"]["moves"] == 6
    assert not any("rule stood in" in each or "NO MOVE" in each for each in content["warnings"])
    assert "rawlsian: 6 moves, 0 of them by a rule" in ran(server, "--repeat", "2").stdout
