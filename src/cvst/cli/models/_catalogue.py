"""The short names of ``--model`` with a default grid each, and import paths."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from cvst.cli.models._importing import load_own_attribute
from cvst.cli.models._model import Choice, Model
from cvst.exceptions import InvalidInputError

__all__ = ["MODELS", "find_model"]

# Inputs are scaled to variance 1, so one grid of kernel widths serves from one feature
# to some thousands. Penalties mean what they mean on all rows.
KERNEL = "alpha=logspace(-4, 4, 9) gamma=logspace(-4, 2, 25)"
SVC = "C=logspace(-2, 4, 13) gamma=logspace(-4, 2, 13)"
SVR = "C=logspace(-1, 3, 9) gamma=logspace(-4, 1, 11) epsilon=[0.03, 0.1, 0.3]"
NU_SVC = "nu=[0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7] gamma=logspace(-4, 2, 13)"
NU_SVR = "C=logspace(-1, 2, 7) gamma=logspace(-4, 1, 11) nu=[0.25, 0.5, 0.75]"
RIDGE = "alpha=logspace(-4, 6, 41)"
ELASTIC = "alpha=logspace(-4, 0, 21) l1_ratio=[0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99]"
NEIGHBOURS = (
    "n_neighbors=[1, 2, 3, 5, 7, 10, 15, 20, 30, 50] weights=[uniform, distance] "
    "p=[1, 2]"
)
FOREST = (
    "max_features=[0.2, 0.35, 0.5, 0.75, 1.0] min_samples_leaf=[1, 2, 3, 5, 10, 20]"
)
RATES = "learning_rate=[0.02, 0.05, 0.1, 0.2]"
BOOSTING = (
    f"{RATES} max_leaf_nodes=[7, 15, 31] min_samples_leaf=[5, 20] "
    "max_iter=[50, 100, 200]"
)
LIGHTGBM = (
    f"{RATES} num_leaves=[7, 15, 31] min_child_samples=[5, 20] "
    "n_estimators=[50, 100, 200]"
)
XGBOOST = (
    f"{RATES} max_depth=[2, 4, 6] min_child_weight=[1, 5] n_estimators=[50, 100, 200]"
)
NETWORK = (
    "hidden_layer_sizes=[(32,), (64,), (128,), (64, 64)] alpha=logspace(-5, -1, 5) "
    "learning_rate_init=[0.001, 0.003, 0.01]"
)


def _both(
    name: str,
    about: str,
    paths: tuple[str, str, str],
    grid: str,
    fixed: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Model:
    """Return a model whose classifier and regressor have the same grid."""
    module, classifier, regressor = paths
    return Model(
        name,
        about,
        classification=Choice(f"{module}:{classifier}", grid, fixed or {}),
        regression=Choice(f"{module}:{regressor}", grid, fixed or {}),
        **rest,
    )


_SVR = Choice("sklearn.svm:SVR", SVR)
_NU_SVR = Choice("sklearn.svm:NuSVR", NU_SVR)
_ALL = (
    Model(
        "krr",
        "kernel ridge regression, Gaussian kernel",
        regression=Choice(
            "sklearn.kernel_ridge:KernelRidge", KERNEL, {"kernel": "rbf"}
        ),
        scale_target=True,
    ),
    Model(
        "klr",
        "kernel logistic regression, Gaussian kernel",
        classification=Choice("cvst.learners:KernelLogisticRegression", KERNEL),
    ),
    Model(
        "svm",
        "support vector machine, Gaussian kernel",
        classification=Choice("sklearn.svm:SVC", SVC),
        regression=_SVR,
        scale_target=True,
    ),
    Model("svr", "svm for regression", regression=_SVR, scale_target=True),
    Model(
        "nusvm",
        "nu-SVM, Gaussian kernel",
        classification=Choice("sklearn.svm:NuSVC", NU_SVC),
        regression=_NU_SVR,
        scale_target=True,
    ),
    Model("nusvr", "nu-SVM for regression", regression=_NU_SVR, scale_target=True),
    _both(
        "ridge",
        "ridge regression, or its classifier",
        ("sklearn.linear_model", "RidgeClassifier", "Ridge"),
        RIDGE,
    ),
    Model(
        "logistic",
        "logistic regression",
        classification=Choice(
            "sklearn.linear_model:LogisticRegression",
            "C=logspace(-4, 4, 33)",
            {"max_iter": 2000},
        ),
    ),
    Model(
        "lasso",
        "linear regression with an absolute penalty",
        regression=Choice(
            "sklearn.linear_model:Lasso",
            "alpha=logspace(-4, 0, 41)",
            {"max_iter": 10_000},
        ),
        scale_target=True,
    ),
    Model(
        "elasticnet",
        "linear regression with both penalties",
        regression=Choice(
            "sklearn.linear_model:ElasticNet", ELASTIC, {"max_iter": 10_000}
        ),
        scale_target=True,
    ),
    _both(
        "knn",
        "nearest neighbours",
        ("sklearn.neighbors", "KNeighborsClassifier", "KNeighborsRegressor"),
        NEIGHBOURS,
    ),
    _both(
        "forest",
        "random forest",
        ("sklearn.ensemble", "RandomForestClassifier", "RandomForestRegressor"),
        FOREST,
        # More trees cost time and only take noise away, so there is nothing to search
        # for.
        {"n_estimators": 100},
        inputs="trees",
        proposes=True,
    ),
    _both(
        "extratrees",
        "extremely randomised trees",
        ("sklearn.ensemble", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        FOREST,
        {"n_estimators": 100},
        inputs="trees",
        proposes=True,
    ),
    _both(
        "boosting",
        "gradient boosting on histograms",
        (
            "sklearn.ensemble",
            "HistGradientBoostingClassifier",
            "HistGradientBoostingRegressor",
        ),
        BOOSTING,
        # By itself it stops early on more than 10,000 rows, and then the rounds would
        # not be those of the grid.
        {"early_stopping": False},
        inputs="trees",
        proposes=True,
    ),
    _both(
        "lightgbm",
        "LightGBM, where it is installed",
        ("lightgbm", "LGBMClassifier", "LGBMRegressor"),
        LIGHTGBM,
        # One thread for each fit, since the workers of the race share the cores.
        {"verbosity": -1, "n_jobs": 1},
        inputs="trees",
        proposes=True,
        install="lightgbm",
    ),
    _both(
        "xgboost",
        "XGBoost, where it is installed",
        ("xgboost", "XGBClassifier", "XGBRegressor"),
        XGBOOST,
        {"n_jobs": 1},
        inputs="trees",
        proposes=True,
        numbered_classes=True,
        install="xgboost",
    ),
    _both(
        "mlp",
        "neural network",
        ("sklearn.neural_network", "MLPClassifier", "MLPRegressor"),
        NETWORK,
        {"max_iter": 300},
        scale_target=True,
        proposes=True,
    ),
)
MODELS = {model.name: model for model in _ALL}


def find_model(name: str, has_grid: bool) -> Model:
    """Return the model of a short name or an import path.

    Examples
    --------
    >>> find_model("krr", has_grid=False).tasks
    ('regression',)
    >>> find_model("sklearn.tree:DecisionTreeClassifier", has_grid=True).tasks
    ('classification',)
    """
    if name in MODELS:
        return MODELS[name]
    if ":" not in name:
        near = difflib.get_close_matches(name.lower(), MODELS, n=1)
        raise InvalidInputError(
            f"--model {name!r} is not known. "
            + (f"Did you mean {near[0]!r}? " if near else "")
            + f"Known are {', '.join(MODELS)}, and import paths such as "
            "package.module:Class."
        )
    # Imported late: --help lists the models and must not wait for scikit-learn.
    from sklearn.base import is_classifier, is_regressor

    estimator = _instance(name)
    if not has_grid:
        raise InvalidInputError(
            f"--model {name} has no default grid. Say with --grid what to try, for "
            "example --grid 'alpha=logspace(-3, 3, 7)', or take the space that is "
            "suggested for it with --grid auto."
        )
    choice = Choice(name, "")
    return Model(
        name,
        "",
        # A class that does not say which of the two it is may be either.
        classification=None if is_regressor(estimator) else choice,
        regression=None if is_classifier(estimator) else choice,
    )


def _instance(path: str) -> Any:
    found = load_own_attribute(path)
    try:
        estimator = found()
    except Exception as error:  # whatever the code of that class raises
        raise InvalidInputError(
            f"--model {path} cannot be made without arguments: {error}."
        ) from error
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise InvalidInputError(
            f"--model {path} is not an estimator: it lacks fit or get_params."
        )
    return estimator
