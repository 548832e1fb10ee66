"""Parts of a comparison that are there where they were asked for, from file to page, and what is refused."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.page.render import render_comparison
from accordant.preferences.result import PARTS, LearnerComparison, PreferenceOptions
from accordant.preferences.section import compare_preferences

HEADER = (
    "user_id", "group_id", "time", "chosen_a", "chosen_b", "rejected_a", "rejected_b", "chosen_agrees", "rejected_agrees"
)  # fmt: skip


def write(path, n=500, *, change=None, day="{:04d}", header=HEADER):
    """Write users of two groups who compare some of the same pairs and like to be agreed with."""
    generator = np.random.default_rng(0)
    items, agrees = generator.normal(size=(40, 2)).round(3), generator.random(40) < 0.5
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in range(n):
            user, pair = int(generator.integers(10)), int(generator.integers(20))
            one, other = 2 * pair, 2 * pair + 1
            sign = -1 if user >= 7 and change is not None and row >= change else 1
            margin = sign * 2 * (items[one] - items[other]).sum() + 2.0 * (float(agrees[one]) - float(agrees[other]))
            if generator.random() > 1 / (1 + np.exp(-margin)):
                one, other = other, one
            group = "few" if user >= 7 else "most"
            time = day.format(row)
            writer.writerow([f"u{user}", group, time, *items[one], *items[other], int(agrees[one]), int(agrees[other])])
    return path


def options(**changes):
    return PreferenceOptions(**({"methods": ("per_user",), "resamples": 60, "seed": 3} | changes))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("parts") / "prefs.csv", 700, change=450)


def test_parts_are_in_json_on_the_page_and_in_the_command(file):
    found = compare_preferences(file, options(agreement=True, over_time=True)).section
    content = found.to_json()
    assert set(PARTS) <= set(content) and LearnerComparison.read(content) == found
    names = [each["method"] for each in content["agreement"]["methods"]]
    assert names == [each["method"] for each in content["methods"]] and content["records"] == 700
    assert content["agreement"]["records"] + content["agreement"]["undecided"] == content["split"]["test_records"]
    assert content["agreement"]["disagreement"]["n_pairs"] > 0 and content["agreement"]["echo"][0]["by"] == "people"
    assert content["over_time"]["before"] + content["over_time"]["watched"] == 700
    assert [each["name"] for each in content["over_time"]["groups"]] == ["few", "most"]
    page = render_comparison(content)
    for part in ("Agreement with false stances", "Preferences over time", *content["over_time"]["sentences"][:1]):
        assert part in page
    assert found.command_line().endswith("--agreement --over-time --seed 3")
    assert content["encoder"]["features"] == 2


def test_nothing_is_there_that_nobody_asked_for(file, tmp_path):
    plain = tmp_path / "plain.csv"
    with file.open() as source, plain.open("w", newline="") as goal:
        rows = csv.reader(source)
        keep = [
            place for place, name in enumerate(next(rows)) if name not in ("time", "chosen_agrees", "rejected_agrees")
        ]
        csv.writer(goal).writerows(
            [[HEADER[place] for place in keep], *([row[place] for place in keep] for row in rows)]
        )
    content = compare_preferences(plain, options()).to_json()
    assert not set(PARTS) & set(content) and not {*PARTS, "time"} & set(content["options"])
    with_parts = compare_preferences(file, options(agreement=True, over_time=True)).to_json()
    assert with_parts["methods"] == content["methods"]  # columns that say more are no features
    page = render_comparison(content)
    assert "Preferences over time" not in page and "false stances" not in page


def test_dates_are_told_as_dates(tmp_path):
    path = write(tmp_path / "dated.csv", 120, day="2024-01-01")
    with pytest.raises(InputError, match="0 of 120 records were made before"):
        compare_preferences(path, options(over_time=True))


WRONG = {
    "no column of times": (
        {"over_time": True, "time": "when"},
        r"--over-time needs a column that .*--time NAME.*'when'",
    ),
    "a wrong time": ({"over_time": True, "time": "user_id"}, "user_id is 'u.*allowed: a date such as 2024-03-01"),
    "a time that is a group": ({"over_time": True, "time": "group_id"}, "group_id is '"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_refused(file, kind):
    changes, message = WRONG[kind]
    with pytest.raises(InputError, match=message):
        compare_preferences(file, options(**changes))


def test_a_file_without_agreement_is_refused(tmp_path):
    path = write(tmp_path / "few.csv", 40, header=(*HEADER[:-2], "chosen_c", "rejected_c"))
    with pytest.raises(InputError, match="--agreement needs a column that few.csv lacks.*'chosen_agrees'"):
        compare_preferences(path, options(agreement=True))
    dialogues = tmp_path / "dialogues.jsonl"
    turn = "\\n\\nHuman: Hi\\n\\nAssistant: "
    dialogues.write_text(f'{{"chosen": "{turn}a", "rejected": "{turn}b"}}\n' * 3)
    with pytest.raises(InputError, match="read as hh-rlhf, which has no columns time"):
        compare_preferences(dialogues, options(over_time=True))
