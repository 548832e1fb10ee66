"""PrefLib files: every type, and every way in which a file can break its promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from accordant.voting import read_preflib
from accordant.errors import DataError

NAMES = ("Ada", "Ben", "Cleo")


def text(kind, *ballots, voters=None, names=NAMES, extra=()):
    """Return the text of a file; the number of voters is right unless given."""
    counted = sum(int(ballot.split(":")[0]) for ballot in ballots) if voters is None else voters
    header = [
        f"DATA TYPE: {kind}", f"NUMBER ALTERNATIVES: {len(names)}", f"NUMBER VOTERS: {counted}",
        f"NUMBER UNIQUE ORDERS: {len(ballots)}", *extra,
        *(f"ALTERNATIVE NAME {number}: {name}" for number, name in enumerate(names, 1)),
    ]  # fmt: skip
    return "".join(f"# {line}\n" for line in header) + "".join(f"{ballot}\n" for ballot in ballots)


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def made(content, name="votes.toi"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_preflib(path)

    return made


def rows(profile):
    return profile.ranks[:, :, 0].tolist()


@pytest.mark.parametrize(("kind", "ballots", "ranks"), [
    ("soc", ["2: 3,1,2", "1:1,2,3"], [[1, 2, 0], [0, 1, 2]]),
    ("soi", ["2: 3,1", "1: 2"], [[1, 2, 0], [1, 0, 1]]),
    ("toc", ["2: 3,{1,2}", "1: {1, 2 ,3}", "4: { 2,3 } , 1"], [[1, 1, 0], [0, 0, 0], [2, 0, 0]]),
    ("toi", ["2: {3,1}", "5: {2}", "1 :1,{3}"], [[0, 2, 0], [1, 0, 1], [0, 2, 1]]),
])  # fmt: skip
def test_types_of_orders(kind, ballots, ranks, read):
    profile = read(text(kind, *ballots), f"votes.{kind}")
    assert rows(profile) == ranks
    assert profile.weights.tolist() == [int(ballot.split(":")[0]) for ballot in ballots]
    assert profile.alternatives == NAMES
    assert profile.grades is None
    assert profile.approvals is None


@pytest.mark.parametrize("numbers", [(0, 1, 2), (3, 7, 20), (5, 2, 9)])
def test_alternatives_are_numbered_as_the_file_says(numbers, read):
    """Other programs count from 0, or leave numbers out."""
    one, two, three = numbers
    content = text("soc", f"2: {three},{one},{two}", f"1: {one}, {two}, {three}")
    for usual, number in zip((1, 2, 3), numbers, strict=True):
        content = content.replace(
            f"ALTERNATIVE NAME {usual}: {NAMES[usual - 1]}", f"ALTERNATIVE NAME {number}: {NAMES[usual - 1]}"
        )
    profile = read(content, "votes.soc")
    places = [dict(zip(profile.alternatives, row, strict=True)) for row in rows(profile)]
    assert places == [dict(zip(NAMES, row, strict=True)) for row in ([1, 2, 0], [0, 1, 2])]


@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.long
def test_every_example_of_pref_voting_is_read():
    """They number alternatives from 0; winners of their library are the oracle."""
    pref_voting = pytest.importorskip("pref_voting")
    from pref_voting.io.readers import preflib_to_profile
    from pref_voting.voting_methods import copeland

    from accordant import strategies

    files = sorted((Path(pref_voting.__file__).parent / "data").rglob("*.soc"))
    assert len(files) >= 35
    for file in files:
        winners = strategies.create("copeland").count(read_preflib(file)).winners()
        theirs = preflib_to_profile(str(file), as_linear_profile=True)
        assert set(winners) == {str(each) for each in copeland(theirs)}, file.name


def test_categories(read):
    """Declared order, best first; an alternative without a category is below all; grades at equal distances."""
    extra = ["NUMBER CATEGORIES: 3", *(f"CATEGORY NAME {n}: {name}" for n, name in enumerate("YMN", 1))]
    profile = read(text("cat", "5: {1,2},{},3", "2: {},{1,3},{}", extra=extra), "votes.cat")
    assert rows(profile) == [[0, 0, 2], [0, 2, 0]]
    assert profile.grades[:, :, 0].tolist() == [[1, 1, 0], [0.5, 0, 0.5]]
    assert profile.approvals[:, :, 0].tolist() == [[True, True, False], [False, False, False]]
    single = read(text("cat", "1: {1,2}", extra=["NUMBER CATEGORIES: 1", "CATEGORY NAME 1: Yes"]), "one.cat")
    assert single.grades[0, :, 0].tolist() == [1, 1, 0]


def test_what_is_let_pass(read):
    """Blank lines, comments, Windows line ends, a byte order mark, names with colons and accents, twins told apart."""
    content = text("soi", "2: 3,1", names=("Zoë: 2nd", "Bo", "Bo")).replace("\n", "\r\n").replace("2: 3", "\r\n2: 3")
    profile = read(b"\xef\xbb\xbf# a remark\r\n" + content.encode(), "votes.soi")
    assert profile.alternatives == ("Zoë: 2nd", "Bo (2)", "Bo (3)")
    assert rows(profile) == [[1, 2, 0]]
    assert rows(read(text("", "1: 2,1,3").replace("# DATA TYPE: \n", ""), "votes.soc")) == [[1, 0, 2]]


CATEGORIES = ["NUMBER CATEGORIES: 2", "CATEGORY NAME 1: Yes", "CATEGORY NAME 2: No"]
GOOD = text("toi", "3: 1,2", "2: {2,3}")


@pytest.mark.parametrize(("name", "content", "message"), [
    ("votes.toi", "", "votes.toi is empty"),
    ("votes.toi", "\n \n", "votes.toi is empty"),
    ("votes.toi", "3\n1,Ada\n2,Ben\n3,Cleo\n", "line 1: found '3': this is PrefLib's format before 2022"),
    ("votes.toi", "1,2,3\n", "line 1: found '1,2,3'; allowed: header lines '# KEY: value' first"),
    ("votes.toi", GOOD.encode().replace(b"Cleo", b"Cl\xe9o"), "line 7: byte 0xe9 is not UTF-8; allowed: UTF-8"),
    ("votes.toi", GOOD.split("3: 1")[0], "there are no ballots"),
    ("votes.toi", GOOD.replace("VOTERS: 5", "VOTERS: 6"), "line 3: NUMBER VOTERS is 6, but the counts of the ballots sum to 5"),
    ("votes.toi", GOOD.replace("VOTERS: 5", "VOTERS: five"), "line 3: NUMBER VOTERS is 'five'; allowed: a whole number above 0"),
    ("votes.toi", GOOD.replace("# NUMBER VOTERS: 5\n", ""), "header key '# NUMBER VOTERS: ' is missing"),
    ("votes.toi", GOOD.replace("NUMBER ALTERNATIVES", "NUMBER ALTERNATIVE"), "did you mean it by 'NUMBER ALTERNATIVE'"),
    ("votes.toi", GOOD.replace("ALTERNATIVES: 3", "ALTERNATIVES: 0"), "line 2: NUMBER ALTERNATIVES is '0'"),
    ("votes.toi", GOOD.replace("# ALTERNATIVE NAME 2: Ben\n", ""), "'# ALTERNATIVE NAME 2: ' is missing or empty"),
    ("votes.toi", GOOD.replace("NAME 2: Ben", "NAME 2:"), "line 6: '# ALTERNATIVE NAME 2: ' is missing or empty"),
    ("votes.toi", GOOD.replace("# ALTERNATIVE NAME 3: Cleo\n", ""),
     "line 2: '# ALTERNATIVE NAME 3: ' is missing or empty: 2 alternatives have a name; allowed: 3, which is"),
    ("votes.toi", GOOD.replace("NAME 2", "NAME 3"), "line 7: ALTERNATIVE NAME 3 occurs twice, first in line 6"),
    ("votes.toi", GOOD.replace("ALTERNATIVES: 3", "ALTERNATIVES: 2"), "line 7: ALTERNATIVE NAME 3, but NUMBER ALTERNATIVES is 2"),
    ("votes.toi", text("tok", "1: 1"), "line 1: DATA TYPE is 'tok'; allowed: soc, soi, toc, toi, cat"),
    ("votes.soc", GOOD, "line 1: DATA TYPE is 'toi' in a file named .soc"),
    ("votes.toi", text("toi", "2: 1,4", "1: 2"), "line 8: alternative '4' is not declared; allowed: 1 to 3"),
    ("votes.toi", text("toi", "2: 1,0"), "alternative '0' is not declared"),
    ("votes.toi", text("toi", "2: 1,x"), "alternative 'x' is not declared"),
    ("votes.toi", text("toi", "2: 1," + "9" * 5000), "is not declared"),
    ("votes.toi", text("toi", "2: 1,2,1"), "line 8: alternative 1 occurs twice; allowed: once"),
    ("votes.toi", text("toi", "2: 1,{2,2}"), "alternative 2 occurs twice"),
    ("votes.toi", text("toi", "2: 1,{2,3"), r"order '1,\{2,3' is malformed; allowed: numbers, commas, and \{\} around ties"),
    ("votes.toi", text("toi", "2: 1,2}"), "malformed"),
    ("votes.toi", text("toi", "2: {1{2}}"), "malformed"),
    ("votes.toi", text("toi", "2: {1}{2}"), "malformed"),
    ("votes.toi", text("toi", "2: {1},"), "malformed"),
    ("votes.toi", text("toi", "2: 1,,2"), "alternative '' is not declared"),
    ("votes.toi", text("toi", "2: "), "alternative '' is not declared"),
    ("votes.toi", text("toi", "2: {},1"), "empty braces"),
    ("votes.toi", text("toi", "2: 1", voters=2).replace("2: 1", "two: 1"), "found 'two: 1'; allowed: 'count: order', such as"),
    ("votes.toi", text("toi", "0: 1", voters=2), "found '0: 1'; allowed: 'count: order'"),
    ("votes.toi", text("toi", "2: 1", voters=2).replace("2: 1", "2.5: 1"), "found '2.5: 1'"),
    ("votes.toi", text("toi", "2: 1", voters=2).replace("2: 1", "1,2,3"), "found '1,2,3'"),
    ("votes.soc", text("soc", "2: 1,3"), "line 8: alternative 2 is missing; a soc file holds strict orders of all alternatives"),
    ("votes.soc", text("soc", "2: 1,{2,3}"), "a tie; a soc file holds strict orders of all alternatives"),
    ("votes.soi", text("soi", "2: {2,3}"), "a tie; a soi file holds strict orders of some alternatives"),
    ("votes.toc", text("toc", "2: {2,3}"), "alternative 1 is missing; a toc file holds orders with ties of all alternatives"),
    ("votes.cat", text("cat", "2: {2,3},{1},{}", extra=CATEGORIES), r"3 categories; allowed: 2, \{\} for an empty one"),
    ("votes.cat", text("cat", "2: {2,3},{1}"), "'# NUMBER CATEGORIES: ' is missing; a .cat file says how many categories a ballot has, line 8 has 2"),
    ("votes.toi", text("toi", "2: 1").replace("ALTERNATIVE NAME 2", "ALTERNATIVE NAME 02").replace("ALTERNATIVE NAME 3", "ALTERNATIVE NAME 2"), "ALTERNATIVE NAME 2 names alternative 2 again"),
    ("votes.toi", text("toi", "2: 1").replace("ALTERNATIVES: 3", "ALTERNATIVES: 20000"), "20,000 alternatives of an election; allowed: at most 1,000"),
])  # fmt: skip
def test_what_is_refused(name, content, message, read):
    with pytest.raises(DataError, match=message):
        read(content, name)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="nowhere.soc: there is no such file"):
        read_preflib(tmp_path / "nowhere.soc")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_preflib(tmp_path)


def test_errors_name_the_file_and_the_line(read, tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path}/votes.toi, line 9: "):
        read(text("toi", "2: 1", "3: 5"))


def test_a_large_file_is_read_at_once(read):
    """20,000 different ballots; the bound is generous for a busy machine."""
    import time

    generator = np.random.default_rng(0)
    names = [f"Candidate {n}" for n in range(12)]
    ballots = [f"1: {','.join(map(str, generator.permutation(12) + 1))}" for _ in range(20_000)]
    content = text("soc", *ballots, names=names)
    start = time.process_time()
    profile = read(content, "large.soc")
    assert time.process_time() - start < 2.0
    assert profile.ranks.shape == (20_000, 12, 1)
