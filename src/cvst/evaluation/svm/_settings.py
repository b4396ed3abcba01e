"""Parameters of support vector machines, as libsvm takes them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from cvst._typing import Configuration
from cvst.evaluation.kernels._functions import KernelKey, KernelName
from cvst.evaluation.kernels._groups import is_real_within

__all__ = ["SVM_TYPES", "SvmSettings", "read_settings"]

# libsvm's numbers for the kinds of machines.
SVM_TYPES: dict[type, int] = {SVC: 0, NuSVC: 1, SVR: 3, NuSVR: 4}

KERNELS: dict[str, KernelName] = {
    "linear": "linear",
    "poly": "poly",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
}


@dataclass(frozen=True, slots=True)
class SvmSettings:
    """Valid parameters of one configuration.

    Attributes
    ----------
    key : KernelKey
        The kernel.
    solver : dict
        What libsvm's solver gets besides kernel, targets and weights.
    class_weight : dict, "balanced" or None
        Weights of the classes; None for regression.
    one_against_rest : bool
        Whether decisions have a column per class rather than per pair.
    break_ties : bool
        Whether the margin decides between classes with as many votes.
    """

    key: KernelKey
    solver: dict[str, Any]
    class_weight: Any
    one_against_rest: bool
    break_ties: bool


def read_settings(machine: type, params: Configuration) -> SvmSettings | None:
    """Return valid parameters that libsvm can be called with; None for all others."""
    kernel, gamma = params["kernel"], params["gamma"]
    name = KERNELS.get(kernel) if isinstance(kernel, str) else None
    valid = (
        name is not None
        and (_is_in(gamma, ("scale", "auto")) or is_real_within(gamma, at_least=0))
        and _is_whole(params["degree"], at_least=0)
        and is_real_within(params["coef0"])
        and _solver_is_valid(params)
        and _answer_is_valid(params)
    )
    if not valid or name is None:
        return None
    # With a constant, it depends on the compiler how libsvm rounds the sum.
    if name in ("poly", "sigmoid") and params["coef0"] != 0:
        return None
    solver = {
        "svm_type": SVM_TYPES[machine],
        "tol": params["tol"],
        "C": params.get("C", 0.0),
        "nu": params.get("nu", 0.0),
        "epsilon": params.get("epsilon", 0.0),
        "shrinking": int(params["shrinking"]),
        "cache_size": params["cache_size"],
        "max_iter": params["max_iter"],
    }
    return SvmSettings(
        KernelKey.of(name, params),
        solver,
        params.get("class_weight"),
        params.get("decision_function_shape") == "ovr",
        bool(params.get("break_ties", False)),
    )


def _solver_is_valid(params: Configuration) -> bool:
    return (
        is_real_within(params["tol"], above=0)
        and is_real_within(params.get("C", 1.0), above=0)
        and is_real_within(params.get("nu", 0.5), above=0)
        and params.get("nu", 0.5) <= 1
        and is_real_within(params.get("epsilon", 0.0), at_least=0)
        and is_real_within(params["cache_size"], above=0)
        and _is_whole(params["max_iter"], at_least=-1)
        and isinstance(params["shrinking"], bool | np.bool_)
    )


def _answer_is_valid(params: Configuration) -> bool:
    """Whether nothing but the machine itself is asked for."""
    break_ties = params.get("break_ties", False)
    shape = params.get("decision_function_shape", "ovr")
    class_weight = params.get("class_weight")
    state = params.get("random_state")
    return (
        # Probabilities come from a cross-validation inside libsvm.
        params.get("probability", False) in (False, "deprecated")
        and params["verbose"] in (False, 0)
        # The state draws nothing here, but scikit-learn has to refuse a bad one.
        and (state is None or isinstance(state, Integral | np.random.RandomState))
        and isinstance(break_ties, bool | np.bool_)
        and _is_in(shape, ("ovr", "ovo"))
        # scikit-learn refuses this pair, but only when it predicts.
        and not (break_ties and shape == "ovo")
        and (
            isinstance(class_weight, dict | None) or _is_in(class_weight, ("balanced",))
        )
    )


def _is_in(value: Any, words: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value in words


def _is_whole(value: Any, at_least: int) -> bool:
    return isinstance(value, Integral) and is_real_within(value, at_least=at_least)
