"""Seeded damage inside model files: whatever is changed is refused, raises, or answers; the process never ends."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, TweedieRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from accordant.errors import RunFolderError
from accordant.runs.models.files import dump_model, load_model

GENERATOR = np.random.default_rng(0)
X = np.abs(GENERATOR.normal(size=(60, 3)))
CODES, LEVELS = GENERATOR.integers(0, 3, 60), GENERATOR.uniform(0.05, 0.95, 60)
ASKED = np.vstack([X, -X, 1e6 * X])
DAMAGES = 90  # of each kind of model
NUMBERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31), 2**62, 0.5, 1e308, float("nan"), float("inf"))
VALUES = (*NUMBERS, None, True, False, "", "x", [], {}, "float32", "brute")
MODELS = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(3, random_state=0),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5),
    "histogram boosting of classes": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    "gradient boosting": GradientBoostingClassifier(n_estimators=3),
    "adaptive boosting": AdaBoostClassifier(n_estimators=3),
    "neighbours": KNeighborsRegressor(algorithm="kd_tree"),
    "neighbours of classes": KNeighborsClassifier(algorithm="brute"),
    "support vectors": SVC(),
    "support vectors of levels": SVR(),
    "networks": MLPRegressor(hidden_layer_sizes=(4,), max_iter=20),
    "Gaussian process": GaussianProcessRegressor(),
    "Tweedie": TweedieRegressor(power=1.5),
    "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression()),
    "calibration": CalibratedClassifierCV(LogisticRegression(), cv=3),
}


def leaves(value, path=()):
    """Yield the path to everything in a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from leaves(each, (*path, key))


def damaged_array(content, generator):
    """Change one number of an array, or its shape or type."""
    values = np.load(io.BytesIO(content), allow_pickle=False).copy()
    number = NUMBERS[generator.integers(len(NUMBERS))]
    way = generator.integers(6)
    with np.errstate(all="ignore"):
        if way < 4 and values.size:
            flat = values.reshape(-1)
            place = generator.integers(values.size)
            field = (
                flat[values.dtype.names[generator.integers(len(values.dtype.names))]] if values.dtype.names else flat
            )
            field[place] = np.asarray(number).astype(field.dtype)
        elif way == 4:
            values = values[: values.shape[0] // 2] if values.ndim else values
        elif not values.dtype.names:
            values = values.astype(["f4", "f8", "i4", "i8", "u1"][generator.integers(5)])
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()


def damaged_schema(content, generator):
    """Change one value of the description."""
    schema = json.loads(content)
    paths = list(leaves(schema))
    path = paths[generator.integers(len(paths))]
    holder = schema
    for key in path[:-1]:
        holder = holder[key]
    value = VALUES[generator.integers(len(VALUES))]
    holder[path[-1]] = json.dumps(value) if path[-1] == "content" and isinstance(holder[path[-1]], str) else value
    return json.dumps(schema).encode()


def damaged(content, generator):
    """Return a model file with one change."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in entries if name.endswith(".npy")]
    name = arrays[generator.integers(len(arrays))] if arrays and generator.random() < 0.6 else "schema.json"
    entries[name] = (damaged_array if name.endswith(".npy") else damaged_schema)(entries[name], generator)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for each, bytes_ in entries.items():
            archive.writestr(each, bytes_)
    return stream.getvalue()


def survive(name, count):
    """Damage one kind of model `count` times, and ask what can still be read; print how it ended."""
    warnings.simplefilter("ignore")
    model = MODELS[name]
    classifies = hasattr(model, "predict_proba") or isinstance(model, SVC)
    content = dump_model(model.fit(X, CODES if classifies else LEVELS))
    ends = {"refused": 0, "raised": 0, "answered": 0}
    for seed in range(count):
        print(seed, file=sys.stderr, flush=True)  # the last one is what ended the process
        try:
            found = load_model(damaged(content, np.random.default_rng(seed)), "model")
            found.predict_proba(ASKED) if hasattr(found, "predict_proba") else found.predict(ASKED)
        except RunFolderError:
            ends["refused"] += 1
        except Exception:  # what `load_policy` turns into a refusal
            ends["raised"] += 1
        else:
            ends["answered"] += 1
    print(json.dumps(ends))


@pytest.mark.parametrize("name", MODELS)
def test_no_damage_ends_the_process(name):
    done = subprocess.run(
        [sys.executable, __file__, name, str(DAMAGES)], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-300:]
    ends = json.loads(done.stdout.splitlines()[-1])
    assert sum(ends.values()) == DAMAGES and ends["refused"] > DAMAGES / 10


if __name__ == "__main__":
    survive(sys.argv[1], int(sys.argv[2]))
