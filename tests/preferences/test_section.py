"""A comparison from file to result: what is measured is what models do on records that nobody learned from."""

from __future__ import annotations

import csv
import json
import threading

import numpy as np
import pytest

from accordant.compute import compute
from accordant.errors import InputError
from accordant.preferences.comparison import SourceOptions
from accordant.preferences.comparison.methods import scale_features
from accordant.preferences.encoding import TfidfEncoder
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.records import Comparisons
from accordant.preferences.page import write_comparison
from accordant.preferences.result import PreferenceOptions
from accordant.preferences.section import compare_preferences
from accordant.preferences.terminal import print_comparison


def write_features(path, users=16, few=5, records=12, seed=0, columns=("a", "b")):
    """Write users of two groups who want opposite things, with some noise."""
    generator = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["user_id", "group_id", *(f"{side}_{name}" for side in ("chosen", "rejected") for name in columns)]
        )
        for user in range(users):
            sign = -1 if user >= users - few else 1
            for _ in range(records):
                one, other = generator.normal(size=(2, len(columns))).round(4)
                if sign * (one - other).sum() + generator.logistic(scale=0.3) < 0:
                    one, other = other, one
                writer.writerow([f"u{user}", "few" if sign < 0 else "most", *one, *other])
    return path


def options(*methods, **changes):
    return PreferenceOptions(methods, **({"resamples": 60, "seed": 3} | changes))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_features(tmp_path_factory.mktemp("features") / "records.csv")


@pytest.fixture(scope="module")
def compared(file):
    return compare_preferences(file, options("mixture", "per_group", new_users=0.25, first=6))


@pytest.fixture(scope="module")
def content(compared):
    return compared.to_json()


def test_the_json_has_every_part_and_nothing_undefined_but_null(content):
    text = json.dumps(content, allow_nan=False)
    assert json.loads(text) == json.loads(json.dumps(content))
    keys = {
        "file",
        "format",
        "seed",
        "records",
        "users",
        "groups",
        "split",
        "encoder",
        "methods",
        "skipped",
        "warnings",
    }
    assert keys <= set(content)
    assert [row["method"] for row in content["methods"]] == [
        "pooled",
        "balanced",
        "group_robust",
        "mixture",
        "per_group",
    ]
    assert [row["control"] for row in content["methods"]] == [True, True, True, False, False]
    for row in content["methods"]:
        assert {"accuracy", "accuracy[most]", "accuracy[few]", "log_loss", "worst_10", "min", "gap", "gini", "jain",
                "atkinson", "std", "corrected_std", "support_correlation", "support_slope"} <= set(row["metrics"])  # fmt: skip
        assert all(set(each) == {"value", "low", "high", "n"} for each in row["metrics"].values())
    assert content["methods"][0]["pareto"] is None
    assert content["methods"][3]["pareto"]["groups"][0]["group"] == "most"
    assert content["format"] == "features"


def test_accuracy_is_that_of_a_model_learned_from_the_training_rows(compared, file):
    """Twin: the pooled reward by hand, and its accuracy counted user by user."""
    source, split = compared.source, compared.split
    records: Comparisons = scale_features(source.comparisons, split.training, each=True)
    model = BradleyTerry(ridge=compared.ridge.ridge).fit(records.take(split.training))
    margins = model.margins(records.take(split.test))
    users = records.users[split.test]
    accuracy = [float((margins[users == user] > 0).mean()) for user in np.unique(users)]
    metrics = compared.judged.measured.metrics["pooled"]
    assert metrics["accuracy"].limits.value == pytest.approx(np.mean(accuracy))
    few = [a for user, a in zip(np.unique(users), accuracy, strict=True) if records.groups[user] == "few"]
    assert metrics["accuracy[few]"].limits.value == pytest.approx(np.mean(few))
    assert metrics["accuracy[few]"].n == len(few)
    assert not set(split.training) & set(split.test)


def test_differences_and_tests_are_against_the_pooled_reward(content):
    pooled, *others = content["methods"]
    for row in others:
        for name, metric in row["metrics"].items():
            if metric["value"] is not None:
                expected = metric["value"] - pooled["metrics"][name]["value"]
                assert row["differences"][name]["value"] == pytest.approx(expected)
        changes = {each["group"]: each["difference"] for each in row["pareto"]["groups"]}
        assert changes["few"] == pytest.approx(row["differences"]["accuracy[few]"]["value"])
    against = {each["control"]: each["differences"] for each in others[-1]["against_controls"]}
    assert set(against) == {"balanced", "group_robust"}
    assert pooled["differences"] is pooled["pareto"] is pooled["new_users"]["differences"] is None
    for row in others:
        fresh = row["new_users"]
        change = fresh["metrics"]["accuracy"]["value"] - pooled["new_users"]["metrics"]["accuracy"]["value"]
        assert fresh["differences"]["accuracy"]["value"] == pytest.approx(change)
    assert content["encoder"]["name"] == "the features of the file"


def test_knowing_the_group_serves_opposed_groups_better(content):
    pooled, _, _, _, per_group = content["methods"]
    assert per_group["metrics"]["accuracy[few]"]["value"] > pooled["metrics"]["accuracy[few]"]["value"] + 0.2


def test_new_users_are_known_by_their_first_records_alone(compared, content):
    split, users = compared.split, compared.source.users
    new = set(users[split.later])
    assert len(new) == content["split"]["new_users"] == 4
    assert not new & set(users[split.training])
    assert np.bincount(users[split.first]).max() == 6
    found = {row["method"]: row["new_users"]["metrics"] for row in content["methods"]}
    assert found["pooled"]["accuracy"]["n"] == 4
    model = next(row.model for row in compared.rows if row.label == "mixture")
    records = scale_features(compared.source.comparisons, split.training, each=True)
    margins = model.adapted(records.take(split.first)).margins(records.take(split.later))
    of_user = users[split.later]
    expected = np.mean([(margins[of_user == user] > 0).mean() for user in new])
    assert found["mixture"]["accuracy"]["value"] == pytest.approx(expected)


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_and_another_one_another_split(file):
    first, again, other = (
        json.dumps(compare_preferences(file, options("mixture", seed=seed)).to_json()) for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.long
@pytest.mark.parametrize("where", ["here", "threads:2", "processes:1", "processes:2"])
def test_the_bytes_do_not_depend_on_where_methods_learn(file, where, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # what runs the tests may wait in a thread of its own
    asked = options("pareto_distillation", "per_group", "mixture", resamples=40)
    with compute(where):
        found = compare_preferences(file, asked)
    assert json.dumps(found.to_json()) == json.dumps(compare_preferences(file, asked).to_json())
    assert "pareto_distillation" in [row.label for row in found.rows]


def test_texts_have_a_control_of_length_and_an_encoder_that_sees_training_texts_alone(tmp_path, monkeypatch):
    path = tmp_path / "texts.jsonl"
    rows = [
        {"prompt": f"q{k}", "chosen": f"short w{k}x", "rejected": f"a much longer answer w{k}y", "user_id": k % 4}
        for k in range(40)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    seen = []
    fit = TfidfEncoder.fit
    monkeypatch.setattr(TfidfEncoder, "fit", lambda self, texts: (seen.extend(texts), fit(self, texts))[1])
    found = compare_preferences(path, options("per_user", encoder="tf-idf"))
    training = found.source.texts.take(found.split.training)
    assert sorted(seen) == sorted(training.texts())
    content = found.to_json()
    length = next(row for row in content["methods"] if row["method"] == "length only")
    assert length["control"] and length["features"] == "length"
    assert length["metrics"]["accuracy"]["value"] == 1.0
    assert any("length alone foretells 100.0%" in each for each in content["warnings"])
    assert content["encoder"] == {"name": "tf-idf", "fitted_on": "texts of training records", "scale": "one for all features",
                                  "features": found.n_features}  # fmt: skip
    assert content["groups"]["sizes"] == {"everybody": 4}
    assert {each["method"] for each in content["skipped"]} == {"balanced", "group_robust"}


def test_one_user_is_measured_over_records(tmp_path):
    content = compare_preferences(write_features(tmp_path / "one.csv", users=1, few=0), options("per_user")).to_json()
    assert content["intervals"]["over"] == "records"
    metrics = content["methods"][0]["metrics"]
    assert metrics["accuracy"]["n"] == content["split"]["test_records"] == 4
    assert metrics["gini"] == {"value": None, "low": None, "high": None, "n": 0}
    assert content["per_user"] is None
    assert "nothing about users" in content["warnings"][0]


def test_users_with_one_record_are_counted_and_not_measured(tmp_path):
    path = write_features(tmp_path / "few.csv")
    with path.open("a") as file:
        file.write("alone,most,1,1,0,0\n")
    content = compare_preferences(path, options("per_user")).to_json()
    assert content["users"] == 17
    assert content["split"]["users_in_training_only"] == 1
    assert content["excluded"][0]["users"] == 1
    assert "alone" not in content["per_user"]["users"]


def test_own_controls_that_are_other_rows_again_are_left_out(file, monkeypatch):
    fit, pooled = BradleyTerry.fit, []

    def with_controls(self, comparisons, *, generator=None):
        """Return the pooled reward with two controls that are itself."""
        model = fit(self, comparisons, generator=generator)
        if type(self) is BradleyTerry:  # not the balanced one
            pooled.append(model)
        if self.ridge == 0.02:
            object.__setattr__(model, "controls", {"pooled": pooled[-2], "teacher": model})
        return model

    monkeypatch.setattr(BradleyTerry, "fit", with_controls)
    content = compare_preferences(file, options("bradley_terry[ridge=0.02]")).to_json()
    labels = [row["method"] for row in content["methods"]]
    assert labels[-2:] == ["bradley_terry[ridge=0.02]", "bradley_terry[ridge=0.02]: teacher"]
    assert content["methods"][-1]["control_of"] == "bradley_terry[ridge=0.02]"
    assert "every margin is the same" in content["skipped"][-1]["reason"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": "tfidf"}, "did you mean 'tf-idf'"),
        ({"resamples": 39}, "resamples is 39; allowed: at least 40"),
        ({"test": 1.0}, "test is 1.0"),
        ({"methods": ("mixtur",)}, "did you mean 'mixture'"),
        ({"methods": ()}, "no method is named"),
        ({"source": SourceOptions(format="trll")}, "did you mean 'trl'"),
    ],
)
def test_what_is_wrong_is_refused(file, changes, message):
    with pytest.raises(InputError) as error:
        compare_preferences(file, PreferenceOptions(**({"methods": ("mixture",)} | changes)))
    assert message in str(error.value)


def test_a_folder_holds_page_and_json_and_is_written_once(compared, tmp_path):
    page = write_comparison(compared, tmp_path / "made" / "here")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads((page.parent / "comparison.json").read_text())["file"] == compared.path
    with pytest.raises(InputError, match="exists; name another folder"):
        write_comparison(compared, tmp_path / "made" / "here")
    assert write_comparison(compared, tmp_path / "page.html").name == "page.html"
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="there is no folder"):
        write_comparison(compared, tmp_path / "file" / "page.html")


def write_noise(folder, texts, seed, users=40):
    """Write all pairs of items that each user ranks at random: of own features, or of answers that all users rank."""
    generator, per = np.random.default_rng(seed), 5 if texts else 10
    rows, columns = [], [f"{side}_{k}" for side in ("chosen", "rejected") for k in range(12)]
    words = [f"w{k}" for k in range(60)]
    answers = [" ".join(generator.choice(words, 12)) for _ in range(8 * per)]
    for user in range(users):
        items = generator.normal(size=(per, 12)).round(4)
        for prompt in range(8 if texts else 1):
            ranked = generator.permutation(per)
            for one, other in zip(*np.triu_indices(per, 1), strict=True):
                chosen, rejected = ranked[one], ranked[other]
                who = {"user_id": f"u{user}", "group_id": "ab"[user % 2]}
                if texts:
                    pair = {"chosen": answers[prompt * per + chosen], "rejected": answers[prompt * per + rejected]}
                    rows.append(who | {"prompt": f"question {prompt}"} | pair)
                else:
                    values = np.concatenate([items[chosen], items[rejected]]).tolist()
                    rows.append(who | dict(zip(columns, values, strict=True)))
    path = folder / "noise.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.long
@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("new_users", [0.0, 0.5])
def test_nothing_is_shown_on_rankings_at_random(tmp_path, texts, new_users):
    accuracy: dict[tuple[bool, str], list[float]] = {}
    for seed in range(5):
        path = write_noise(tmp_path, texts, seed)
        found = compare_preferences(path, options("per_user", "low_rank", new_users=new_users, first=15, seed=seed))
        between = 0 if texts else 40 * 24  # prompts stay whole; ten items are parted into 6 and 4
        assert found.split.between == between
        assert sum(each.startswith(f"{between} records are used for nothing") for each in found.warnings) == (not texts)
        for judged in (found.judged, found.fresh):
            if judged is not None:
                for name, each in judged.users.items():
                    accuracy.setdefault((judged is found.fresh, name), []).append(each.accuracy.mean())
                assert "shown" not in {test.verdict for test in judged.measured.pareto.values()}
    assert max(abs(np.mean(each) - 0.5) for each in accuracy.values()) < 0.1


def test_a_group_of_which_nobody_is_measured_is_said_to_be_so(tmp_path, capsys):
    path = write_features(tmp_path / "few.csv")
    with path.open("a") as file:
        file.write("alone,rare,1,1,0,0\n")
    found = compare_preferences(path, options("per_user"))
    assert "group rare has no measured user: it cannot be measured" in found.warnings
    assert found.judged.measured.pareto["per_user"].reason.endswith("nobody of them is measured: rare")
    assert any(each.startswith("1 user stays in training: ") for each in found.warnings)
    print_comparison(found.section, None)
    printed = capsys.readouterr().out
    assert "- 1 user: no record to judge by" in printed and "rare 1" in printed and "page:" not in printed


def test_a_method_that_cannot_learn_is_an_error_if_nothing_else_was_asked(tmp_path):
    alike = write_features(tmp_path / "alike.csv", few=0)
    with pytest.raises(InputError, match="per_group cannot learn from this file: it learns from groups"):
        compare_preferences(alike, options("per_group"))
    found = compare_preferences(alike, options("per_group", "per_user")).to_json()
    assert "per_group" in {each["method"] for each in found["skipped"]}
