"""HH-RLHF: made-up lines, broken lines, the real file."""

from __future__ import annotations

import gzip
import json

import pytest

from accordant.errors import DataError
from accordant.preferences.encoding import LengthEncoder
from accordant.preferences.readers import read_hh_rlhf

GOOD = {
    "chosen": "\n\nHuman: Hi\n\nAssistant: Hello\u2028you\n\nHuman: Well?\n\nAssistant: Fine.",
    "rejected": "\n\nHuman: Hi\n\nAssistant: Hello\u2028you\n\nHuman: Well?\n\nAssistant: Go away.",
}
EARLY = {
    "chosen": "\n\nHuman: Hi\n\nAssistant: A\n\nHuman: B\n\nAssistant: C",
    "rejected": "\n\nHuman: Hi\n\nAssistant: D",
}


def lines(*records):
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in records).encode()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_prompt_and_answers(tmp_path, packed, name):
    content = lines(GOOD) + b"\r\n\n" + lines(EARLY) + b"\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    found = read_hh_rlhf(tmp_path / name)
    assert found.prompts == (GOOD["chosen"].removesuffix(" Fine."), "\n\nHuman: Hi\n\nAssistant:")
    assert found.chosen == (" Fine.", " A\n\nHuman: B\n\nAssistant: C")
    assert found.rejected == (" Go away.", " D")
    assert found.user_names == ("0",)
    assert found.groups is found.margins is found.support is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pairs.jsonl is empty"),
        (b" \n\n", "pairs.jsonl is empty"),
        (lines(GOOD) + b"\n\n{broken", "pairs.jsonl line 3 is not JSON"),
        (
            lines(GOOD) + b'\n{"chosen": ' + b"9" * 5000 + b"}",
            "pairs.jsonl, from line 2: JSON: 5,000 digits of a whole number; allowed: at most 300",
        ),
        (b"[1]", "line 1 is a list; allowed: a JSON object"),
        (lines({"choosen": "a", "rejected": "b"}), "line 1: key 'chosen' is missing; did you mean it by 'choosen'"),
        (lines(GOOD | {"margin": 1}), "unknown key 'margin'; valid: chosen, rejected"),
        (lines(GOOD | {"chosen": 3}), "'chosen' is a number; allowed: text"),
        (lines(GOOD | {"chosen": None}), "'chosen' is null; allowed: text"),
        (lines(GOOD | {"chosen": "Hi"}), "'chosen' begins with 'Hi'; allowed: two new lines and 'Human:'"),
        (lines(GOOD | {"rejected": GOOD["chosen"]}), "line 1: chosen and rejected are the same dialogue"),
        (b"\xff\xfe", "pairs.jsonl, line 1: byte 0xff is not UTF-8"),
        (gzip.compress(lines(GOOD), mtime=0)[:-9], "pairs.jsonl is a broken gzip file"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    (tmp_path / "pairs.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_hh_rlhf(tmp_path / "pairs.jsonl")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_hh_rlhf(tmp_path / "none.jsonl")


def test_the_real_file(real_data):
    path = real_data("preferences/harmless-base_test.jsonl.gz")
    found = read_hh_rlhf(path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        whole = [json.loads(line) for line in file]
    assert len(found) == len(whole) == 2312
    for row, record in enumerate(whole):
        assert found.prompts[row] + found.chosen[row] == record["chosen"]
        assert found.prompts[row] + found.rejected[row] == record["rejected"]
        assert found.prompts[row].endswith("\n\nAssistant:")
    several = sum("\n\nAssistant:" in one + two for one, two in zip(found.chosen, found.rejected, strict=True))
    assert several == 5  # one dialogue goes on for another turn of the assistant
    assert len(found.encode(LengthEncoder())) == 2312
