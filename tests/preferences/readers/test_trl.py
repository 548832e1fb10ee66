"""TRL's columns: both forms, all kinds of files and frames, there and back."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences.readers import read_hh_rlhf, read_trl, trl_from_frame, trl_to_frame, write_trl
from accordant.preferences.texts import TextComparisons

FULL = TextComparisons(
    ("The sky is", "", 'He said "x",\r\nand left'),
    (" blue.", "a\nb", "ü\u2028"),
    (" green.", "c", ""),
    users=("ann", "bob", "ann"),
    groups=("north", "south", "north"),
    weights=np.array([1.0, 0.1 + 0.2, 2.0]),
    margins=np.array([np.nan, -1e-17, np.nan]),
    support=np.array([0.25, np.nan, 1 / 3]),
)
BARE = TextComparisons(("q",), ("a",), ("b",))
FIELDS = tuple(FULL.__dataclass_fields__)


def same(one, two, fields=FIELDS):
    for field in fields:
        here, there = getattr(one, field), getattr(two, field)
        if isinstance(here, np.ndarray):
            assert np.array_equal(here, there, equal_nan=True), field
        else:
            assert here == there, field
    return True


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def lines(folder, *records):
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.ndjson.gz", "x.csv", "x.CSV.GZ"])
@pytest.mark.parametrize("texts", [FULL, BARE], ids=["full", "bare"])
def test_files_there_and_back(tmp_path, name, texts):
    write_trl(texts, tmp_path / name)
    assert same(read_trl(tmp_path / name), texts)
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"\x1f\x8b") == name.lower().endswith(".gz")
    write_trl(texts, tmp_path / name)
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("form", ["plain", "conversational"])
@pytest.mark.parametrize("texts", [FULL, BARE], ids=["full", "bare"])
def test_frames_there_and_back(backend, form, texts):
    if form == "conversational":
        texts = TextComparisons(
            *(tuple(map(str.strip, each)) for each in (texts.prompts, texts.chosen, texts.rejected))
        )
    frame = trl_to_frame(texts, backend=backend, form=form)
    assert isinstance(frame, pd.DataFrame if backend == "pandas" else pl.DataFrame)
    assert same(trl_from_frame(frame), texts)


@pytest.mark.parametrize("n_messages", [1, 3])
def test_messages_in_arrays(n_messages):
    """Parquet files read by pandas hold lists as arrays."""
    prompt = [user("a"), assistant("b"), user("c")][-n_messages:]
    cells = {"prompt": prompt, "chosen": [assistant("d")], "rejected": [assistant("e")]}
    frame = pd.DataFrame({name: [np.array(value, dtype=object)] for name, value in cells.items()})
    assert same(trl_from_frame(frame), trl_from_frame(pl.DataFrame({name: [value] for name, value in cells.items()})))


def test_columns_are_those_of_trl(tmp_path):
    assert list(trl_to_frame(BARE)) == ["prompt", "chosen", "rejected", "user_id"]
    whole = ["prompt", "chosen", "rejected", "margin", "user_id", "group_id", "support_rate", "weight"]
    assert list(trl_to_frame(FULL)) == whole
    write_trl(FULL, tmp_path / "x.jsonl")
    first = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])
    assert list(first) == whole
    assert first["margin"] is None


def test_missing_margins_stay_with_their_records(tmp_path):
    given = [2.0, None, "absent", 0.5, float("nan"), -1]
    records = [
        {"prompt": f"q{row}", "chosen": "a", "rejected": "b"} | ({} if margin == "absent" else {"margin": margin})
        for row, margin in enumerate(given)
    ]
    found = read_trl(lines(tmp_path, *records))
    assert np.array_equal(found.margins, [2.0, np.nan, np.nan, 0.5, np.nan, -1.0], equal_nan=True)
    assert found.take(np.array([5, 1])).margins[0] == -1.0
    assert read_trl(lines(tmp_path, *records[1:3])).margins is None
    (tmp_path / "x.csv").write_text("prompt,chosen,rejected,margin\nq,a,b,\nq,a,b,3\nq,a,b, \n")
    assert np.array_equal(read_trl(tmp_path / "x.csv").margins, [np.nan, 3.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_values_of_frames(missing):
    frame = pd.DataFrame(
        {"prompt": ["q", "r"], "chosen": "a", "rejected": "b", "margin": [missing, 1.5], "user_id": [3.0, 4.0]}
    )
    found = trl_from_frame(frame)
    assert np.array_equal(found.margins, [np.nan, 1.5], equal_nan=True)
    assert found.users == ("3", "4")


def test_simple_conversations_are_their_contents(tmp_path):
    explicit = {"prompt": [user("Sky?")], "chosen": [assistant("Blue.")], "rejected": [assistant("Green.")]}
    implicit = {"chosen": [user("Sky?"), assistant("Blue.")], "rejected": [user("Sky?"), assistant("Green.")]}
    none = {"prompt": [], "chosen": [assistant("Blue.")], "rejected": [assistant("Green.")]}
    found = read_trl(lines(tmp_path, explicit, implicit, none))
    assert found.prompts == ("Sky?", "Sky?", "")
    assert found.chosen == ("Blue.",) * 3
    assert found.rejected == ("Green.",) * 3


def test_longer_conversations_are_dialogues(tmp_path):
    """A short conversation among longer ones is a dialogue too."""
    start = [{"role": "system", "content": "Be kind."}, user("Hi"), assistant("Hello"), user("Sky?")]
    explicit = {"prompt": start, "chosen": [assistant("Blue.")], "rejected": [assistant("No."), user("Oh")]}
    implicit = {"chosen": start + explicit["chosen"], "rejected": start + explicit["rejected"]}
    short = {"prompt": [user("Hi")], "chosen": [assistant("A")], "rejected": [assistant("B")]}
    found = read_trl(lines(tmp_path, explicit, implicit, short))
    prompt = "\n\nSystem: Be kind.\n\nHuman: Hi\n\nAssistant: Hello\n\nHuman: Sky?\n\nAssistant:"
    assert found.prompts == (prompt, prompt, "\n\nHuman: Hi\n\nAssistant:")
    assert found.chosen == (" Blue.", " Blue.", " A")
    assert found.rejected == (*(" No.\n\nHuman: Oh",) * 2, " B")
    write_trl(found, tmp_path / "back.jsonl", form="conversational")
    written = [json.loads(line) for line in (tmp_path / "back.jsonl").read_text().splitlines()]
    assert [{key: each[key] for key in explicit} for each in written] == [explicit, explicit, short]


def test_plain_text_without_prompt(tmp_path):
    dialogue = {"chosen": "\n\nHuman: Hi\n\nAssistant: Yes", "rejected": "\n\nHuman: Hi\n\nAssistant: No"}
    found = read_trl(lines(tmp_path, dialogue, {"chosen": "The sky is blue.", "rejected": "The sky is green."}))
    assert found.prompts == ("\n\nHuman: Hi\n\nAssistant:", "")
    assert found.chosen == (" Yes", "The sky is blue.")


GOOD = {"prompt": "q", "chosen": "a", "rejected": "b"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"prompt": "q", "choosen": "a", "rejected": "b"}, "line 2: unknown column 'choosen'; did you mean 'chosen'"),
        ({"prompt": "q", "rejected": "b"}, "line 2: column 'chosen' is missing"),
        (GOOD | {"score": 1}, "unknown column 'score'; valid: prompt, chosen"),
        (GOOD | {"chosen": 3}, "'chosen' is 3; allowed: text"),
        (GOOD | {"chosen": None}, "'chosen' is None; allowed: text"),
        (GOOD | {"rejected": [assistant("a")]}, "'chosen' is 'a'; allowed: text in every column, or a list"),
        (GOOD | {"chosen": "b"}, "line 2: chosen and rejected are the same"),
        (GOOD | {"margin": "big"}, "line 2: margin is 'big'; allowed: a number"),
        (GOOD | {"margin": 10**400}, "from line 2: JSON: 401 digits"),
        (GOOD | {"margin": True}, "margin is True; allowed: a number"),
        (GOOD | {"margin": float("inf")}, "margin is inf; allowed: a number"),
        (GOOD | {"support_rate": [1]}, r"support_rate is \[1\]; allowed: a number"),
        (GOOD | {"support_rate": 1.5}, "a support rate is 1.5; allowed: 0 to 1"),
        (GOOD | {"weight": 2}, "line 1: weight is missing; allowed: one for each record, or none"),
        (GOOD | {"weight": -1}, "weight is missing"),
        (GOOD | {"user_id": "ann"}, "line 1: user_id is missing"),
        (GOOD | {"group_id": "ann"}, "line 1: group_id is missing"),
        ({"chosen": [user("a")], "rejected": [{"role": "owner", "content": "b"}]}, "message 1 has the role 'owner'"),
        ({"chosen": [user("a")], "rejected": [{"role": "user"}]}, "message 1 has the content None; allowed: text"),
        ({"chosen": [user("a")], "rejected": ["b"]}, "message 1 has the role None"),
        (GOOD | {"chosen": [assistant("a")], "rejected": [assistant("b")]}, "'prompt' is 'q'; allowed: text in every"),
        ({"chosen": [user("a")], "rejected": []}, "an answer has no messages"),
    ],
)
def test_wrong_records(tmp_path, record, message):
    with pytest.raises(DataError, match=message):
        read_trl(lines(tmp_path, GOOD, record))


def test_other_columns_are_left_out_by_name(tmp_path):
    path = lines(tmp_path, GOOD | {"score": 1, "id": "x"})
    assert same(read_trl(path, ignore=("score", "id")), BARE, ("prompts", "chosen", "rejected"))
    with pytest.raises(DataError, match="unknown column 'id'"):
        read_trl(path, ignore=("score",))


def test_wrong_files_and_frames(tmp_path):
    for name in ("x.parquet", "x.gz", "x"):
        with pytest.raises(InputError, match=r"allowed: \.csv, \.jsonl"):
            read_trl(tmp_path / name)
        with pytest.raises(InputError, match=r"allowed: \.csv, \.jsonl"):
            write_trl(BARE, tmp_path / name)
    with pytest.raises(InputError, match="CSV holds no lists of messages"):
        write_trl(BARE, tmp_path / "x.csv", form="conversational")
    with pytest.raises(InputError, match="form is 'chat'; allowed: 'plain', 'conversational'"):
        write_trl(BARE, tmp_path / "x.jsonl", form="chat")
    (tmp_path / "broken.jsonl").write_text('{"prompt": "q"\n')
    with pytest.raises(DataError, match=r"broken\.jsonl line 1 is not JSON"):
        read_trl(tmp_path / "broken.jsonl")
    with pytest.raises(InputError, match="cannot be written: there is no folder"):
        write_trl(BARE, tmp_path / "nowhere" / "x.csv")
    half = TextComparisons(("q",), ("\ud83d",), ("b",))
    write_trl(half, tmp_path / "half.jsonl")
    assert same(read_trl(tmp_path / "half.jsonl"), half)
    with pytest.raises(InputError, match="a text holds half a character"):
        write_trl(half, tmp_path / "half.csv")
    (tmp_path / "fake.csv.gz").write_text("prompt,chosen,rejected\nq,a,b\n")  # a name may lie
    assert same(read_trl(tmp_path / "fake.csv.gz"), BARE)
    with pytest.raises(DataError, match=r"expected a data frame \(pandas, polars, …\); found list"):
        trl_from_frame([GOOD])
    with pytest.raises(DataError, match="no rows"):
        trl_from_frame(pd.DataFrame({"prompt": [], "chosen": [], "rejected": []}))
    with pytest.raises(InputError, match="backend 'excel' cannot be used"):
        trl_to_frame(BARE, backend="excel")


def test_dialogues_of_the_real_file_survive_as_messages(real_data, tmp_path):
    found = read_hh_rlhf(real_data("preferences/harmless-base_test.jsonl.gz")).take(slice(0, 300))
    write_trl(found, tmp_path / "x.jsonl.gz", form="conversational")
    with gzip.open(tmp_path / "x.jsonl.gz", "rt") as file:
        assert json.loads(next(file))["chosen"][0]["role"] == "assistant"
    again = read_trl(tmp_path / "x.jsonl.gz")
    for row in range(len(found)):  # spaces around turns are lost, and nothing else
        for here, there in (
            (found.prompts, again.prompts),
            (found.chosen, again.chosen),
            (found.rejected, again.rejected),
        ):
            assert here[row].split() == there[row].split()


def test_every_other_column_may_be_ignored(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"prompt": "p", "chosen": "a", "rejected": "b", "id": 7, "source": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="unknown column 'id'"):
        read_trl(file)
    assert read_trl(file, ignore="*").chosen == read_trl(file, ignore=["id", "source"]).chosen == ("a",)
