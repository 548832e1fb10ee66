"""The trust list of model files: which types may stand in one, and why.

skops runs no code of a file, but trusts every estimator of scikit-learn, whatever its arrays hold. Here a type is
trusted for a reason of its own:

- what predicts through NumPy and SciPy alone, whose operations compare shapes before they read, needs no check;
- what hands arrays to compiled code that follows their numbers unseen has a check in `index_checks`;
- everything else is refused, sparse matrices and functions among it.

Boosting of other libraries (XGBoost, LightGBM, CatBoost) is left out: what they save is read by compiled code of their
own, which ends the process over a wrong node number before anybody could look at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from accordant.errors import InputError
from accordant.learning.causal.selection import TRUSTED_TYPES as CAUSAL_LEARNERS

_CLASSIFICATION = "accordant.learning.classification"

OWN = frozenset(
    {
        *(name for name in CAUSAL_LEARNERS if name.startswith("accordant.")),
        f"{_CLASSIFICATION}.blend.Blend",
        f"{_CLASSIFICATION}.brier.MeanWithError",
        f"{_CLASSIFICATION}.calibration.CalibratedProbabilities",
        f"{_CLASSIFICATION}.candidates.Candidate",
        f"{_CLASSIFICATION}.candidates.HingeFeatures",
        f"{_CLASSIFICATION}.platt.PlattScaling",
        f"{_CLASSIFICATION}.selection.CandidateScore",
        f"{_CLASSIFICATION}.selection.SelectedClassifier",
    }
)
"""Ours: NumPy alone."""

PLAIN: Mapping[str, str] = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.cross_decomposition": "CCA PLSCanonical PLSRegression",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": (
        "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier "
        "ExtraTreesRegressor RandomForestClassifier RandomForestRegressor _BinMapper"
    ),
    "sklearn.gaussian_process": (
        "GaussianProcessClassifier GaussianProcessRegressor _BinaryGaussianProcessClassifierLaplace CompoundKernel "
        "ConstantKernel DotProduct ExpSineSquared Exponentiation Matern Product RationalQuadratic RBF Sum WhiteKernel"
    ),
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model": (
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars LarsCV Lasso LassoCV "
        "LassoLars LassoLarsCV LassoLarsIC LinearRegression LogisticRegression LogisticRegressionCV "
        "MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit "
        "OrthogonalMatchingPursuitCV PassiveAggressiveClassifier PassiveAggressiveRegressor Perceptron "
        "PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV RidgeClassifier RidgeClassifierCV "
        "SGDClassifier SGDRegressor TheilSenRegressor TweedieRegressor "
        "EpsilonInsensitive Hinge Huber Log ModifiedHuber SquaredEpsilonInsensitive SquaredHinge SquaredLoss"
    ),
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier _ConstantPredictor",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neural_network": "MLPClassifier MLPRegressor AdamOptimizer SGDOptimizer",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "LabelBinarizer LabelEncoder PolynomialFeatures StandardScaler",
    "sklearn.svm": "LinearSVC LinearSVR",
    "sklearn._loss": (
        "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss HalfPoissonLoss "
        "HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity HuberLoss PinballLoss CyAbsoluteError "
        "CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss CyHalfMultinomialLoss CyHalfPoissonLoss "
        "CyHalfSquaredError CyHalfTweedieLoss CyHalfTweedieLossIdentity CyHuberLoss CyPinballLoss HalfLogitLink "
        "IdentityLink Interval LogLink LogitLink MultinomialLogit"
    ),
}
"""Public package of scikit-learn to types that hold formulas, arrays for NumPy, or other types of these lists."""

CHECKED: Mapping[str, str] = {
    "sklearn.ensemble": (
        "GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier "
        "HistGradientBoostingRegressor TreePredictor"
    ),
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor",
    "sklearn.svm": "NuSVC NuSVR SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor Tree",
}
"""Types whose numbers compiled code follows unseen; each has a row in `index_checks.CHECKS`."""

_TRUSTED = frozenset(
    (package, name) for types in (PLAIN, CHECKED) for package, names in types.items() for name in names.split()
)

REFUSED_PARAMETERS: Mapping[tuple[str, str], str] = {
    ("CalibratedClassifierCV", "method"): "isotonic",  # holds functions
    ("HistGradientBoostingClassifier", "categorical_features"): "",  # bit sets of categories are not checked
    ("HistGradientBoostingRegressor", "categorical_features"): "",
    ("NuSVC", "kernel"): "precomputed",  # columns would be training rows
    ("NuSVR", "kernel"): "precomputed",
    ("SVC", "kernel"): "precomputed",
    ("SVR", "kernel"): "precomputed",
}
"""(class, parameter) to the value that makes it impossible to save; "" for any but its default."""


def is_trusted(name: str) -> bool:
    """Return whether a type, by its full name, may stand in a model file.

    Types of scikit-learn are known by their public package, because modules inside move between versions.
    """
    parts = name.split(".")
    if parts[0] == "_loss":  # what a compiled module calls itself up to scikit-learn 1.7
        parts = ["sklearn", *parts]
    return name in OWN or (len(parts) > 2 and (".".join(parts[:2]), parts[-1]) in _TRUSTED)


def type_name(kind: type) -> str:
    """Return the full name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}"


def refuse_unsavable(what: str, estimator: Any) -> None:
    """Refuse before any fit an estimator that could not be saved after it.

    Parameters
    ----------
    what
        What it is, for the message.
    estimator
        Unfitted; None or text for a default of ours, which can be saved.

    Raises
    ------
    InputError
        If a type is not on the trust list, or a parameter makes it impossible to save.
    """
    for part in _estimators(estimator):
        kind = type(part)
        if not is_trusted(type_name(kind)):
            raise InputError(
                f"{what}: {kind.__name__} cannot be saved in a run folder, because no check is known that makes it "
                f"safe to read again; of {_package(kind)}, these can: {', '.join(_savable_beside(kind)) or 'none'}"
            )
        for (owner, name), value in REFUSED_PARAMETERS.items():
            setting = part.get_params(deep=False).get(name) if owner == kind.__name__ else None
            if setting is not None and (setting == value or (not value and not isinstance(setting, str))):
                raise InputError(f"{what}: {owner} cannot be saved in a run folder with {name}={setting!r}")


def _estimators(value: Any) -> Iterator[Any]:
    """Yield an estimator and those among its parameters."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _estimators(part)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        yield value
        yield from _estimators(list(value.get_params(deep=False).values()))


def _package(kind: type) -> str:
    return ".".join(kind.__module__.split(".")[:2])


def _savable_beside(kind: type) -> list[str]:
    """Return what can be saved of the same package, and predicts the same."""
    ending = next((role for role in ("Classifier", "Regressor") if kind.__name__.endswith(role)), "")
    return sorted(name for package, name in _TRUSTED if package == _package(kind) and name.endswith(ending or name))
