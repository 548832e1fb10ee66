"""The JSON schema of case files, by which editors complete and check them: from the models that read them.

What models take beside their own form, such as a bare name for a stakeholder, is added here, and names of strategies,
metrics, rewards, loaders and simulators are those that are registered where the schema is made. What a schema cannot
say, such as that weights sum to 1, is left to `accordant.cases.files.read_case`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from accordant.cases.loaders import simulators, tidiers
from accordant.cases.parts import case_parts, reward_sets
from accordant.cases.preference_sources import KINDS
from accordant.cases.spec import CaseSpec
from accordant.declaration import Declared
from accordant.metrics import metrics
from accordant.rewards import rewards
from accordant.strategies import strategies

Json = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SECTION = re.compile(r"Attributes\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+\n|\Z)", re.DOTALL)
ATTRIBUTE = re.compile(r"^(\S[^\n]*)\n((?:[ ]+[^\n]*\n?|\n(?=[ ]))+)", re.MULTILINE)
TEXT: Json = {"type": "string"}


def case_schema() -> Json:
    """Return the schema of a case file: of one with a decision problem, or with the part of a wing alone."""
    parts = {key: case_parts.create(key) for key in case_parts}
    models: list[type[Declared]] = [CaseSpec]
    models += [model for part in parts.values() for model in (part.declared, part.alone)]
    places, schema = models_json_schema([(model, "validation") for model in models], by_alias=True)
    defs: Json = {name: _described(definition) for name, definition in schema["$defs"].items()}
    refs = {model: place for (model, _), place in places.items()}
    _take_names(defs)
    case = defs["CaseSpec"]
    del case["properties"]["parts"]
    case["properties"] |= {key: _or_null(refs[part.declared]) for key, part in parts.items()}
    case["properties"]["rewards"] = {"$ref": "#/$defs/Rewards"}
    defs["Rewards"] = _rewards()
    for name, key, known in (
        ("StrategySpec", "name", _with_aliases(strategies)), ("MetricSpec", "metric", _with_aliases(metrics)),
        ("SimulatorSpec", "name", list(simulators)), ("DataSpec", "loader", list(tidiers)),
    ):  # fmt: skip
        defs[name]["properties"][key] |= {"enum": known}
    defs["StrategySpec"]["allOf"] = _parameters("name", strategies)
    defs["MetricSpec"]["allOf"] = _parameters("metric", metrics)
    return {
        "$schema": DIALECT, "title": "A case of accordant", "type": "object",
        "if": {"required": ["problem"]}, "then": {"$ref": "#/$defs/CaseSpec"},
        "else": {"anyOf": [refs[part.alone] for part in parts.values()]}, "$defs": defs,
    }  # fmt: skip


def _described(model: Json) -> Json:
    """Return the schema of a model with what its docstring says of every key beside the key."""
    words = inspect.cleandoc(model.get("description", ""))
    told = _attributes(words)
    properties = {
        name: ({"description": told[name]} if name in told else {})
        | {key: field[key] for key in field if key != "title"}
        for name, field in model.get("properties", {}).items()
    }
    return model | {"description": words.split("\n\n")[0]} | ({"properties": properties} if properties else {})


def _attributes(words: str) -> dict[str, str]:
    """Return name to description, from the section of attributes of a docstring."""
    section = SECTION.search(words)
    attributes: dict[str, str] = {}
    for names, text in ATTRIBUTE.findall(section[1] if section else ""):
        said = " ".join(text.split())
        attributes |= {name.strip(): said for name in names.split(",")}
    return attributes


def _take_names(defs: Json) -> None:
    """Let bare names and directions stand where models take them, and a mapping for actions with values."""
    problem = defs["DecisionProblem"]["properties"]
    for key in ("stakeholders", "sensitive_attributes"):
        problem[key]["items"] = {"anyOf": [TEXT, problem[key]["items"]]}
    problem["actions"] = {"anyOf": [problem["actions"], {"type": "object", "additionalProperties": {"type": "number"}}]}
    changeable = defs["Changeable"]["properties"]["direction"]
    case = defs["CaseSpec"]["properties"]["changeable"]
    case["additionalProperties"] = {"anyOf": [{"enum": changeable["enum"]}, case["additionalProperties"]]}
    defs["SensitiveAttribute"]["properties"]["labels"] = {"type": "object", "additionalProperties": TEXT}
    for model in defs.values():
        for key, field in model.get("properties", {}).items():
            model["properties"][key] = _or_name(field)


def _or_name(value: Any) -> Any:
    """Let a name stand for every declaration of a name with parameters."""
    if isinstance(value, list):
        return [_or_name(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("$ref") == "#/$defs/NamedSpec":
        return {"anyOf": [TEXT, dict(value)]}
    return {key: _or_name(part) for key, part in value.items()}


def _or_null(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


def _rewards() -> Json:
    """Return the schema of ``rewards``: a set with entries that replace some of it, or an entry for everybody."""
    entries: dict[str, Json] = {
        "table": {
            "properties": {"table": {"type": "object"}, "attribute": TEXT, "guessed": {"type": "boolean"}},
            "additionalProperties": False,
        },
        "column": {"properties": {"column": TEXT}, "additionalProperties": False},
        "signal": {"properties": {"signal": {"enum": list(rewards)}}},
        "set": {"properties": {"set": {"enum": list(reward_sets)}}},
    }
    assert set(entries) == set(KINDS), "every kind of entry has a schema"
    entry = {"type": "object", "anyOf": [{"required": [kind]} | schema for kind, schema in entries.items()]}
    return {
        "description": "Where each stakeholder's reward comes from: a table, a column, a registered signal, or a set.",
        "type": "object", "minProperties": 1,
        "if": {"required": ["set"]}, "then": {"properties": {"set": {"enum": list(reward_sets)}}},
        "else": {"additionalProperties": entry},
    }  # fmt: skip


def _with_aliases(registry: Any) -> list[str]:
    return [alias for name in registry for alias in (name, *registry.aliases(name))]


def _parameters(key: str, registry: Any) -> list[Json]:
    """Return a condition for each registered name: which parameters it has, and which it needs."""
    return [
        {
            "if": {"properties": {key: {"enum": [name, *registry.aliases(name)]}}, "required": [key]},
            "then": {"properties": {"parameters": _of(inspect.signature(registry.factory(name)).parameters.values())}},
        }
        for name in registry
    ]


def _of(parameters: Iterable[inspect.Parameter]) -> Json:
    listed = list(parameters)
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in listed):
        return {"type": "object"}
    needed = [parameter.name for parameter in listed if parameter.default is inspect.Parameter.empty]
    schema: Json = {
        "type": "object",
        "properties": {parameter.name: {} for parameter in listed},
        "additionalProperties": False,
    }
    return schema | ({"required": needed} if needed else {})
