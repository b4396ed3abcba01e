"""The families of models, by the first word of a problem's name."""

from __future__ import annotations

__all__ = ["FAMILIES", "family_of"]

FAMILIES = "linear", "kernel", "boosting"

FAMILY = {
    "ridge": "linear",
    "lasso": "linear",
    "logistic": "linear",
    "kernel_ridge": "kernel",
    "svc": "kernel",
    "lgbm": "boosting",
    "lgbm_classes": "boosting",
}


def family_of(name: str) -> str:
    """Return the family of a model, or of a problem that is named after it."""
    return FAMILY[name.split()[0]]
