"""Which values the estimator of a search takes, as far as anything is known of it."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from cvst._searched import FittedSearch
from cvst._sklearn_compat import declares, has_valid_parameters

__all__ = ["Allowed"]

# Estimators that pass their rows on to others, with other columns.
HAVE_PARTS = ("steps", "transformers", "transformer_list")


class Allowed:
    """Answers for the parameters of a search's estimator, under their short names.

    Parameters
    ----------
    search : FittedSearch, optional
        Without one nothing is known.
    path : str
        What all names of its parameters begin with, and is left out of them.
    """

    def __init__(self, search: FittedSearch | None = None, path: str = "") -> None:
        self._path = path
        self._parts: dict[str, Any] = {}
        if search is None:
            return
        # Fitted, it knows its columns; without a final fit a step may be searched.
        model = getattr(search, "best_estimator_", None)
        if model is None:
            winner = clone(search.best_params_, safe=False)
            model = clone(search.estimator).set_params(**winner)
        self._parts = {"": model, **model.get_params()}

    def allows(self, name: str, value: Any) -> bool | None:
        """Return whether a parameter may have a value, None if that is not known."""
        owner, own = self._owner(name)
        if not declares(owner, own):
            return None
        return has_valid_parameters(clone(owner).set_params(**{own: value}))

    def n_columns(self, name: str) -> int | None:
        """Return the number of columns that the owner of a parameter sees, or None."""
        place = (self._path + name).split("__")
        for length in range(len(place) - 1, -1, -1):
            # A part of an ensemble or of a wrapper sees the columns of the whole.
            owner = self._parts.get("__".join(place[:length]))
            if any(hasattr(owner, parts) for parts in HAVE_PARTS):
                return None
            n_columns = getattr(owner, "n_features_in_", None)
            if n_columns is not None:
                return int(n_columns)
        return None

    def _owner(self, name: str) -> tuple[Any, str]:
        path, _, own = (self._path + name).rpartition("__")
        return self._parts.get(path), own
