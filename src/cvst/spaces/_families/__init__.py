"""The families of estimators, by the names of their classes."""

from cvst.spaces._families import (
    _boosting,
    _catboost,
    _kernels,
    _lightgbm,
    _linear,
    _others,
    _trees,
    _xgboost,
)
from cvst.spaces._families._family import Case, Family, Parameter, Suggest

__all__ = ["FAMILIES", "Case", "Family", "Parameter", "Suggest"]

# A class of that name counts if its package, or that of an ancestor, is one of these.
FAMILIES: dict[str, dict[str, Suggest]] = {
    "sklearn": {
        **_boosting.FAMILIES,
        **_kernels.FAMILIES,
        **_linear.FAMILIES,
        **_others.FAMILIES,
        **_trees.FAMILIES,
    },
    "cvst": {"KernelLogisticRegression": _kernels.kernel_logistic},
    "lightgbm": _lightgbm.FAMILIES,
    "xgboost": _xgboost.FAMILIES,
    "catboost": _catboost.FAMILIES,
}
