"""A case with persons and times: parts, record, saved run and slates keep persons together and follow time."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant import ParticipatoryPolicy
from accordant.cases.files import read_case
from accordant.slates.case import read_slates
from accordant.errors import DataError, InputError
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.execution import case_data, located_signals, split, subset
from accordant.runs.row_split import Dealing
from accordant.slates.offers import market_of_offers
from accordant.runs.untouched_rows import untouched_rows

DAYS = [f"2024-{month:02}-01" for month in range(1, 11)]


@pytest.mark.parametrize(("train", "test", "few"), [(30, 30, False), (29, 30, True), (30, 29, True)])
def test_few_groups_in_one_part_are_told(train, test, few):
    sentences = Dealing("who", None, 1_200, 300, train, test, None, None, 0).sentences()
    assert sentences[0] == (
        f"Rows of one who stay together in split, folds and bootstrap: {train} groups in training, {test} in the test "
        "part, none in both."
    )
    warning = "Fewer than 30 groups are in one of the parts: intervals from so few are too narrow."
    assert sentences[1:] == ((warning,) if few else ())


def test_times_and_rows_that_are_left_out_are_told():
    dealt = Dealing("who", "day", 1_200, 300, 400, 40, "2024-05", "2024-06", 1_001)
    assert dealt.sentences()[::2] == (
        "Trained on rows with day up to 2024-05 (1,200 rows), tested on rows after that, from 2024-06 on (300 rows). "
        "Folds within training are random.",
        "1,001 earlier rows were left out, because their who has rows in the test part.",
    )
    assert dealt.to_json() == {
        "group": {"column": "who", "train": 400, "test": 40},
        "time": {"column": "day", "train_until": "2024-05", "test_from": "2024-06"}, "left_out": 1_001,
    }  # fmt: skip
    assert Dealing(None, None, 10, 5, None, None, None, None, 0).sentences() == ()


@pytest.fixture(scope="module")
def declared(cases, tmp_path_factory):
    """Return a function that writes a case of 45 persons with two rows each."""
    keys = yaml.safe_load(cases["own"].read_text())
    frame = pd.read_csv(cases["own"].parent / "own.csv")
    generator = np.random.default_rng(0)
    frame["who"] = [f"p{each}" for each in generator.permutation(np.arange(len(frame)) // 2)]
    frame["day"] = generator.choice(DAYS, len(frame))

    def write(change=None, **data):
        """Write table and case."""
        folder = tmp_path_factory.mktemp("dealt")
        own = copy.deepcopy(keys)
        own["data"] |= data
        own["evaluation"] = own.get("evaluation", {}) | {"resamples": 100}
        (folder / "own.yaml").write_text(yaml.safe_dump(own))
        (frame if change is None else change(frame)).to_csv(folder / "own.csv", index=False)
        return folder / "own.yaml"

    return write


def rows_of(path, seed=7):
    """Return all rows of a case and its two parts."""
    case, beside = read_case(path)
    options = RunOptions(seed=seed)
    data = case_data(case, beside, options, located_signals(case, beside, options))
    return data, *split(data, case.evaluation.test_size, seed)


def test_persons_and_times_are_divided_and_no_column_of_contexts(declared):
    data, train, test = rows_of(declared(group="who", time="day"))
    assert not {"who", "day"} & set(data.log.contexts)
    assert not set(train.log.groups) & set(test.log.groups)
    assert max(train.times) < min(test.times) and len(train.log) + len(test.log) < len(data.log)
    few = subset(train, RunOptions(seed=7, rows=21))
    cut = [who for who in set(few.log.groups) if (few.log.groups == who).sum() < (train.log.groups == who).sum()]
    assert len(few.log) == 21 and len(cut) <= 1


@pytest.mark.long
def test_a_saved_run_names_what_was_kept_together_and_finds_its_rows_again(declared, tmp_path):
    path = declared(group="who", time="day")
    outcome = carry_out(path, RunOptions(seed=7))
    content = outcome.record.content
    data, train, test = rows_of(path)
    assert content["data"]["group"] == {
        "column": "who", "train": len(set(train.log.groups)), "test": len(set(test.log.groups)),
    }  # fmt: skip
    assert content["data"]["time"] == {"column": "day", "train_until": max(train.times), "test_from": min(test.times)}
    left_out = len(data.log) - len(train.log) - len(test.log)
    assert content["data"]["left_out"] == left_out > 0
    assert f"up to {max(train.times)}" in content["notes"][0] and "Rows of one who stay together" in content["notes"][1]
    assert any(note.startswith(f"{left_out} earlier rows were left out") for note in content["notes"])
    assert outcome.policy.evidence_.n_independent == len(set(train.log.groups)) < len(train.log)
    run = read_run(write_run(outcome, tmp_path / "run"))
    found = untouched_rows(run, str(path.parent))
    assert np.array_equal(found.data.log.groups, test.log.groups) and found.evidence().n_independent == len(
        set(test.log.groups)
    )
    assert {"who", "day"}.isdisjoint(outcome.policy.features_)


def test_rows_without_columns_of_persons_or_times_say_nothing(outcomes):
    data = outcomes["own"].record.content["data"]
    assert data["group"] is None and data["time"] is None and data["left_out"] == 0


@pytest.mark.long
def test_requests_of_a_person_have_one_user(declared):
    path = declared(group="who")
    keys = yaml.safe_load(path.read_text()) | {"slates": {"parameters": {"per_day": 5}}}
    path.write_text(yaml.safe_dump(keys))
    case, problem, beside = read_slates(path)
    market = market_of_offers(problem, case.slates, 7, None, beside).market
    users = [user for batch in market.batches for user in batch.users]
    assert len(users) == len({each for batch in market.batches for each in batch.ids}) > len(set(users))


@pytest.mark.parametrize(
    ("data", "column", "value", "said"),
    [
        ({"group": "who"}, "who", None, "own.csv, line 5: column 'who': found nothing"),
        ({"time": "day"}, "day", None, "own.csv, line 5: column 'day': found nothing"),
        ({"time": "day"}, "day", "May", "own.csv, line 5: column 'day': found 'May'"),
    ],
)
def test_missing_persons_and_times_are_refused(declared, data, column, value, said):
    def spoil(frame):
        """Take one cell away."""
        changed = frame.copy()
        changed.loc[3, column] = value
        return changed

    with pytest.raises(DataError, match=said):
        rows_of(declared(spoil, **data))


def test_a_group_is_never_a_feature(declared):
    with pytest.raises(InputError, match="'x' cannot be a feature"):
        read_case(declared(group="x"))


def test_the_policy_takes_the_name_of_a_column(outcomes):
    policy, log = outcomes["own"].policy, outcomes["own"].policy.evidence_.log
    who = np.arange(len(log)) // 2
    own = ParticipatoryPolicy(
        policy.problem, types={"kind": "category"}, group="who", reward_model=policy.reward_model, outcome_model=policy.outcome_model,
        folds=3, resamples=50,
    )  # fmt: skip
    given = {"actions": [policy.problem.actions[code] for code in log.actions],
             "outcomes": [policy.problem.outcome_names[int(code)] for code in log.outcomes]}  # fmt: skip
    rewards = {"Bank": policy.signals_["Bank"], "Applicant": log.rewards["Applicant"]}
    X = {name: log.contexts[name] for name in log.contexts}
    own.fit({**X, "who": who}, **given, rewards=rewards)
    assert "who" not in own.features_ and own.evidence_.n_independent == len(set(who))
    assert len(own.recommend(X).decisions.codes) == len(log)
    with pytest.raises(InputError, match="'who' cannot be a feature"):
        own.set_params(features=["who"]).fit({**X, "who": who}, **given, rewards=rewards)
