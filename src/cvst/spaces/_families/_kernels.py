"""Kernel machines: support vectors, kernel ridge, kernel logistic, Gaussian processes.

Ranges of kernel parameters are for inputs of variance about 1.
"""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Matern,
    RationalQuadratic,
)

from cvst._typing import Configuration
from cvst.spaces._families._family import Case, Family, Parameter, Suggest, rows
from cvst.spaces._lists import choices
from cvst.spaces._ranges import floats, integers

__all__ = ["FAMILIES", "kernel_logistic"]

SOURCE = "scikit-learn's user guide and libsvm's guide for beginners"

# Kernels with a width, and those of the form (gamma <x, y> + coef0)^degree.
WIDTHS = {"rbf", "laplacian", "chi2", "poly", "polynomial", "sigmoid"}
POLYNOMIALS = {"poly", "polynomial"}


def _kernel(case: Case, default: str) -> tuple[list[Parameter], list[Configuration]]:
    """Return the parameters of the estimator's own kernel, and six settings of them."""
    kernel = case.params.get("kernel", default)
    if not isinstance(kernel, str) or kernel not in WIDTHS:
        # Six, as many as the penalties that are joined to them.
        return [], [{} for _ in range(6)]
    # Squared distances grow with the number of features, and so should the width.
    middle = 0.03 if case.n_features is None else 1.0 / case.n_features
    # Wider where the number of features can only be guessed.
    reach = 300 if case.n_features is None else 100
    parameters = [
        Parameter(
            "gamma",
            floats(middle / reach, middle * reach, log=True),
            "The kernel's width decides between smooth and wiggly, over decades around "
            "one over the number of features; inputs should be scaled.",
        )
    ]
    # Paired with the penalties below: the wider the kernel, the closer the fit may be.
    factors = (1.0, 0.3, 3.0, 0.1, 10.0, 0.03)
    start: list[Configuration] = [{"gamma": middle * factor} for factor in factors]
    if kernel in POLYNOMIALS:
        parameters += [
            Parameter(
                "degree",
                integers(2, 5),
                "Degrees above 5 seldom help; 1 is a linear kernel.",
            ),
            Parameter(
                "coef0",
                floats(0.0, 2.0),
                "Above 0 the lower powers count too, which is usually better.",
            ),
        ]
        powers = ((2, 1.0), (3, 1.0), (2, 0.5), (3, 0.0), (2, 2.0), (4, 1.0))
        start = [
            {**row, "degree": degree, "coef0": constant}
            for row, (degree, constant) in zip(start, powers, strict=True)
        ]
    return parameters, start


def _joined(start: list[Configuration], **columns: tuple[Any, ...]) -> Any:
    table = zip(*columns.values(), strict=True)
    return [
        {**dict(zip(columns, row, strict=True)), **one}
        for row, one in zip(table, start, strict=True)
    ]


COST = Parameter(
    "C",
    floats(1e-2, 1e4, log=True),
    "The price of errors goes over decades, and good ones lie on a ridge with the "
    "width of the kernel.",
)
TUBE = Parameter(
    "epsilon",
    floats(1e-3, 1.0, log=True),
    "Errors below it are free; the range is for targets of variance about 1.",
)


def svc(case: Case) -> Family:
    """Return the space of ``SVC``."""
    kernel, start = _kernel(case, "rbf")
    costs = (1.0, 10.0, 10.0, 100.0, 1.0, 1000.0)
    return Family((COST, *kernel), _joined(start, C=costs), SOURCE)


def svr(case: Case) -> Family:
    """Return the space of ``SVR``."""
    kernel, start = _kernel(case, "rbf")
    costs = (1.0, 10.0, 10.0, 100.0, 1.0, 1000.0)
    tubes = (0.1, 0.1, 0.1, 0.03, 0.3, 0.01)
    return Family((COST, *kernel, TUBE), _joined(start, C=costs, epsilon=tubes), SOURCE)


def nu_svc(case: Case) -> Family:
    """Return the space of ``NuSVC``."""
    kernel, start = _kernel(case, "rbf")
    share = Parameter(
        "nu",
        floats(0.02, 0.6, log=True),
        "It bounds the share of errors; with a rare class large values cannot be "
        "fitted, and such fits fail.",
    )
    shares = (0.2, 0.3, 0.1, 0.5, 0.05, 0.1)
    return Family((share, *kernel), _joined(start, nu=shares), SOURCE)


def nu_svr(case: Case) -> Family:
    """Return the space of ``NuSVR``."""
    kernel, start = _kernel(case, "rbf")
    share = Parameter(
        "nu", floats(0.1, 0.9), "It sets the share of rows outside the tube."
    )
    costs = (1.0, 10.0, 10.0, 100.0, 1.0, 1000.0)
    shares = (0.5, 0.5, 0.3, 0.7, 0.5, 0.5)
    return Family((COST, *kernel, share), _joined(start, C=costs, nu=shares), SOURCE)


def _penalty(reason: str) -> Parameter:
    return Parameter("alpha", floats(1e-4, 1e3, log=True), reason)


def kernel_ridge(case: Case) -> Family:
    """Return the space of ``KernelRidge``."""
    kernel, start = _kernel(case, "linear")
    reason = "The penalty is about the variance of the noise, which may be anything."
    alphas = (1.0, 0.1, 0.1, 0.01, 1.0, 0.001)
    return Family((_penalty(reason), *kernel), _joined(start, alpha=alphas), SOURCE)


def kernel_logistic(case: Case) -> Family:
    """Return the space of ``cvst.learners.KernelLogisticRegression``."""
    kernel, start = _kernel(case, "rbf")
    reason = "The penalty trades fit for smoothness, over decades."
    alphas = (0.1, 0.1, 1.0, 0.01, 1.0, 0.001)
    return Family((_penalty(reason), *kernel), _joined(start, alpha=alphas), SOURCE)


def _gaussian_kernels() -> list[Any]:
    shapes = [RBF(), Matern(nu=1.5), Matern(nu=2.5), RationalQuadratic()]
    # The constant lets the likelihood choose the variance of the functions as well.
    return [ConstantKernel() * shape for shape in shapes]


KERNELS = (
    "The kernel says how smooth functions are; its own numbers are fitted to the data."
)


def gaussian_process_regressor(case: Case) -> Family:
    """Return the space of ``GaussianProcessRegressor``."""
    del case
    kernels = _gaussian_kernels()
    noise = Parameter(
        "alpha",
        floats(1e-6, 1.0, log=True),
        "The variance of the noise, as a share of the target's.",
    )
    scaled = Parameter(
        "normalize_y",
        [True],
        "The noise and the kernels are for targets of mean 0 and variance 1.",
    )
    return Family(
        (noise, Parameter("kernel", choices(kernels), KERNELS), scaled),
        rows(
            ("alpha", "kernel", "normalize_y"),
            (0.1, kernels[0], True),
            (0.01, kernels[2], True),
            (0.3, kernels[1], True),
            (0.001, kernels[3], True),
        ),
        SOURCE,
    )


def gaussian_process_classifier(case: Case) -> Family:
    """Return the space of ``GaussianProcessClassifier``."""
    del case
    kernels = _gaussian_kernels()
    return Family(
        (Parameter("kernel", choices(kernels), KERNELS),),
        [{"kernel": kernel} for kernel in kernels],
        SOURCE,
    )


FAMILIES: dict[str, Suggest] = {
    "SVC": svc,
    "SVR": svr,
    "NuSVC": nu_svc,
    "NuSVR": nu_svr,
    "KernelRidge": kernel_ridge,
    "GaussianProcessRegressor": gaussian_process_regressor,
    "GaussianProcessClassifier": gaussian_process_classifier,
}
