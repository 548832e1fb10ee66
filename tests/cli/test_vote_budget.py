"""``accordant vote FILE.pb``: what is printed, the JSON, rules with parameters, and wrong input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import DataError, InputError

FILE = """META
key;value
budget;7
vote_type;cumulative
PROJECTS
project_id;cost;name
a;4;A bench that has a name of more characters than fit into a table
b;2;Bins\x1b[31m
c;3;Chess
VOTES
voter_id;vote;points
1;a,b;5,1
2;a;3
3;b,c;1,4
4;;
"""


@pytest.fixture
def budget(tmp_path):
    path = tmp_path / "town.PB"
    path.write_text(FILE, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["vote", *map(str, arguments)])


@pytest.mark.long
def test_json_is_one_object(budget):
    done = run(budget, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["file"], found["votes"], found["budget"], found["vote_type"]) == (str(budget), 4, 7.0, "cumulative")
    assert found["projects"][1] == {"id": "b", "name": "Bins\x1b[31m", "cost": 2.0, "votes": 2, "score": 2.0}
    assert list(found["rules"]) == ["equal_shares", "greedy", "seq_phragmen"]
    greedy, shares = found["rules"]["greedy"], found["rules"]["equal_shares"]
    assert (greedy["funded"], greedy["spent"], greedy["served"]) == (["a", "c"], 7.0, 0.75)
    assert (greedy["prices"], greedy["voter_money"], "gain" in greedy) == ({}, None, False)
    assert greedy["ties"] == {}
    assert shares["funded"] == ["b", "a"]
    assert shares["voter_money"] == {"value": 3.0, "fraction": "3"}
    assert shares["prices"] == {"b": {"value": 1.0, "fraction": "1"}, "a": {"value": 2.0, "fraction": "2"}}
    assert shares["gain"] == {"over": "greedy", "more": 0.25, "less": 0.0}
    assert shares["projects_per_voter"] == 1.0


@pytest.mark.long
def test_what_people_read(budget):
    done = run(budget)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"{budget}: 4 votes (cumulative) on 3 projects, budget 7"
    assert any(line.split() == ["equal_shares", "2", "6", "75.0%", "1.00", "25.0%", "0.0%"] for line in lines)
    assert any(line.split() == ["greedy", "2", "7", "75.0%", "0.75"] for line in lines)
    assert "Bins\\x1b[31m" in done.stdout
    assert "\x1b" not in done.stdout
    assert any("…" in line and line.split()[-3:] == ["2", "1", "2"] for line in lines)
    assert "more, fewer: voters with more, or fewer, funded projects of their own than by greedy" in lines


def test_rules_with_parameters_each_once(budget):
    done = run(budget, "--rules", "mes[completion=none], equal_shares[completion=none],greedy[by=votes,per_cost=true]")
    assert "greedy[by=votes,per_cost=true]" in done.stdout
    found = json.loads(
        run(budget, "--json", "--rules", "mes[completion=none],equal_shares[completion=none],seq_phragmen").stdout
    )
    assert list(found["rules"]) == ["equal_shares[completion=none]", "seq_phragmen"]
    assert not any("gain" in each for each in found["rules"].values())


def test_ties_are_named(tmp_path):
    path = tmp_path / "tie.pb"
    path.write_text(FILE.replace("5,1", "3,1").replace("2;a;3", "2;b;3").replace("c;3", "c;2"), encoding="utf-8")
    found = run(path, "--rules", "greedy[by=votes]")
    assert "tie: greedy[by=votes] prefers c to a" in found.stdout


@pytest.mark.parametrize(("rules", "message"), [
    ("borda", "unknown budget rule 'borda'; valid: equal_shares, greedy, seq_phragmen, all"),
    ("greedi", "did you mean 'greedy'"),
    ("greedy[by=points]", "unknown by of greedy 'points'"),
    ("greedy,,seq_phragmen", "a name is missing"),
])  # fmt: skip
def test_rules_that_are_refused(budget, rules, message):
    with pytest.raises(InputError, match=message):
        raise run(budget, "--rules", rules).exception


def test_files_that_are_refused(budget, tmp_path):
    empty = tmp_path / "empty.pb"
    empty.write_text(FILE[: FILE.index("1;a,b")], encoding="utf-8")
    with pytest.raises(InputError, match="there are no votes"):
        raise run(empty).exception
    budget.write_text(FILE.replace("2;a;3", "2;d;3"), encoding="utf-8")
    with pytest.raises(DataError, match="line 13: vote names project 'd'"):
        raise run(budget).exception


@pytest.mark.long
def test_the_result_can_be_written(budget, tmp_path):
    out = tmp_path / "spent.json"
    shown = run(budget, "--json", "--out", out)
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(shown.stdout)


def test_exit_codes_of_the_command(accordant, budget, tmp_path):
    assert json.loads(accordant("vote", str(budget), "--rules", "greedy", "--json").stdout)["votes"] == 4
    for arguments, message in (
        ((str(budget), "--rules", "schulze"), "unknown budget rule 'schulze'"),
        ((str(tmp_path / "none.pb"),), "there is no such file"),
    ):
        done = accordant("vote", *arguments, "--json")
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stdout == ""
