"""Recorded rankings: what a file says, and every way in which it can be wrong, with the line."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.rankers import RecordedRanker
from accordant.slates.rankers.ranking_file import read_rankings
from accordant.errors import DataError

PLAIN = "request,place,item\nr1,2,zoo\nr1,1,park\n\nr2,1,museum\n"
FULL = (
    "stakeholder,request,place,item,score,reason\n"
    "Residents,r1,1,park,0.9,quiet\n"
    "Residents,r1,2,zoo,0.9,\n"
    'Shops,r1,1,"tea, room",,"sells\x1b[31m\ntea"\n'
)


@pytest.fixture
def write(tmp_path):
    def made(text):
        file = tmp_path / "rankings.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(file)

    return made


def test_an_order_by_place_whatever_the_order_of_lines(write, make_view):
    ranker = RecordedRanker(write(PLAIN))
    found = ranker.rank(make_view(request="r1"))
    assert (found.order, found.scores, found.reasons) == (("park", "zoo"), (), ())
    assert (found.voter, found.generated_by) == ("recorded_ranker", "person")
    assert ranker.rank(make_view(request="r2")).order == ("museum",)
    assert ranker.reads_requests
    assert "person" in ranker.about


def test_nothing_is_said_of_other_requests(write, make_view):
    assert RecordedRanker(write(PLAIN)).rank(make_view(request="r3")).order == ()


def test_scores_reasons_and_stakeholders(write, make_view):
    file = write("\ufeff" + FULL)
    residents = RecordedRanker(file, "Residents", made_by="model big", name="panel")
    found = residents.rank(make_view(request="r1"))
    assert (found.scores, found.reasons) == ((0.9, 0.9), ("quiet", ""))
    assert (found.voter, found.generated_by) == ("panel", "model big")
    shops = RecordedRanker(file, "Shops").rank(make_view(request="r1"))
    assert (shops.order, shops.scores) == (("tea, room",), ())
    assert shops.reasons == ("sells[31m tea",)
    assert residents.to_json()["requests"] == 1
    assert "rankings.csv" not in str(residents.to_json())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("request,place,item\n", "holds no rankings"),
        ("request,place\nr1,1\n", "line 1: there is no column 'item'"),
        ("request,place,item,scores\nr1,1,zoo,1\n", "line 1: unknown column 'scores'; did you mean 'score'"),
        ("request,place,item,item\nr1,1,zoo,zoo\n", "line 1: 2 columns are called 'item'"),
        ("request,place,item\nr1,1\n", "line 2: 2 cells; allowed: 3"),
        ("request,place,item\nr1,1,zoo,\n", "line 2: 4 cells"),
        ("request,place,item\n,1,zoo\n", "line 2: request is empty"),
        ("request,place,item\nr1,1, \n", "line 2: item is empty"),
        ("stakeholder,request,place,item\n,r1,1,zoo\n", "line 2: stakeholder is empty"),
        ("request,place,item\nr1,0,zoo\n", "line 2: place is '0'"),
        ("request,place,item\nr1,1.5,zoo\n", "line 2: place is '1.5'"),
        ("request,place,item\nr1,²,zoo\n", "line 2: place is '²'"),
        ("request,place,item\nr1,1,zoo\nr1,1,park\n", "line 3: place 1 is taken in line 2"),
        ("request,place,item\nr1,1,zoo\nr1,2,zoo\n", "line 3: item 'zoo' stands in line 2 already"),
        ("request,place,item\nr1,1,zoo\nr1,3,park\n", "line 3: place 3, but no item has place 2"),
        ("request,place,item\nr1,2,zoo\n", "line 2: place 2, but no item has place 1"),
        ("request,place,item,score\nr1,1,zoo,0.5\nr1,2,park,0.6\n", "line 3: score 0.6 is above 0.5"),
        ("request,place,item,score\nr1,1,zoo,0.5\nr1,2,park,\n", "line 3: score is ''"),
        ("request,place,item,score\nr1,1,zoo,1.5\n", "line 2: score is '1.5'"),
        ("request,place,item,score\nr1,1,zoo,nan\n", "line 2: score is 'nan'"),
        ("request,place,item,score\nr1,1,zoo,much\n", "line 2: score is 'much'"),
        ('request,place,item\nr1,1,"zoo\n', "cannot be read"),
        (b"request,place,item\nr1,1,\xff\n", "line 2: byte 0xff is not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text, message, write):
    with pytest.raises(DataError) as caught:
        read_rankings(write(text))
    assert message in str(caught.value)
    assert "rankings.csv" in str(caught.value)


def test_no_such_file_or_stakeholder(write, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        RecordedRanker(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match="no rankings of 'Resident'; did you mean 'Residents'"):
        RecordedRanker(write(FULL), "Resident")
    with pytest.raises(DataError, match="did you mean|valid: Residents, Shops"):
        RecordedRanker(write(FULL))
    with pytest.raises(DataError, match="no column 'stakeholder'"):
        RecordedRanker(write(PLAIN), "Residents")


def test_unknown_requests_and_items_are_refused_with_their_line(write):
    ranker = RecordedRanker(write(PLAIN))
    ranker.check(["r1", "r2", "r3"], ["zoo", "park", "museum"])
    with pytest.raises(DataError, match="line 5: unknown request 'r2'; allowed: one of 1 requests"):
        ranker.check(["r1"], ["zoo", "park", "museum"])
    with pytest.raises(DataError, match=r"line 2: unknown item 'zoo'; did you mean 'zoos'\? allowed: one of 3 items"):
        ranker.check(["r1", "r2"], ["zoos", "park", "museum"])


def test_some_requests_alone(write, make_view):
    whole = RecordedRanker(write(PLAIN))
    part = whole.among(["r1"])
    part.check(["r1"], ["zoo", "park"])
    assert part.rank(make_view(request="r2")).order == ()
    assert whole.rank(make_view(request="r2")).order == ("museum",)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5),
        st.lists(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5), min_size=1, max_size=5,
                 unique=True),
        min_size=1, max_size=3,
    ),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_what_is_written_is_read(tmp_path_factory, rankings, random):
    lines = [(request, place, item) for request, order in rankings.items() for place, item in enumerate(order, 1)]
    random.shuffle(lines)
    stream = io.StringIO()
    csv.writer(stream).writerows([("request", "place", "item"), *lines])
    file = tmp_path_factory.mktemp("rankings") / "r.csv"
    file.write_text(stream.getvalue(), encoding="utf-8", newline="")
    found = read_rankings(file)[None]
    assert {request: list(each.ranking.order) for request, each in found.items()} == rankings
