"""The command line on the page: what it says is read back to the same options."""

from __future__ import annotations

import shlex
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from accordant.deliberation import terminal
from accordant.cli.app import app
from accordant.naming import Named
from accordant.deliberation.options import command_line
from accordant.terminal import named
from accordant.deliberation.options import DeliberationOptions
from accordant.agents.language.options import ModelOptions

OPTIONS = [
    DeliberationOptions(),
    DeliberationOptions(agents=(Named("rawlsian"), Named("biased", {"strength": 0.3, "favoured_value": "a b's"})), seed=7),
    DeliberationOptions(protocol="vote", settle="copeland", guard="strike", patients=500, capacity={"bed": 200.0, "x y": 2.5}),
    DeliberationOptions(repeat=20, data="/some where/data", corpus="none", jobs=3),
    DeliberationOptions(
        agents=(Named("rawlsian"), Named("care")),
        model=ModelOptions("http://127.0.0.1:1/v1", "tiny; rm", ("care",), "KEY", fallback=True, calls=3, tokens=4,
                           seconds=5.5, timeout=6.0, record="a b.jsonl"),
    ),
    DeliberationOptions(model=ModelOptions("http://127.0.0.1/replayed", "tiny", replay="r.jsonl")),
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("options", OPTIONS)
def test_the_command_is_read_back_to_the_same_options(options, monkeypatch):
    seen = {}
    monkeypatch.setattr(terminal, "conduct", lambda case, given, *_, **__: seen.update(case=case, given=given))
    words = shlex.split(command_line("triage", options))
    assert words[:3] == ["accordant", "deliberate", "triage"]
    result = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert seen["case"] == "triage"
    assert asdict(seen["given"]) | {"jobs": None} == asdict(options) | {"jobs": None}


def test_what_is_as_usual_is_left_out_but_not_the_seed():
    assert command_line("triage", OPTIONS[0]) == "accordant deliberate triage --seed 0"


def test_texts_that_read_as_something_else_keep_their_quotes():
    assert (
        named({"name": "x", "parameters": {"a": "1", "b": 1, "c": "free", "d": True}}) == 'x[a="1",b=1,c=free,d=true]'
    )
