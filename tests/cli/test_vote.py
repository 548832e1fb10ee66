"""``accordant vote``: what is printed, the JSON, what ballots do not allow, and wrong input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.cli.votes import counted_file
from accordant.errors import InputError

HEADER = "# DATA TYPE: {kind}\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: {voters}\n"
NAMED = "# ALTERNATIVE NAME 1: Ada\n# ALTERNATIVE NAME 2: Ben\n# ALTERNATIVE NAME 3: Cleo\n"
CATEGORIES = "# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: Yes\n# CATEGORY NAME 2: No\n"
GRADES = ("approval", "majority_judgment", "range")


@pytest.fixture
def votes(tmp_path):
    """Seven voters: Ada beats both others, Ben and Cleo are level on first places."""
    path = tmp_path / "votes.toi"
    path.write_text(HEADER.format(kind="toi", voters=7) + NAMED + "3: 1,2\n2: 2,{1,3}\n2: 3,1,2\n", encoding="utf-8")
    return path


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "judged.cat"
    text = HEADER.format(kind="cat", voters=3) + CATEGORIES + NAMED + "2: {1,2},3\n1: 3,{1,2}\n"
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["vote", *map(str, arguments)])


def test_json_is_one_object(votes):
    done = run(votes, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["file"], found["alternatives"], found["votes"]) == (str(votes), ["Ada", "Ben", "Cleo"], 7)
    assert found["condorcet_winner"] == "Ada"
    assert found["rules"]["plurality"] == {"winners": ["Ada"], "ranking": [["Ada"], ["Ben", "Cleo"]]}
    for rule in found["rules"].values():
        assert rule["winners"] == rule["ranking"][0]
        assert sorted(sum(rule["ranking"], [])) == ["Ada", "Ben", "Cleo"]
    assert found["rules"]["random_dictatorship"]["lottery"] == {"Ada": 3 / 7, "Ben": 2 / 7, "Cleo": 2 / 7}
    assert set(found["left_out"]) == set(GRADES)
    assert not set(GRADES) & set(found["rules"])
    assert len(found["rules"]) == 13


def test_categories_allow_every_rule(judged):
    found = json.loads(run(judged, "--json").stdout)
    assert len(found["rules"]) == 16
    assert found["left_out"] == {}
    for name in GRADES:
        assert found["rules"][name] == {"winners": ["Ada", "Ben"], "ranking": [["Ada", "Ben"], ["Cleo"]]}
    assert found["condorcet_winner"] is None


def test_what_people_read(votes):
    done = run(votes)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{votes}: 7 votes on 3 alternatives\nCondorcet winner: Ada\n")
    assert "Ada > Ben = Cleo" in done.stdout
    assert "Ada 42.9%, Ben 28.6%, Cleo 28.6%" in done.stdout
    assert "left out: range, it needs grades, and they carry none" in done.stdout
    tied = run(votes, "--rules", "anti_plurality, plurality")
    assert "(tie)" not in tied.stdout


def test_ties_are_named(judged):
    done = run(judged, "--rules", "approval")
    assert "Ada = Ben (tie)" in done.stdout
    assert "Condorcet winner: none" in done.stdout


def test_rules_by_name_and_alias_in_the_given_order(votes):
    found = counted_file(votes, "schulze,irv, borda ,schulze")
    assert list(found["rules"]) == ["schulze", "instant_runoff", "borda"]


@pytest.mark.parametrize(("rules", "message"), [
    ("shulze", "unknown voting rule 'shulze'; did you mean 'schulze'"),
    ("borda,,plurality", "unknown voting rule ''"),
    ("utilitarian", "unknown voting rule 'utilitarian'"),
    ("borda,range", "range cannot count these ballots: it needs grades"),
])  # fmt: skip
def test_rules_that_are_refused(votes, rules, message):
    with pytest.raises(InputError, match=message):
        counted_file(votes, rules)


def test_kemeny_beyond_eight(tmp_path):
    path = tmp_path / "many.soc"
    names = "".join(f"# ALTERNATIVE NAME {n}: n{n}\n" for n in range(1, 10))
    header = HEADER.format(kind="soc", voters=2).replace("ALTERNATIVES: 3", "ALTERNATIVES: 9")
    path.write_text(f"{header}{names}2: 1,2,3,4,5,6,7,8,9\n", encoding="utf-8")
    assert "9 alternatives; allowed: at most 8" in counted_file(path, "all")["left_out"]["kemeny"]
    with pytest.raises(InputError, match="kemeny cannot count these ballots: 9 alternatives"):
        counted_file(path, "kemeny")


def test_the_count_can_be_written(votes, tmp_path):
    out = tmp_path / "count.json"
    shown = run(votes, "--json", "--out", out)
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(shown.stdout)
    with pytest.raises(InputError, match=r"folder\.json cannot be written: there is no folder"):
        raise run(votes, "--out", tmp_path / "no" / "folder.json").exception


def test_exit_codes_of_the_command(accordant, votes, tmp_path):
    """Run as a program: 2 with a message for wrong input, nothing on stdout."""
    assert json.loads(accordant("vote", str(votes), "--rules", "schulze", "--json").stdout)["votes"] == 7
    for arguments, message in (
        ((str(votes), "--rules", "bordda"), "did you mean 'borda'"),
        ((str(votes), "--rules", "approval"), "it needs approvals or grades"),
        ((str(tmp_path / "none.soc"),), "there is no such file"),
    ):
        done = accordant("vote", *arguments, "--json")
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("ballots", "alternatives", "message"),
    [
        (1, 1001, "1,001 alternatives of an election; allowed: at most 1,000"),
        (2000, 1000, "ballots times the square of alternatives; allowed: at most 1,000,000,000"),
    ],
)
def test_elections_beyond_the_limits_are_refused(ballots, alternatives, message, tmp_path):
    names = "".join(f"# ALTERNATIVE NAME {n}: c{n}\n" for n in range(1, alternatives + 1))
    head = f"# DATA TYPE: soi\n# NUMBER ALTERNATIVES: {alternatives}\n# NUMBER VOTERS: {ballots}\n"
    (tmp_path / "large.soi").write_text(head + names + "1: 1,2\n" * ballots, encoding="utf-8")
    done = run(tmp_path / "large.soi", "--rules", "borda")
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)


@pytest.mark.long
def test_ranked_pairs_on_five_hundred_alternatives(tmp_path):
    """It took minutes without the compiled kernel."""
    names = "".join(f"# ALTERNATIVE NAME {n}: c{n}\n" for n in range(1, 501))
    ballots = "".join(f"1: {','.join(str(1 + (n * step) % 500) for n in range(500))}\n" for step in (1, 3, 7, 9, 11))
    head = "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 500\n# NUMBER VOTERS: 5\n"
    (tmp_path / "large.soc").write_text(head + names + ballots, encoding="utf-8")
    found = json.loads(run(tmp_path / "large.soc", "--rules", "ranked_pairs", "--json").stdout)
    assert sum(map(len, found["rules"]["ranked_pairs"]["ranking"])) == 500
