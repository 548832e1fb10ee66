"""A language model speaks for a stakeholder of a finished run; a replay opens no connection."""

from __future__ import annotations

import json
import socket

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.deliberation.decision.result import DecisionDebate

KEY = "sk-secret-0123456789-ABCDEF"


@pytest.mark.long
def test_a_model_speaks_for_a_stakeholder_and_is_replayed_without_a_connection(
    run_of_three, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    kept, new = tmp_path / "kept.jsonl", str(run_of_three.parent / "new.csv")

    def ran(*options):
        said = ["deliberate", str(run_of_three), new, "--row", "0", "--speaks-for", "Bank", "--model", "fake"]
        return CliRunner().invoke(app, [*said, "--no-add", "--json", *options])

    recorded = ran("--llm", server.url, "--record", str(kept))
    assert recorded.exit_code == 0, recorded.output
    content = json.loads(recorded.stdout)
    assert [each["kind"] for each in content["deliberation"]["agents"]] == ["language model", "rule"]
    assert content["deliberation"]["agents"][0]["framework"] == "own_reward"
    assert content["usage"]["Bank"]["calls"] > 0 and len(content["deliberation"]["settled"]["allocation"]) == 1
    shown = json.dumps([body for _, _, body in server.requests])
    assert "Own expected reward of Bank" in shown and "branch" not in shown
    said = json.dumps([body["messages"] for _, _, body in server.requests])
    assert "patients" not in said and "disputed_actions" in said  # it is about actions
    assert DecisionDebate.read(content).options.model.agents == ("Bank",)
    asked = len(server.requests)

    def refuse(*_):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("OPENAI_API_KEY")
    replayed = ran("--replay", str(kept))
    assert replayed.exit_code == 0, replayed.output
    assert json.loads(replayed.stdout)["hash"] == content["hash"] and len(server.requests) == asked
    assert KEY not in kept.read_text() + recorded.output


def test_a_model_speaks_for_nobody_else(run_of_three):
    done = CliRunner().invoke(
        app, ["deliberate", str(run_of_three), "--data", str(run_of_three.parent), "--no-add", "--llm", "http://127.0.0.1:9",
              "--model", "fake", "--speaks-for", "Clerk"],
    )  # fmt: skip
    assert "agent that the model shall speak for 'Clerk'" in str(done.exception)
