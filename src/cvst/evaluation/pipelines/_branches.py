"""Column transformers and feature unions: branches in common are fitted once.

A branch that was fitted before is replaced by a stand-in that hands out what is known.
The column transformer itself still selects, weighs, names and stacks the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion

from cvst.evaluation._rows import guarded
from cvst.evaluation.pipelines._categories import known_categories
from cvst.evaluation.sharing import value_key

__all__ = ["Branch", "Keep", "with_shared_branches"]


@dataclass(frozen=True, slots=True)
class Branch:
    """A fitted transformer and what it made of some rows.

    Attributes
    ----------
    transformer : estimator
        Fitted.
    rows : array-like
        Transformed.
    """

    transformer: Any
    rows: Any


# Returns what is kept under a key, made on first use.
Keep: TypeAlias = Callable[[Hashable, Callable[[], Branch]], Branch]


def with_shared_branches(transformer: Any, X: Any, keep: Keep) -> Any:
    """Return a transformer that looks for its branches among those kept.

    Parameters
    ----------
    transformer : estimator
        Unfitted; its list of branches is replaced if it is a column transformer or a
        feature union, anything else comes back as it is.
    X : array-like
        The rows that it will be fitted on.
    keep : callable
        Where branches on these rows are kept.
    """
    # Branches that work in parallel may have to travel, and what is kept does not.
    if getattr(transformer, "n_jobs", None) not in (None, 1):
        return transformer
    if type(transformer) is ColumnTransformer:
        branches = [
            (name, _stand_in(branch, _columns(columns, X), keep), columns)
            for name, branch, columns in transformer.transformers
        ]
        return transformer.set_params(transformers=branches)
    if type(transformer) is FeatureUnion:
        union = [
            (name, _stand_in(branch, None, keep))
            for name, branch in transformer.transformer_list
        ]
        return transformer.set_params(transformer_list=union)
    return transformer


def _columns(columns: Any, X: Any) -> Any:
    # Cloning copies selectors such as make_column_selector: what counts is what they
    # select.
    return columns(X) if callable(columns) else columns


def _stand_in(branch: Any, columns: Any, keep: Keep) -> Any:
    if isinstance(branch, str | type) or not hasattr(branch, "get_params"):
        return branch
    return _StandIn(branch, value_key(columns), keep)


class _StandIn:
    """Does and says what its transformer does and says, but not twice.

    It lives for one fit and one transformation of the test rows, so that both can be
    kept under the same key.
    """

    def __init__(self, transformer: Any, columns: Hashable, keep: Keep) -> None:
        self.transformer = transformer
        self.columns = columns
        self.keep = keep
        self.key: Hashable = None

    def __sklearn_clone__(self) -> _StandIn:
        return _StandIn(clone(self.transformer), self.columns, self.keep)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transformer, name)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the transformed training rows, and be fitted from now on."""
        # Only now are its parameters final: the output container is set last.
        self.key = value_key(self.transformer), self.columns
        branch = self.keep(("fit", self.key), partial(_fitted, self.transformer, X, y))
        self.transformer = branch.transformer
        return _own(branch.rows)

    def transform(self, X: Any) -> Any:
        """Return the transformed test rows."""
        make = partial(_fit_and_transform, self.transformer, X)
        return _own(self.keep(("transform", self.key), make).rows)


def _fitted(transformer: Any, X: Any, y: Any) -> Branch:
    known = known_categories(transformer, X)
    if known is not None:
        return Branch(*known)
    if hasattr(transformer, "fit_transform"):
        return Branch(transformer, transformer.fit_transform(X, y))
    return Branch(transformer, transformer.fit(X, y).transform(X))


def _fit_and_transform(transformer: Any, X: Any) -> Branch:
    return Branch(transformer, transformer.transform(X))


def _own(rows: Any) -> Any:
    """Return rows whose columns may be renamed in place, as happens to frames."""
    return rows if isinstance(rows, np.ndarray) else guarded(rows)
