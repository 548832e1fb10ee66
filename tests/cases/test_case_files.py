"""Case files: the built-in ones parse, and a misspelt key is named with the nearest valid one."""

from __future__ import annotations

import copy

import pytest
import yaml

from accordant.cases.spec import CaseSpec
from accordant.cases.files import built_in_cases, read_case
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.rewards import ObservedReward, TableReward
from accordant.runs.execution import RunOptions, build_policy

OWN = {
    "name": "own",
    "title": "An own case",
    "problem": {
        "stakeholders": ["Bank", "Applicant"],
        "actions": ["yes", "no"],
        "outcomes": ["good", "bad"],
        "outcome_to_action": {"good": "yes", "bad": "no"},
        "sensitive_attributes": [{"name": "group"}],
    },
    "data": {"file": "own.csv", "action": "did", "outcome": "followed", "features": ["x"]},
    "rewards": {
        "Bank": {"table": {"yes": {"good": 1.0, "bad": 0.0}, "no": {"good": 0.3, "bad": 0.9}}},
        "Applicant": {"column": "said"},
    },
    "learning": {"outcome_model": {"name": "LogisticRegression"}, "folds": 3},
    "strategies": [{"name": "maximin"}],
    "metrics": {"Accuracy": {"metric": "accuracy", "weight": 1.0}},
    "evaluation": {"resamples": 100},
}


def changed(path, value, *, remove=None):
    """The own case with one entry set."""
    case = copy.deepcopy(OWN)
    place = case
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if remove is not None:
        del place[remove]
    return case


def written(folder, case, name="own.yaml"):
    path = folder / name
    path.write_text(yaml.safe_dump(case, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", built_in_cases())
def test_built_in_cases_parse_and_build(name):
    case, beside = read_case(name)
    assert case.name == name and beside is None
    assert set(case.signals()) == set(case.problem.stakeholder_names)
    policy = build_policy(case, RunOptions())
    assert sum(weight for _, weight in policy.metrics.values()) == pytest.approx(1)
    assert CaseSpec(**case.model_dump(mode="json")) == case  # as run.json keeps it


def test_there_are_nine_built_in_cases():
    learning, made_up = ("education", "education-tutoring"), ("story", "story-null")
    others = ("health", "health-published", "lending", "lending-published")
    assert built_in_cases() == (*learning, *others, *made_up, "triage")


def test_own_case(tmp_path):
    case, beside = read_case(written(tmp_path, OWN))
    assert beside == tmp_path
    signals = case.signals()
    assert isinstance(signals["Bank"], TableReward) and isinstance(signals["Applicant"], ObservedReward)


@pytest.mark.parametrize(
    ("path", "value", "key", "nearest"),
    [
        (("titel",), "x", "titel", "title"),
        (("problem", "stakeholder"), ["a"], "stakeholder", "stakeholders"),
        (("problem", "sensitive_attributes", 0, "label"), {}, "label", "labels"),
        (("data", "feature"), ["x"], "feature", "features"),
        (("learning", "fold"), 3, "fold", "folds"),
        (("learning", "outcome_model", "nam"), "x", "nam", "name"),
        (("strategies", 0, "parameter"), {}, "parameter", "parameters"),
        (("metrics", "Accuracy", "wieght"), 1.0, "wieght", "weight"),
        (("evaluation", "resample"), 100, "resample", "resamples"),
        (("rewards", "Bank", "atribute"), "group", "atribute", "attribute"),
    ],
)
def test_misspelt_keys_name_the_nearest_and_the_file(tmp_path, path, value, key, nearest):
    with pytest.raises(SpecError) as caught:
        read_case(written(tmp_path, changed(path, value)))
    message = str(caught.value)
    assert "own.yaml" in message
    assert key in message and f"did you mean '{nearest}'" in message


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("metrics", "Accuracy", "weight"), 0.5, "weights sum to 0.5"),
        (("metrics", "Accuracy", "weight"), -1, "metrics.Accuracy"),
        (("rewards", "Bank"), {"table": {"yes": {"good": 1.0}}}, "no entry for"),
        (("rewards", "Bank", "table", "yes", "godo"), 1.0, "did you mean 'good'"),
        (("rewards", "Bank", "table", "yes", "good"), 1.5, r"allowed: \[0, 1\]"),
        (("rewards", "Bank"), {}, "kind of reward for 'Bank'"),
        (("rewards", "Bank"), 0.5, "must be a table, a column, a registered signal or set"),
        (("rewards", "Bank"), {"signal": "nothing"}, "unknown reward signal 'nothing'"),
        (("rewards", "Benk"), {"column": "c"}, "did you mean 'Bank'"),
        (("rewards",), {"set": "lendin"}, "did you mean 'lending'"),
        (("rewards",), {"Bank": {"column": "said"}}, "'Applicant' are missing"),
        (("data", "features"), ["x", "followed"], "cannot be a feature"),
        (("data", "confounders"), ["followed"], "cannot be a confounder"),
        (("data", "confounders"), ["x"], "it is a feature"),
        (("data", "features"), [], "features"),
        (("data", "true_levels"), {"yes": "mu1"}, "true_levels"),
        (("learning", "folds"), 2, "folds"),
        (("learning", "integration"), "exact", "integration"),
        (("problem", "outcome_to_action"), {"good": "yse", "bad": "no"}, "did you mean 'yes'"),
        (("problem", "outcomes"), [True, False], "outcomes"),
        (("evaluation", "test_size"), 1.5, "test_size"),
    ],
)
def test_values_that_cannot_be(tmp_path, path, value, message):
    with pytest.raises(SpecError, match=message) as caught:
        read_case(written(tmp_path, changed(path, value)))
    assert "own.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("strategies",), [{"name": "maxmin"}], "did you mean 'maximin'"),
        (("strategies",), [{"name": "maximin", "parameters": {"temprature": 1}}], "did you mean 'temperature'"),
        (("metrics",), {"A": {"metric": "acuracy", "weight": 1}}, "did you mean 'accuracy'"),
        (("learning", "outcome_model", "name"), "LogisticRegresion", "did you mean 'LogisticRegression'"),
        (("learning", "outcome_model", "parameters"), {"c": 1}, "did you mean 'C'"),
        (("learning", "reward_model"), {"name": "RandomForest"}, "did you mean 'RandomForestRegressor'"),
    ],
)
def test_names_that_are_not_registered(tmp_path, path, value, message):
    case, _ = read_case(written(tmp_path, changed(path, value)))
    with pytest.raises(InputError, match=message):
        build_policy(case, RunOptions())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "own.yaml is empty"),
        (b"# nothing", "must hold keys and values"),
        (b"- a\n- b\n", "found list"),
        (b"a: [1, 2\n", "not valid YAML"),
        (b"name: \xff\xfe", "own.yaml"),
        (b"\x00\x01", "own.yaml"),
        (b"name: a\nname: b\n", "'name'.*twice"),
    ],
)
def test_files_that_are_no_case(tmp_path, content, message):
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=message):
        read_case(path)


def test_a_repeated_key_deep_inside_is_an_error(tmp_path):
    """YAML would keep the last one in silence, and a metric with its weight would be lost."""
    path = written(tmp_path, OWN)
    path.write_text(path.read_text() + "notes: []\n")
    assert read_case(path)[0].notes == ()
    text = path.read_text().replace("  Accuracy:\n", "  Accuracy: {metric: accuracy, weight: 0.5}\n  Accuracy:\n")
    path.write_text(text)
    with pytest.raises(SpecError, match="'Accuracy'.*twice"):
        read_case(path)


def test_cases_that_do_not_exist(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'lending'"):
        read_case("lendng")
    with pytest.raises(SpecError, match="does not exist"):
        read_case(tmp_path / "none.yaml")


def test_a_data_folder_called_like_a_case_does_not_hide_it(tmp_path, monkeypatch):
    (tmp_path / "lending").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_case("lending")[0].name == "lending"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"person_concerned": "Applicants"}, "did you mean 'Applicant'"),
        ({"changeable": {"Incomes": "up"}}, "did you mean 'Income'"),
        ({"changeable": {"Income": "upward"}}, "up"),
        ({"labels": {"fr": {}}}, "language"),
        ({"labels": {"de": {"actions": {"Grants": "Kredit"}}}}, "did you mean 'Grant'"),
        ({"labels": {"de": {"outcomes": {"Fully": "ganz"}}}}, "outcome in labels"),
        ({"labels": {"de": {"stakeholders": {"Banks": "die Bank"}}}}, "did you mean 'Bank'"),
        ({"labels": {"de": {"values": {"Incom": {}}}}}, "did you mean 'Income'"),
        ({"labels": {"de": {"action": {}}}}, "did you mean it by 'actions'|'actions'"),
    ],
)
def test_what_letters_read_must_be_declared(keys, message):
    case, _ = read_case("lending")
    with pytest.raises(InputError, match=message):
        case.replace(**keys)


def test_a_case_without_letters_is_written_as_before():
    case, _ = read_case("health")
    assert not {"person_concerned", "changeable", "labels"} & set(case.model_dump(mode="json"))
    lending, _ = read_case("lending")
    assert type(lending)(**lending.model_dump(mode="json")) == lending
