"""What can be saved is read back as it was, and what cannot is known before any fit."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
import zipfile
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.linear_model import LinearRegression, Ridge, TweedieRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from accordant.errors import InputError, RunFolderError
from accordant.learning.causal import TLearner
from accordant.compute.fan_out import run_all
from accordant.runs.models.files import _skops, dump_model, load_model
from accordant.runs.models.policy_state import _middle_context
from accordant.runs.models.trusted_types import is_trusted, refuse_unsavable, type_name

skops = _skops()  # importing it whole walks through all of scikit-learn
GENERATOR = np.random.default_rng(0)
X = np.abs(GENERATOR.normal(size=(60, 3)))
CODES, LEVELS = GENERATOR.integers(0, 3, 60), GENERATOR.uniform(0.05, 0.95, 60)


def answers(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize(
    "model",
    [
        *(KNeighborsClassifier(algorithm=each) for each in ("kd_tree", "ball_tree", "brute")),
        *(KNeighborsRegressor(algorithm=each, weights="distance") for each in ("kd_tree", "ball_tree", "brute")),
        KNeighborsRegressor(metric="canberra"),
        BaggingRegressor(KNeighborsRegressor(), n_estimators=3, random_state=0),
        MLPClassifier(max_iter=20, random_state=0),
        MLPRegressor(max_iter=20, solver="sgd", random_state=0),
        GaussianProcessClassifier(),
        GaussianProcessRegressor(Matern() + WhiteKernel()),
        TweedieRegressor(power=1.5),
        TweedieRegressor(power=0),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_it_answers_after_reading_as_before(model):
    refuse_unsavable("model", model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations
        model.fit(X, CODES if hasattr(model, "predict_proba") else LEVELS)
    np.testing.assert_allclose(answers(load_model(dump_model(model), "model")), answers(model), rtol=1e-12)
    assert np.array_equal(answers(model), answers(model))  # saving left it as it was


def test_saving_leaves_the_search_tree_where_it_was():
    model = KNeighborsRegressor(algorithm="kd_tree").fit(X, LEVELS)
    tree = model._tree
    dump_model(model)
    assert tree is not None and model._tree is tree


@pytest.mark.long
@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_what_is_said_before_the_fit_is_so_after_it(kind):
    """For every estimator of scikit-learn that can be built without another one."""
    saved, refused = [], []
    for name, estimator in all_estimators(type_filter=kind):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = estimator().fit(X, CODES if kind == "classifier" else LEVELS)
        except (TypeError, ValueError):
            continue  # needs an estimator, several targets or one column
        try:
            refuse_unsavable("model", model)
        except InputError:
            refused.append(name)
        else:
            saved.append(name)
            np.testing.assert_allclose(answers(load_model(dump_model(model), name)), answers(model), rtol=1e-12)
    assert len(saved) > 20 and len(refused) < 7


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RadiusNeighborsRegressor(), "reward model: RadiusNeighborsRegressor cannot be saved .* KNeighborsRegressor"),
        (TLearner(RadiusNeighborsRegressor()), "RadiusNeighborsRegressor cannot be saved"),
        (make_pipeline(StandardScaler(), RadiusNeighborsRegressor()), "RadiusNeighborsRegressor cannot be saved"),
        (SVC(kernel="precomputed"), "SVC cannot be saved in a run folder with kernel='precomputed'"),
        (CalibratedClassifierCV(method="isotonic"), "with method='isotonic'"),
        (HistGradientBoostingRegressor(categorical_features=[0]), r"with categorical_features=\[0\]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_saved_is_refused_before_the_fit(model, message):
    with pytest.raises(InputError, match=message):
        refuse_unsavable("reward model", model)


@pytest.mark.parametrize("model", [None, "stated", TLearner("boosting"), Ridge()], ids=str)
def test_our_own_defaults_are_not_refused(model):
    assert refuse_unsavable("reward model", model) is None


def test_a_fit_that_no_list_foresees_is_refused_when_it_is_written():
    model = HistGradientBoostingRegressor(categorical_features=[0]).fit(np.round(X), LEVELS)
    with pytest.raises(InputError, match="a model cannot be saved"):
        dump_model(model)


def packed(model):
    """Return a file whose entries are compressed, as skops writes none."""
    with zipfile.ZipFile(io.BytesIO(skops.dumps(model, compression=zipfile.ZIP_DEFLATED))) as source:
        assert source.infolist()
    return skops.dumps(model, compression=zipfile.ZIP_DEFLATED)


def with_hidden_sparse_matrix():
    from scipy import sparse

    model = LinearRegression().fit(X, LEVELS)
    model.coef_ = sparse.csr_array(np.eye(3))
    return model


def with_a_function():
    model = LinearRegression().fit(X, LEVELS)
    model.coef_ = np.add
    return model


@pytest.mark.parametrize(
    "content",
    [
        packed(LinearRegression().fit(X, LEVELS)),
        skops.dumps(with_hidden_sparse_matrix()),
        skops.dumps(with_a_function()),
        skops.dumps(KNeighborsRegressor().fit(X, LEVELS)),  # with its search tree, whose nodes nobody checked
        skops.dumps({"a": [RBF, print]}),
        b"",
        b"PK",
    ],
    ids=["packed", "sparse", "function", "search tree", "types", "empty", "cut"],
)
def test_a_file_that_nobody_here_wrote_is_refused(content):
    with pytest.raises(RunFolderError, match="model file|trust list"):
        load_model(content, "model")


def test_types_are_known_by_their_public_package():
    assert is_trusted("sklearn.linear_model._ridge.Ridge") and is_trusted("sklearn.linear_model.moved.Ridge")
    assert not is_trusted("sklearn.Ridge") and not is_trusted("evil.linear_model.Ridge")
    assert not is_trusted("accordant.linear_model.x.Ridge") and not is_trusted(type_name(dict))


def test_another_version_of_scikit_learn_is_said_once(caplog, monkeypatch):
    monkeypatch.setattr("sklearn.base.__version__", "1.0\x1b[31m")
    content = dump_model(make_pipeline(StandardScaler(), LinearRegression()).fit(X, LEVELS))
    monkeypatch.undo()
    load_model(content, "outcome-model.skops")
    assert [each.getMessage() for each in caplog.records] == [
        r"outcome-model.skops was written by scikit-learn 1.0\x1b[31m: results may differ"
    ]


def test_two_fits_give_the_same_bytes():
    forests = [RandomForestClassifier(3, random_state=0).fit(X, CODES) for _ in range(2)]
    one, other = map(dump_model, forests)
    assert one == other
    assert np.array_equal(load_model(one, "forest").predict_proba(X), forests[0].predict_proba(X))


def test_which_texts_and_numbers_were_one_object_does_not_matter():
    model = RandomForestClassifier(3, random_state=0).fit(X, CODES)
    whole = dump_model(model)
    for tree in model.estimators_:
        tree.criterion, tree.min_weight_fraction_leaf = "GINI".lower(), float("0")
    assert model.estimators_[0].criterion is not model.criterion
    assert dump_model(model) == whole
    assert np.array_equal(load_model(whole, "forest").predict_proba(X), model.predict_proba(X))


def test_one_job_and_two_give_the_same_bytes():
    tasks = [partial(RandomForestClassifier(3, random_state=seed).fit, X, CODES) for seed in range(2)]
    alone, together = (run_all(tasks, jobs, "fitting") for jobs in (1, 2))
    assert list(map(dump_model, alone)) == list(map(dump_model, together))


def test_a_loaded_model_is_asked_about_the_first_category_even_if_it_is_the_only_one():
    encoder = SimpleNamespace(categories={"one": ("a",), "two": ("b", "c"), "none": ()}, medians={"age": 41.5})
    asked = _middle_context(encoder)
    assert {name: asked[name].tolist() for name in asked} == {"age": [41.5], "one": ["a"], "two": ["b"], "none": [""]}


@pytest.mark.long
def test_whoever_imports_skops_later_has_its_whole_trust_list():
    lines = (
        "import sys", "from sklearn.cluster import KMeans", "from sklearn.linear_model import LinearRegression",
        "from accordant.runs.models.files import dump_model, load_model",
        "content = dump_model(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))",
        "assert load_model(content, 'model').predict([[2.0]]).round(9) == 2",
        "assert not any(name.partition('.')[0] == 'skops' for name in sys.modules)",
        "import skops.io", "assert skops.io.get_untrusted_types(data=skops.io.dumps(KMeans())) == []",
        "import scipy.special", "assert 'expit' in dir(scipy.special)",
        "from sklearn.preprocessing import FunctionTransformer",
        "transform = FunctionTransformer(scipy.special.expit)",
        "assert skops.io.get_untrusted_types(data=skops.io.dumps(transform)) == []",
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
