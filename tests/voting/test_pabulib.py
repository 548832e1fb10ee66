"""Pabulib files: every type of vote, what is let pass, every way to break the format, and the counts of real files."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from accordant.voting.pabulib import read_pabulib
from accordant.errors import DataError

PROJECTS = 'project_id;cost;name\na;100;Ann\'s bench\nb;20.5;"Bus; stop"\nc;0;Café\n'


def text(votes, kind="approval", meta="", head="voter_id;vote", projects=PROJECTS):
    """Return the text of a file with a budget of 120."""
    return f"META\nkey;value\nbudget;120\nvote_type;{kind}\n{meta}PROJECTS\n{projects}VOTES\n{head}\n" + "".join(
        f"{vote}\n" for vote in votes
    )


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def made(content):
        path = tmp_path / "votes.pb"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_pabulib(path)

    return made


POINTS = "voter_id;vote;points"


@pytest.mark.parametrize(("kind", "meta", "head", "votes", "scores"), [
    ("approval", "", "voter_id;vote", ["1;a,c", "2;", "3; b , a"], [[1, 0, 1], [0, 0, 0], [1, 1, 0]]),
    ("Choose-1", "", "voter_id;vote", ["1;a", "2;", "3;c"], [[1, 0, 0], [0, 0, 0], [0, 0, 1]]),
    ("cumulative", "", POINTS, ["1;b,a;7,3", "2;None;None", "3;c;0"], [[3, 7, 0], [0, 0, 0], [0, 0, 0]]),
    ("scoring", "", POINTS, ["1;b,a;2.5,1", "2;;"], [[1, 2.5, 0], [0, 0, 0]]),
    ("scoring", "default_score;1\n", POINTS, ["1;b,a;4,0"], [[0, 4, 1]]),
    ("cumulative", "default_score;1\n", POINTS, ["1;b;4"], [[0, 4, 0]]),
    ("ordinal", "", "voter_id;vote", ["1;b,a", "2;c,a,b", "3;"], [[2, 3, 0], [2, 1, 3], [0, 0, 0]]),
    ("ordinal", "max_length;2\n", "voter_id;vote", ["1;b,a", "2;c"], [[1, 2, 0], [0, 0, 2]]),
])  # fmt: skip
def test_types_of_votes(kind, meta, head, votes, scores, read):
    election = read(text(votes, kind, meta, head))
    assert election.scores.tolist() == scores
    assert election.vote_type == kind.lower()
    assert election.weights.tolist() == [1.0] * len(votes)
    assert (election.projects, election.costs.tolist(), election.budget) == (("a", "b", "c"), [100, 20.5, 0], 120)


def test_columns_differ_and_cells_are_quoted(read):
    head = "age;vote;voter_id;sex"
    content = text(["33;a;v1;F", 'None;"a,b";v2;'], meta="comment;one; two\n", head=head)
    election = read(content)
    assert election.voter_facts == {"age": ("33", ""), "voter_id": ("v1", "v2"), "sex": ("F", "")}
    assert election.project_facts == {"name": ("Ann's bench", "Bus; stop", "Café")}
    assert election.facts["comment"] == "one;two"
    assert election.scores.tolist() == [[1, 0, 0], [1, 1, 0]]


def test_what_is_let_pass(read):
    """A byte order mark, Windows line ends, blank lines, cells left out at the end, lower case, decimal commas, spaces."""
    plain = text(["1;a", "2;b"], meta="num_votes;2\nnum_projects;3\n")
    content = plain.replace("META", "\n meta ").replace("20.5", " 20,5 ").replace("2;b", "\n2;b;;\n\n")
    content = content.replace("budget", "Budget").replace("c;0;Café", "c;0")
    election = read(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    assert election.scores.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert election.costs.tolist() == [100, 20.5, 0]
    assert election.project_facts["name"][2] == ""
    empty = read(text([]))
    assert empty.scores.shape == (0, 3)


def test_a_name_may_hold_the_line_separators_of_unicode(read):
    election = read(text(["1;a"], projects="project_id;cost;name\na;1;x\u2028y\n"))
    assert election.project_facts["name"] == ("x\u2028y",)


def test_a_spreadsheet_may_fill_rows_with_empty_cells(read):
    content = text(["1;a", "2;b"]).replace("META", "META;;").replace("key;value", "key;value;;")
    content = content.replace("budget;120", "budget;120;;").replace("VOTES", "VOTES;;").replace("1;a", "1;a;;")
    election = read(content)
    assert (election.budget, election.facts["budget"]) == (120, "120")
    assert election.scores.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_columns_of_meta_in_another_order(read):
    content = text(["1;a"]).replace(
        "key;value\nbudget;120\nvote_type;approval", "value;key\n120;budget\napproval;vote_type"
    )
    assert read(content).budget == 120


@pytest.mark.parametrize(("written", "cost"), [
    ("1000,5", 1000.5), ("0,125", 0.125), ("1234,567", 1234.567), ("20,50", 20.5), ("1.000", 1.0), ("007", 7.0),
    ("0.1000000000000000000000000000", 0.1), ("9007199254740992", 2.0**53), ("0.3333333333333333", 1 / 3),
])  # fmt: skip
def test_numbers_that_say_one_thing(written, cost, read):
    assert read(GOOD.replace("a;100", f"a;{written}")).costs[0] == cost


@pytest.mark.parametrize("written", [
    "9" * 400, "9" * 5_000, "9007199254740993", "1.00000000000000000001", "0.12345678901234567890",
])  # fmt: skip
def test_numbers_with_more_digits_than_are_kept(written, read):
    """Read to the nearest number, they would stand for another amount, or for infinity."""
    with pytest.raises(DataError, match=f"line 8: cost is '{written[:50]}.*, more digits than can be kept"):
        read(GOOD.replace("a;100", f"a;{written}"))
    with pytest.raises(DataError, match="line 3: budget is .*, more digits than can be kept"):
        read(GOOD.replace("budget;120", f"budget;{written}"))


def test_a_stray_quote_swallows_nobody(read):
    """Without num_votes nothing else would tell that two voters are missing."""
    rows = ['1;a;"Ann', "2;a;Bob", "3;b;Cy", '4;b;Eve"', "5;a;Fay"]
    with pytest.raises(DataError, match="line 12: a quoted cell of VOTES goes on to line 15"):
        read(text(rows, head="voter_id;vote;name"))
    with pytest.raises(DataError, match="line 12: the row cannot be read: unexpected end of data"):
        read(text(rows[:3], head="voter_id;vote;name"))
    with pytest.raises(DataError, match="line 12: the row cannot be read: ';' expected after"):
        read(text(['1;a;"Ann" B', "2;a;Bob"], head="voter_id;vote;name"))
    assert read(text(['1;a;Ann "B"', '2;a;"Bob, ""B"""'], head="voter_id;vote;name")).voter_facts["name"] == (
        'Ann "B"', 'Bob, "B"',
    )  # fmt: skip


def test_names_over_several_lines_are_told(read, caplog):
    election = read(text(["1;a"], projects='project_id;cost;name\na;1;"x\ny"\nb;2;z\n'))
    assert election.project_facts["name"] == ("x\ny", "z")
    assert "line 7: a quoted cell goes on to line 8" in caplog.text


@pytest.mark.parametrize(("kind", "meta", "head", "votes", "told"), [
    ("approval", "max_length;1\n", "voter_id;vote", ["1;a", "2;a,b", "3;b,c"],
     "line 14: the first of 2 ballots beyond max_length, 1;"),
    ("cumulative", "max_sum_points;5\n", POINTS, ["1;a,b;3,2", "2;a,b;3,3"],
     "line 14: the first of 1 ballots beyond max_sum_points, 5;"),
    ("cumulative", "max_points;3\n", POINTS, ["1;a,b;3,2", "2;a,b;4,1"],
     "line 14: the first of 1 ballots beyond max_points, 3;"),
    ("approval", "", "voter_id;vote", ["7;a", "8;a", "7;b"],
     "line 14: the first of 1 voter ids that occur again, before in line 12; all are counted"),
    ("ordinal", "scoring_fn;Plurality\n", "voter_id;vote", ["1;a,b"], "line 5: scoring_fn is 'Plurality', but"),
])  # fmt: skip
def test_what_a_file_should_not_hold_is_told(kind, meta, head, votes, told, read, caplog):
    election = read(text(votes, kind, meta, head))
    assert len(election.scores) == len(votes)
    assert told in caplog.text
    assert len(caplog.records) == 1


@pytest.mark.parametrize("meta", ["max_length;2\nmax_points;4\nmax_sum_points;0.3\n", "max_length;None\nmax_points;\n"])
def test_ballots_at_their_limits_are_not_told(meta, read, caplog):
    read(text(["1;a,b;0.1,0.2"], "cumulative", meta, POINTS))
    read(text(["1;a,b"], "ordinal", "scoring_fn;Borda\n"))
    assert not caplog.text


def test_what_is_told(read, caplog):
    with caplog.at_level(logging.WARNING):
        election = read(text(["1;a,b,a"], projects="project_id;cost;votes\na;1;1\nb;2;7\n"))
    assert election.scores.tolist() == [[1, 1]]
    assert "line 11: vote names a project twice, counted once" in caplog.text
    assert "line 8: votes is 7, but 1 ballots name it" in caplog.text


GOOD = text(["1;a", "2;b,c"], meta="num_votes;2\n")
CUMULATIVE = text(["1;a,b;2,1"], "cumulative", head=POINTS)
ORDINAL = text(["1;a,b,c"], "ordinal", meta="max_length;2\n")


@pytest.mark.parametrize(("content", "message"), [
    (b"", "is empty"),
    (b"\xff", "line 1: byte 0xff is not UTF-8"),
    ("1;2\n", "line 1: found '1'; allowed: META, PROJECTS or VOTES first"),
    (GOOD.replace("VOTES\n", ""), "section VOTES is missing"),
    (GOOD[: GOOD.index("VOTES")], "section VOTES is missing"),
    (GOOD.replace("voter_id;vote", "voter_id;vote" + "".join(f";x{n}" for n in range(100_000))), "line 12: 100,002 columns; allowed: at most 10,000"),
    (GOOD.replace("key;value", "key;worth"), "line 2: section META has no column 'value'"),
    (GOOD.replace("project_id;cost", "project_id;costs"), "no column 'cost'; did you mean 'costs'"),
    (GOOD.replace("cost;name", "cost;cost"), "line 7: section PROJECTS names a column twice"),
    (GOOD.replace("budget;120\n", ""), "line 1: key 'budget' is missing"),
    (GOOD.replace("budget;120", "budget;12O"), "line 3: budget is '12O'; allowed: a number of at least 0"),
    (GOOD.replace("budget;120", "budget;120\nbudget;130"), "line 4: key 'budget' occurs twice"),
    (GOOD.replace("a;100", "a;-100"), "line 8: cost is '-100'"),
    (GOOD.replace("a;100", "a;nan"), "line 8: cost is 'nan'"),
    (GOOD.replace("a;100", "a;"), "line 8: cost is ''"),
    (GOOD.replace("a;100", "b;100"), "line 9: project_id 'b' is empty or occurs twice"),
    (GOOD.replace("a;100", ";100"), "line 8: project_id '' is empty"),
    (GOOD.replace("a;100", "None;100"), "line 8: project_id 'None' is empty"),
    (GOOD.replace("budget;120", "budget;1,000"), "line 3: budget is '1,000', 1000 or 1.000; allowed: one of these"),
    (GOOD.replace("a;100", "a;60,000"), "line 8: cost is '60,000', 60000 or 60.000; allowed: one of these"),
    (GOOD.replace("a;100", "a;1,000,000"), "line 8: cost is '1,000,000'; allowed: a number"),
    (GOOD + "VOTES\nvoter_id;vote\n3;a\n", "line 15: section VOTES occurs twice, first in line 11; allowed: once"),
    (GOOD.replace("num_votes;2", "max_length;2,5e1"), "line 5: max_length is '2,5e1'; allowed: a number"),
    (ORDINAL.replace("max_length;2", "max_length;" + "9" * 5_000), "line 5: max_length is '9999"),
    (GOOD.replace("approval", "aproval"), "line 4: vote_type is 'aproval'; did you mean 'approval'"),
    (GOOD.replace("vote_type;approval\n", ""), "line 1: vote_type is ''"),
    (GOOD.replace("1;a", "1;d"), "line 13: vote names project 'd'; valid: a, b, c"),
    (GOOD.replace("2;b,c", "2;b,,c"), "line 14: vote names project ''"),
    (GOOD.replace("1;a", "1;a;F"), "line 13: 3 cells; allowed: 2"),
    (GOOD.replace("num_votes;2", "num_votes;3"), "line 5: num_votes is '3', but the file holds 2"),
    (GOOD.replace("num_votes;2", "num_projects;2"), "line 5: num_projects is '2', but the file holds 3"),
    (GOOD.replace("approval", "choose-1"), "line 14: vote names 2 projects; allowed: at most 1"),
    (GOOD.replace("approval", "cumulative"), "line 12: votes are cumulative, but there is no column 'points'"),
    (CUMULATIVE.replace("2,1", "2"), "line 12: points has 1 numbers and vote 2 projects"),
    (CUMULATIVE.replace("2,1", "2,-1"), "line 12: points is '-1'"),
    (CUMULATIVE.replace("a,b;", "a,a;"), "line 12: vote names a project twice: 'a,a'"),
    (ORDINAL, "line 13: vote ranks 3 projects; allowed: at most max_length, 2"),
    (ORDINAL.replace("max_length;2", "max_length;two"), "line 5: max_length is 'two'"),
    (text(["1;a"], "scoring", "default_score;-1\n", POINTS), "line 5: default_score is '-1'"),
    (text([], projects="project_id;cost\n"), "line 5: there are no projects"),
    ('META\nkey;value\nnote;"' + "x" * 140_000 + '"\n', "the row cannot be read"),
])  # fmt: skip
def test_what_is_refused(content, message, read):
    with pytest.raises(DataError, match=message) as raised:
        read(content)
    assert "votes.pb" in str(raised.value)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_pabulib(tmp_path / "none.pb")
    with pytest.raises(DataError, match="cannot be read"):
        read_pabulib(tmp_path)


REAL = {
    "france_toulouse_2019_": (30, 1_494, 1_000_000, "cumulative"),
    "poland_czestochowa_2020_dzbow": (14, 887, 364_735, "cumulative"),
    "poland_warszawa_2017_plac-wojska-polskiego": (4, 27, 51_195, "approval"),
    "poland_zabrze_2021_maciejow": (2, 87, 155_000, "approval"),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name, real_data, extra, caplog):
    """Counts, the organisers' own sums of votes and points, and the reading of pabutools, voter by voter."""
    path = real_data(f"budgets/{name}.pb")
    election = read_pabulib(path)
    assert (len(election.projects), len(election.scores), election.budget, election.vote_type) == REAL[name]
    assert not caplog.text  # the column `votes` says what is counted
    assert election.approvals.any(axis=1).all()
    if "score" in election.project_facts:
        assert election.scores.sum(axis=0).tolist() == [float(each) for each in election.project_facts["score"]]
    instance, profile = extra("pabutools.election.pabulib").parse_pabulib(str(path))
    costs = {project.name: project.cost for project in instance}
    assert costs == dict(zip(election.projects, election.costs.tolist(), strict=True))
    for row, ballot in zip(election.scores, profile, strict=True):
        theirs = (
            {p.name: float(ballot[p]) for p in ballot}
            if election.vote_type == "cumulative"
            else {p.name: 1 for p in ballot}
        )
        assert theirs == {election.projects[p]: row[p] for p in np.flatnonzero(row)}


@pytest.mark.parametrize("first", ["key;value\n", ""])
def test_meta_may_leave_the_names_of_its_columns_out(first, read):
    """29 of 810 real files do."""
    election = read(
        "META\n"
        + first
        + "description;Some\nvote_type;approval\n"
        + GOOD[GOOD.index("budget") :].replace("vote_type;approval\n", "")
    )
    assert election.budget == 120
    assert election.facts["description"] == "Some"
