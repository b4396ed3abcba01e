"""A model that predicts all test rows once, however many blocks of them are scored."""

from __future__ import annotations

from copy import copy
from functools import update_wrapper
from typing import Any

from cvst._typing import IntArray
from cvst.evaluation._protocol import FittedModel
from cvst.evaluation._rows import copied_rows, take

__all__ = ["remembering"]

METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score_samples",
)


class _Once:
    """A method that is asked about all rows once and answers for blocks of them."""

    def __init__(self, method: Any, X: Any) -> None:
        # Scorers of scikit-learn ask a method for its name.
        update_wrapper(self, method)
        self.method, self.X = method, X
        self.block: Any = None
        self.rows: IntArray | None = None
        self._known: Any = None

    def __call__(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer for the rows of the look; all else goes to the model itself."""
        whole = X is self.X
        if args or kwargs or not (whole or (X is self.block and X is not None)):
            return self.method(X, *args, **kwargs)
        if self._known is None:
            self._known = self.method(self.X)
        return copied_rows(self._known, None if whole else self.rows)


class _Remembering(FittedModel):
    """A model and all test rows; some of them come with what is known of them."""

    __slots__ = ()

    def at(self, rows: IntArray) -> FittedModel:
        """Return the model with some of the rows."""
        block = take(self.X, rows)
        for name in METHODS:
            method = vars(self.model).get(name)
            if isinstance(method, _Once):
                method.block, method.rows = block, rows
        return FittedModel(self.model, block)


def remembering(fitted: FittedModel) -> FittedModel:
    """Return a copy of the model that predicts each test row once.

    To predict a block by itself takes as long as to check its input, many times. A
    row's prediction does not depend on the rows beside it, so blocks get their part of
    the prediction of all rows. Whatever cannot be copied is asked as it is.
    """
    if type(fitted) is not FittedModel:
        return fitted
    try:
        model = copy(fitted.model)
        for name in METHODS:
            if hasattr(fitted.model, name):
                setattr(model, name, _Once(getattr(fitted.model, name), fitted.X))
    except Exception:  # a foreign model may refuse any of this
        return fitted
    return _Remembering(model, fitted.X) if hasattr(model, "__dict__") else fitted
