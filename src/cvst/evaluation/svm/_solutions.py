"""Solved support vector machines, from either solver."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cvst._sklearn_compat import LibsvmModel
from cvst._typing import FloatArray, IntArray

__all__ = ["SvmSolution"]


class SvmSolution(NamedTuple):
    """A machine for each pair of classes; a regression has one.

    Attributes
    ----------
    coefficients : ndarray of shape (n_pairs_of_classes, n_train)
        Dual coefficients of all training rows.
    intercepts : ndarray of shape (n_pairs_of_classes,)
        Constants, positive in favour of the first class.
    n_iter : sequence of int
        Iterations per pair of classes.
    status : int
        1 if a fit was stopped by ``max_iter``.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    n_iter: Sequence[int]
    status: int

    @classmethod
    def of(cls, model: LibsvmModel, n_train: int, n_classes: int) -> SvmSolution:
        """Spread libsvm's coefficients over all training rows.

        Parameters
        ----------
        model : LibsvmModel
            What libsvm returned.
        n_train, n_classes : int
            Numbers of training rows and classes; two classes for a regression.
        """
        coefficients = np.zeros((n_classes * (n_classes - 1) // 2, n_train))
        if n_classes == 2:
            coefficients[0, model.support] = model.dual_coef[0]
        else:
            members = _slices(model.n_support)
            for row, (a, b) in zip(
                coefficients, combinations(range(n_classes), 2), strict=True
            ):
                # libsvm lists a support vector's coefficients against all classes but
                # its own.
                row[model.support[members[a]]] = model.dual_coef[b - 1, members[a]]
                row[model.support[members[b]]] = model.dual_coef[a, members[b]]
        return cls(coefficients, model.intercept, model.n_iter, model.status)

    def model(self, members: Sequence[IntArray]) -> LibsvmModel:
        """Return what libsvm would have returned.

        Parameters
        ----------
        members : sequence of ndarray
            Training rows of each class; for a regression all of them, and none.
        """
        # As in libsvm, a row that supports one pair of classes is listed for all.
        is_support = np.asarray(self.coefficients.any(axis=0))
        support = [rows[is_support[rows]] for rows in members]
        n_support = np.array([len(rows) for rows in support], np.int32)
        places = _slices(n_support)
        dual = np.zeros((len(members) - 1, int(n_support.sum())))
        for row, (a, b) in zip(
            self.coefficients, combinations(range(len(members)), 2), strict=True
        ):
            dual[b - 1, places[a]] = row[support[a]]
            dual[a, places[b]] = row[support[b]]
        empty = np.empty(0)
        return LibsvmModel(
            np.concatenate(support).astype(np.int32),
            # The support vectors, which ``libsvm_decisions`` gets apart from the model.
            np.empty((0, 0)),
            n_support,
            dual,
            self.intercepts,
            empty,
            empty,
            self.status,
            np.array(self.n_iter, np.int32),
        )


def _slices(lengths: Any) -> list[slice]:
    ends = np.cumsum(lengths)
    return [slice(end - n, end) for end, n in zip(ends, lengths, strict=True)]
