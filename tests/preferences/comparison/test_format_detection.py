"""Which kind of file something is, told from what it holds."""

from __future__ import annotations

import gzip
import json

import pytest

from accordant.errors import DataError, UnknownNameError
from accordant.preferences.comparison.sources import kind_of

TURN = "\n\nHuman: hello\n\nAssistant: "
CONTENTS = {
    "trl": [
        "prompt,chosen,rejected\n1,2,3\n",
        '{"chosen": "a", "rejected": "b"}\n',
        '\n{"chosen": [], "rejected": []}',
    ],
    "hh-rlhf": [json.dumps({"chosen": TURN + "hi", "rejected": TURN + "no"})],
    "dsp": ['[{"query": "q", "responses": {"a": "x"}}]', '\n [{"responses": {}, "query": ""}]'],
    "movielens": ["userId,movieId,rating,timestamp\n1,1,4,9\n"],
    "features": ["user_id,chosen_a,rejected_a\n1,1,2\n", '{"user_id": 1, "chosen_a": 1, "rejected_a": 0}'],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in CONTENTS.items() for text in texts])
@pytest.mark.parametrize("packed", [False, True])
def test_the_content_says_the_kind_and_not_the_name(tmp_path, kind, text, packed):
    path = tmp_path / "anything"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert kind_of(path) == kind


def test_a_dialogue_with_a_user_is_no_hh_rlhf(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"chosen": TURN + "hi", "rejected": TURN + "no", "user_id": 1}))
    assert kind_of(path) == "trl"


def test_a_folder_with_both_files_is_movielens(tmp_path):
    (tmp_path / "ratings.csv").touch()
    with pytest.raises(DataError, match=r"is a folder without movies\.csv; allowed: a folder with"):
        kind_of(tmp_path)
    (tmp_path / "movies.csv").touch()
    assert kind_of(tmp_path) == "movielens"


def test_what_is_asked_for_is_believed_if_it_exists(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("prompt,chosen,rejected\n1,2,3\n")
    assert kind_of(path, "dsp") == "dsp"
    with pytest.raises(UnknownNameError, match="did you mean 'hh-rlhf'"):
        kind_of(path, "hhrlhf")
    with pytest.raises(DataError, match=r"b\.csv does not exist; did you mean 'a\.csv'"):
        kind_of(tmp_path / "b.csv", "dsp")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("prompt,choosen,rejected\n1,2,3\n", "did you mean 'chosen'"),
        ("hello world\n", "has the columns hello world; allowed: trl"),
        ('[{"prompt": "a", "chosen": "b"}]', "a JSON list that begins with 'prompt', 'chosen'"),
        ("[]", "a JSON list that begins with None"),
        ("[1", "is not JSON"),
        ('{\n"chosen": 1}', "its first line is no JSON object by itself"),
        ("movieId,title,genres\n1,a,b\n", "holds films, not ratings"),
    ],
)
def test_what_is_of_no_kind_is_refused_with_what_was_found(tmp_path, text, message):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        kind_of(path)
    assert message in str(error.value)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_whatever_ends_the_lines_of_a_table_the_header_is_read(tmp_path, end):
    path = tmp_path / "a.csv"
    path.write_bytes(end.join(["user_id,chosen_a,rejected_a", "1,1,2", ""]).encode())
    assert kind_of(path) == "features"


def test_a_header_that_no_reader_takes_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user_id," + "a" * 140_000 + "\n1,2\n")
    with pytest.raises(DataError, match=r"a\.csv is no table: field larger"):
        kind_of(path)
