"""A ``policy.json`` that somebody changed, hash and all: refused, or a policy that decides; never a fault of ours."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from accordant.errors import InputError, RunFolderError
from accordant.runs import read_run, write_run
from accordant.runs.models.policy_state import load_policy

VALUES = (None, True, "x", "", -1, 0, 3, 10**30, 0.5, 1e308, [], {}, [[]], ["x"], {"x": 1}, [1.0, None])


@pytest.fixture(scope="module")
def finished(outcomes, tmp_path_factory):
    """Name to a finished run and contexts to decide about."""
    folder = tmp_path_factory.mktemp("forged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda content: "<html></html>")
        return {
            name: (read_run(write_run(outcomes[name], folder / name)), outcome.policy.evidence_.log.contexts)
            for name, outcome in outcomes.items()
        }


def places(value, path=()):
    """Yield the path to everything in a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from places(each, (*path, key))


def forged(state, path, value):
    """Return a copy with another value at a path; `KeyError` as the value takes the place away."""
    changed = copy.deepcopy(state)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is KeyError:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@pytest.mark.long
@pytest.mark.parametrize("name", ["own", "care"])
def test_whatever_is_changed_is_refused_or_decides(finished, name):
    run, contexts = finished[name]
    state = json.loads(run.manifest.read("models/policy.json"))
    drawn = np.random.default_rng(0)
    cases = [(path, value) for path in places(state) for value in (*VALUES, KeyError)]
    refused, faults = 0, []
    for index in drawn.permutation(len(cases))[:250]:
        path, value = cases[index]
        content = json.dumps(forged(state, path, value)).encode()

        def read(file, content=content):
            return content if file == "policy.json" else run.manifest.read(f"models/{file}")

        try:
            load_policy(run.case, read).recommend(contexts)
        except InputError:
            refused += 1
        except Exception as error:
            faults.append(f"{path} = {value!r}: {error!r:.300}")
    assert refused > 60
    assert faults == []


@pytest.mark.parametrize(
    "file", ["../manifest.json", "/etc/passwd", "outcome-model.skops/../policy.json", "other.skops"]
)
def test_a_state_names_only_files_that_the_manifest_lists(finished, file):
    run, _ = finished["own"]
    state = json.loads(run.manifest.read("models/policy.json"))
    state["outcome_model"]["file"] = file
    content = json.dumps(state).encode()

    def read(name):
        return content if name == "policy.json" else run.manifest.read(f"models/{name}")

    with pytest.raises(RunFolderError, match=r"does not list models/"):
        load_policy(run.case, read)


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"\xff", b"null"])
def test_a_state_that_is_no_json_of_a_policy(finished, content):
    run, _ = finished["own"]
    with pytest.raises(RunFolderError, match="policy.json, training-profile.json and models do not fit"):
        load_policy(run.case, lambda name: content)
