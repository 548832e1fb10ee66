"""The schema of case files takes what is a case, and says where typical mistakes are."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from jsonschema.exceptions import best_match

import accordant.deliberation
import accordant.slates
from accordant import cases
from accordant.cases.parts import case_parts
from accordant.cases.schema import case_schema
from accordant.cases.spec import CaseSpec
from accordant.tables.yaml import read_yaml

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(
    file
    for package in (cases, accordant.slates, accordant.deliberation)
    for file in Path(package.__file__).parent.rglob("*.yaml")
) + sorted((ROOT / "examples").rglob("*.yaml"))


@pytest.fixture(scope="module")
def validator():
    schema = case_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def content(file):
    return read_yaml(Path(file).read_text(encoding="utf-8"), str(file))


@pytest.mark.few(2)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_built_in_cases_and_examples_are_valid(validator, file):
    assert len(FILES) > 15
    error = best_match(validator.iter_errors(content(file)))
    assert error is None, f"{list(error.absolute_path)}: {error.message}"


STORY = content(Path(cases.__file__).parent / "story" / "story.yaml")


def with_change(*path, value=None, new=None):
    """Return the story with a key changed, taken away (no value) or called otherwise."""
    changed = copy.deepcopy(STORY)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if new is not None:
        place[new] = place.pop(path[-1])
    elif value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


@pytest.mark.parametrize(("case", "words"), [
    (with_change("problem", "stakeholders", new="stakeholder"), "'stakeholder' was unexpected"),
    (with_change("problem", "actions"), "'actions' is a required property"),
    (with_change("metrics"), "'metrics' is a required property"),
    (with_change("data", "features", value="age"), "'age' is not valid"),
    (with_change("data", "features", value={"age": "numbr"}), "not valid"),
    (with_change("strategies", 0, value={"name": "maximum"}), "'maximum' is not one of"),
    (with_change("strategies", 0, value={"name": "atkinson", "parameters": {"epsilonn": 1}}), "'epsilonn' was unexpected"),
    (with_change("metrics", value={"A": {"metric": "acuracy", "weight": 1}}), "'acuracy' is not one of"),
    (with_change("metrics", value={"A": {"metric": "accuracy", "weight": "much"}}), "'much' is not of type 'number'"),
    (with_change("rewards", value={"Town": {"tabel": {}}}), "is not valid under any"),
    (with_change("evaluation", value={"test_size": 2}), "2 is greater than or equal to the maximum of 1"),
    (with_change("learning", value={"folds": 2.5}), "2.5 is not of type 'integer'"),
    ({}, "not valid"),
])  # fmt: skip
def test_typical_mistakes_fail_where_they_are(validator, case, words):
    errors = list(validator.iter_errors(case))
    told = [error.message for each in errors for error in (each, *(each.context or ()), best_match([each]))]
    assert errors and any(words in message for message in told), told


def test_what_the_schema_knows_of_a_key_is_what_the_models_say():
    schema = case_schema()
    assert set(schema["$defs"]["CaseSpec"]["properties"]) == set(CaseSpec.valid_keys())
    assert set(case_parts) <= set(schema["$defs"]["CaseSpec"]["properties"])
    data = schema["$defs"]["DataSpec"]
    assert data["description"] == "Where the logged data are and what their columns mean."
    assert data["properties"]["query"]["description"].startswith("One ``SELECT`` instead of a file.")
    undescribed = [key for key in data["properties"] if "description" not in data["properties"][key]]
    assert undescribed == [] and json.loads(json.dumps(schema)) == schema
