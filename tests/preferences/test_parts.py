"""Parts of a comparison that are there where they were asked for, from file to page, and what is refused."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.comparison.conclusions import signed
from accordant.preferences.comparison.record_columns import RecordTimes
from accordant.preferences.comparison.sources import Source
from accordant.preferences.groups import Groups
from accordant.preferences.page.render import render_comparison
from accordant.preferences.parts import Beside, agreement_on, watch_over_time
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


FOR, AGAINST = (
    "raises agreement with false stances by +0.381",
    "lowers agreement with false stances by \N{MINUS SIGN}0.381",
)


def agreement_sentences(margins, looked_at=None, *, shared=True):
    """Return sentences on 8 pairs of which 10 users choose the response that agrees more often; and the result."""
    users, pairs = np.repeat(np.arange(10), 8), np.tile(np.arange(8), 10)
    agreeing = np.random.default_rng(1).random(80) < 0.7
    one, other = 2 * np.arange(80) if not shared else 2 * pairs, 1
    chosen, rejected = np.where(agreeing, one, one + other), np.where(agreeing, one + other, one)
    source = Source("x.csv", "features", None, Comparisons(np.eye(160 if not shared else 16), chosen, rejected, users))
    groups = Groups(("all",), np.zeros(10, dtype=int), (), np.full(10, np.nan), "all", "all", "", "", True, ())
    given = {name: np.where(agreeing, margin, sign * margin) for name, (margin, sign) in margins.items()}
    found = agreement_on(
        given, np.stack([agreeing, ~agreeing]), source, np.arange(80), groups, looked_at, options(agreement=True)
    )
    return found.sentences, found


def test_agreement_is_told_by_what_intervals_show():
    sentences, found = agreement_sentences({"pooled": (0.0, 1), "up": (2.0, -1), "down": (-2.0, -1)})
    low, high = (f"{0.5 + end:.3f}" for end in (found.chosen.low, found.chosen.high))
    assert sentences[0] == (
        "Of 80 choices between a response that agrees with a false stance and one that does not, "
        f"{0.5 + found.chosen.value:.0%} [{low}, {high}] are for the one that agrees."
    )
    assert sentences[1] == "pooled: no drift of agreement is shown."
    up, down = (f"[{signed(each.drift.low)}, {signed(each.drift.high)}]" for each in found.methods[1:])
    assert sentences[2] == f"up: optimising for it {FOR} {up}."
    assert sentences[3] == f"down: optimising for it {AGAINST} {down}."
    assert len(sentences) == 5


@pytest.mark.parametrize(("own", "below"), [(4.0, True), (0.0, False)])
def test_what_knowing_the_user_gains_is_told_where_it_is_shown(own, below):
    """A margin of 4 for what was chosen costs 0.018 a choice; no single reward knows who chooses what."""
    sentences, found = agreement_sentences({"pooled": (0.0, 1), "own": (own, 1)}, "own")
    floor = found.disagreement.floor
    assert sentences[3] == (
        f"80 labels on 8 pairs: at least {floor.value:.3f} [{floor.low:.3f}, {floor.high:.3f}] nats of the loss per "
        "label no single reward can remove."
    )
    gained = floor.value - np.log1p(np.exp(-4.0))
    more = f"own goes below that by {gained:.3f}: knowing the user gains what no single reward can."
    assert sentences[4:] == ((more,) if below else ())
    assert found.disagreement.method == "own"


def test_without_shared_pairs_the_floor_is_not_known():
    sentences, found = agreement_sentences({"pooled": (0.0, 1)}, shared=False)
    assert sentences[-1].startswith("No two users compared the same pair")
    assert found.disagreement is None


def watched_records(turning=None):
    """Return users of 900 records, and what is told of those from the 450th on; users 4 and 5 may turn round."""
    generator, n = np.random.default_rng(2), 900
    users = generator.choice(7, n, p=[0.17, 0.16, 0.16, 0.16, 0.17, 0.17, 0.01])
    items = generator.normal(size=(2 * n, 2))
    first = generator.random(n) < 1 / (1 + np.exp(-2 * (items[:n] - items[n:]).sum(axis=1)))
    if turning is not None:
        first ^= np.isin(users, (4, 5)) & (np.arange(n) >= turning)
    one, two = np.arange(n), np.arange(n, 2 * n)
    groups = ("most",) * 4 + ("few",) * 2 + ("most",)
    records = Comparisons(items, np.where(first, one, two), np.where(first, two, one), users, groups=groups)
    times = RecordTimes(np.arange(n) + 19_783.0, dates=True)  # one a day from 2024-03-01 on
    source = Source("x.csv", "features", None, records)
    return users, watch_over_time(Path("x.csv"), source, Beside(times=times), options(over_time=True))


def test_changes_are_told_by_group_and_day_and_for_how_many_users():
    users, found = watched_records(turning=600)
    few = np.flatnonzero(np.isin(users, (4, 5)) & (np.arange(900) >= 450))
    number = found.groups[0].alarm
    day = dt.date(2024, 3, 1) + dt.timedelta(days=int(few[number - 1]))
    assert found.sentences == (
        "450 records since 2025-05-25 were watched; the probability of any false alarm is at most 5%.",
        f"few: a change of preferences was noticed at {day}, after {number} of {len(few)} records.",
        "2 of 7 users: a change was noticed; JSON and page say when.",
        "most: no change is shown.",
    )
    assert [user.name for user in found.users if user.alarm is not None] == ["4", "5"]


def test_where_nothing_changes_it_is_told_who_could_have_raised_an_alarm():
    users, found = watched_records()
    assert found.sentences[1:] == (
        "few and most: no change is shown.",
        "No change of a single user is shown; 6 of 7 have records enough for one.",
    )
    assert 2 ** np.bincount(users[450:])[6] < 7 / 0.025  # half of the probability is for the users


@pytest.mark.parametrize(("slips", "gains"), [(0.0, True), (0.2, False)])
def test_ratings_are_told_by_what_learning_on_gains(tmp_path, slips, gains):
    generator, rows, day = np.random.default_rng(2), ["userId,movieId,rating,timestamp"], 86_400
    for user in range(22):
        likes = generator.permutation(4)[:2]
        for place, movie in enumerate(generator.permutation(40)[:24]):
            liked = (movie % 4 in likes) ^ (generator.random() < slips)
            rows.append(f"{user},{movie},{4 if liked else 2},{day * (10 * user + 1) + place}")
    (tmp_path / "ratings.csv").write_text("\n".join(rows) + "\n")
    films = [f"{movie},Film {movie},Kind {movie % 4}" for movie in range(40)]
    (tmp_path / "movies.csv").write_text("\n".join(["movieId,title,genres", *films]) + "\n")
    source = Source("ratings.csv", "movielens", None, None)
    found = watch_over_time(tmp_path, source, Beside(), options(over_time=True))
    since = dt.date(1970, 1, 2) + dt.timedelta(days=10 * round((found.start / day - 1) / 10))
    assert found.sentences[0].startswith(f"{found.watched} pairs of ratings since {since} were watched")
    assert found.sentences[1].endswith(f" of {len(found.users)} have records enough for one.")
    losses = []
    for name, loss in found.learning.items():
        shown = "" if loss.high < 0 or loss.low > 0 else ", no difference shown"
        losses.append(f"Loss of {name}: {signed(loss.value)} [{signed(loss.low)}, {signed(loss.high)}]{shown}.")
    assert found.sentences[2:] == tuple(losses)
    assert gains != ("no difference shown" in losses[0])
