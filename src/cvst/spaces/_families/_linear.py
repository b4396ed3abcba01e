"""Linear models of scikit-learn."""

from __future__ import annotations

from cvst.spaces._families._family import Case, Family, Parameter, Suggest, rows
from cvst.spaces._lists import choices
from cvst.spaces._ranges import Floats, floats

__all__ = ["FAMILIES"]

SOURCE = "scikit-learn's user guide"
DECADES = "A penalty is right or wrong by orders of magnitude, hence the decades."


def _one_penalty(name: str, values: Floats, start: tuple[float, ...]) -> Suggest:
    """Return the suggestion of a model with one penalty."""

    def suggest(case: Case) -> Family:
        del case
        return Family(
            (Parameter(name, values, DECADES),),
            [{name: value} for value in start],
            SOURCE,
        )

    return suggest


ridge = _one_penalty(
    "alpha", floats(1e-4, 1e5, log=True), (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
)
# Its loss is a mean over rows, that of ridge a sum: hence another range.
lasso = _one_penalty(
    "alpha", floats(1e-5, 10.0, log=True), (0.0001, 0.001, 0.01, 0.1, 1.0)
)
glm = _one_penalty("alpha", floats(1e-6, 10.0, log=True), (1e-4, 1e-3, 1e-2, 0.1, 1.0))
linear_svc = _one_penalty(
    "C", floats(1e-5, 1e2, log=True), (0.001, 0.01, 0.1, 1.0, 10.0)
)


def logistic_regression(case: Case) -> Family:
    """Return the space of ``LogisticRegression``."""
    cost = Parameter("C", floats(1e-4, 1e4, log=True), DECADES)
    costs = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    # Newer versions have no penalty= and know the mixture by l1_ratio.
    mixes = case.params.get("solver") == "saga" and (
        case.params.get("penalty") == "elasticnet" or case.params.get("l1_ratio")
    )
    if not mixes:
        return Family((cost,), rows(("C",), *[(value,) for value in costs]), SOURCE)
    shares = (0.0, 0.5, 0.5, 0.5, 1.0, 0.0)
    return Family(
        (cost, _mixture("l1_ratio")),
        rows(("C", "l1_ratio"), *zip(costs, shares, strict=True)),
        SOURCE,
    )


def _mixture(name: str, low: float = 0.0) -> Parameter:
    return Parameter(
        name,
        floats(low, 1.0),
        "Between a penalty that shrinks all weights and one that drops features.",
    )


def elastic_net(case: Case) -> Family:
    """Return the space of ``ElasticNet``."""
    del case
    return Family(
        # Coordinate descent is slow and warns without any absolute penalty.
        (
            Parameter("alpha", floats(1e-5, 10.0, log=True), DECADES),
            _mixture("l1_ratio", low=0.05),
        ),
        rows(
            ("alpha", "l1_ratio"),
            (0.001, 0.5),
            (0.01, 0.5),
            (0.1, 0.9),
            (1.0, 0.9),
            (0.0001, 0.1),
        ),
        SOURCE,
    )


def stochastic_gradient(case: Case) -> Family:
    """Return the space of ``SGD*``; the loss stays, for scores may need it."""
    del case
    return Family(
        (
            Parameter("alpha", floats(1e-7, 1e-1, log=True), DECADES),
            Parameter(
                "penalty",
                choices(["l2", "l1", "elasticnet"]),
                "Shrink all weights, drop features, or both.",
            ),
            Parameter(
                "learning_rate",
                choices(["optimal", "invscaling", "adaptive"]),
                "Which schedule suits depends on the loss and the size of the data.",
            ),
            Parameter(
                "eta0",
                floats(1e-3, 1e-1, log=True),
                "The first step of the last two schedules; for scaled inputs.",
            ),
            Parameter(
                "average",
                choices([False, True]),
                "Averaged weights are less noisy after few passes.",
            ),
        ),
        rows(
            ("alpha", "penalty", "learning_rate", "eta0", "average"),
            (1e-4, "l2", "adaptive", 0.01, False),
            (1e-4, "l2", "optimal", 0.01, True),
            (1e-3, "l1", "adaptive", 0.01, False),
            (1e-6, "l2", "invscaling", 0.03, True),
            (1e-2, "elasticnet", "adaptive", 0.003, False),
        ),
        SOURCE,
    )


def linear_svr(case: Case) -> Family:
    """Return the space of ``LinearSVR``."""
    del case
    return Family(
        (
            Parameter("C", floats(1e-3, 1e2, log=True), DECADES),
            Parameter(
                "epsilon",
                floats(1e-3, 1.0, log=True),
                "Errors below it are free; for targets of variance about 1.",
            ),
        ),
        rows(("C", "epsilon"), (1.0, 0.1), (0.1, 0.1), (10.0, 0.01), (0.01, 0.3)),
        SOURCE,
    )


def huber(case: Case) -> Family:
    """Return the space of ``HuberRegressor``."""
    del case
    return Family(
        (
            Parameter("alpha", floats(1e-6, 1e2, log=True), DECADES),
            Parameter(
                "epsilon",
                floats(1.01, 3.0),
                "Where an error counts as an outlier, in standard deviations.",
            ),
        ),
        rows(("alpha", "epsilon"), (1e-3, 1.35), (0.1, 1.1), (0.1, 2.0), (10.0, 1.35)),
        SOURCE,
    )


def linear_discriminant(case: Case) -> Family:
    """Return the space of ``LinearDiscriminantAnalysis``."""
    del case
    return Family(
        (
            Parameter(
                "shrinkage",
                floats(0.0, 1.0),
                "From the covariance of the data to a sphere; more for few rows.",
            ),
            Parameter("solver", ["lsqr"], "The default solver knows no shrinkage."),
        ),
        rows(
            ("shrinkage", "solver"),
            (0.01, "lsqr"),
            (0.1, "lsqr"),
            (0.3, "lsqr"),
            (0.7, "lsqr"),
        ),
        SOURCE,
    )


def quadratic_discriminant(case: Case) -> Family:
    """Return the space of ``QuadraticDiscriminantAnalysis``."""
    del case
    return Family(
        (
            Parameter(
                "reg_param",
                floats(1e-4, 1.0, log=True),
                "From the covariance of each class to a sphere; more for few rows.",
            ),
        ),
        [{"reg_param": share} for share in (0.001, 0.01, 0.1, 0.4)],
        SOURCE,
    )


FAMILIES: dict[str, Suggest] = {
    "Ridge": ridge,
    "RidgeClassifier": ridge,
    "Lasso": lasso,
    "LassoLars": lasso,
    "MultiTaskLasso": lasso,
    "ElasticNet": elastic_net,
    "MultiTaskElasticNet": elastic_net,
    "LogisticRegression": logistic_regression,
    "LinearSVC": linear_svc,
    "LinearSVR": linear_svr,
    "SGDClassifier": stochastic_gradient,
    "SGDRegressor": stochastic_gradient,
    "HuberRegressor": huber,
    "QuantileRegressor": glm,
    "PoissonRegressor": glm,
    "GammaRegressor": glm,
    "TweedieRegressor": glm,
    "LinearDiscriminantAnalysis": linear_discriminant,
    "QuadraticDiscriminantAnalysis": quadratic_discriminant,
}
