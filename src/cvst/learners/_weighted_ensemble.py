"""Weighted means of several models, as estimators of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from cvst._targets import Targets
from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

__all__ = ["WeightedEnsembleClassifier", "WeightedEnsembleRegressor"]


class _WeightedEnsemble(MetaEstimatorMixin, BaseEstimator):
    """What both kinds have in common."""

    # What a member must be able to do.
    _method = "predict"

    def __init__(
        self, members: Sequence[Any], weights: Sequence[float] | None = None
    ) -> None:
        self.members = members
        self.weights = weights

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit a clone of every member on all rows.

        Parameters
        ----------
        X, y : array-like
            Training rows and targets.
        **params : dict
            Passed on to the ``fit`` of every member, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        return self.fit_others({}, X, y, **params)

    def fit_others(
        self, fitted: Mapping[int, Any], X: Any, y: Any, **params: Any
    ) -> Self:
        """Do what ``fit`` does, but take some members as they are.

        Parameters
        ----------
        fitted : mapping of int to estimator
            Members that are fitted on these rows already, by their place.
        X, y, **params
            As for ``fit``.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        # Before the members are fitted, which may take hours.
        weights = self._checked_weights()
        self.estimators_ = [
            fitted[place] if place in fitted else clone(one).fit(X, y, **params)
            for place, one in enumerate(self.members)
        ]
        self.weights_ = weights
        # Taken from a member: the rows were not checked here and may be of any kind.
        first = self.estimators_[0]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        return self

    def _checked_weights(self) -> FloatArray:
        """Return weights that add up to one."""
        members = list(self.members)
        if not members:
            raise InvalidInputError(
                "members=[] has nothing to average. Give at least one estimator."
            )
        for one in members:
            # Some have the method only at times, such as SVC with probability=True.
            if not hasattr(one, self._method):
                raise InvalidInputError(
                    f"{type(one).__name__} has no {self._method}, which "
                    f"{type(self).__name__} averages. Leave this member out."
                )
        if self.weights is None:
            return np.full(len(members), 1 / len(members))
        weights = np.asarray(self.weights, dtype=float)
        valid = weights.shape == (len(members),) and np.all(np.isfinite(weights))
        if not valid or np.any(weights < 0) or not np.any(weights > 0):
            raise InvalidInputError(
                f"weights={self.weights!r} does not fit {len(members)} members. Give "
                "one number for each, none below 0 and not all 0."
            )
        shares: FloatArray = weights / weights.sum()
        return shares

    def _answers(self, method: str, X: Any) -> list[Any]:
        check_is_fitted(self)
        return [getattr(model, method)(X) for model in self.estimators_]

    def _mean(self, answers: Sequence[Any]) -> FloatArray:
        mean: FloatArray = np.tensordot(self.weights_, np.array(answers), axes=1)
        return mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = [get_tags(one) for one in self.members]
        tags.input_tags.sparse = all(one.input_tags.sparse for one in members)
        tags.input_tags.allow_nan = all(one.input_tags.allow_nan for one in members)
        return tags


class WeightedEnsembleClassifier(ClassifierMixin, _WeightedEnsemble):
    """A weighted mean of the probabilities of several classifiers.

    Parameters
    ----------
    members : sequence of classifiers
        Unfitted; each has ``predict_proba``.
    weights : sequence of float, default=None
        One weight for each member, equal ones by default. Only their ratios count.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members, fitted on all rows.
    weights_ : ndarray of shape (n_members,)
        Weights that add up to one.
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        Class labels; for several targets a list with those of each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [LogisticRegression(max_iter=500), GaussianNB()]
    >>> ensemble = WeightedEnsembleClassifier(members, weights=[3, 1]).fit(X, y)
    >>> ensemble.predict(X[:2])
    array([0, 0])
    """

    _method = "predict_proba"

    # The classes of several targets; None for one.
    _targets: Targets | None = None

    def fit_others(
        self, fitted: Mapping[int, Any], X: Any, y: Any, **params: Any
    ) -> Self:
        """Do what ``fit`` does, but take the members in ``fitted`` as they are."""
        super().fit_others(fitted, X, y, **params)
        self._targets = Targets.of(y)
        if self._targets is not None:
            self.classes_: Any = list(self._targets.classes)
            return self
        # All members saw the same labels, and classifiers keep them sorted.
        self.classes_ = self.estimators_[0].classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the weighted mean of the members' probabilities.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or list of them
            A column for each of ``classes_``. For several targets a list with a table
            for each, or, if no member gives a list, one table with a column for each
            target, the probability of its second class.
        """
        answers = self._answers("predict_proba", X)
        if self._targets is None:
            return self._mean(answers)
        return self._targets.shaped_like(answers).answer(self._columns(answers))

    def predict(self, X: Any) -> Any:
        """Return the class with the largest mean probability.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            Class labels.
        """
        answers = self._answers("predict_proba", X)
        if self._targets is not None:
            return self._targets.labels(self._columns(answers))
        likeliest = self._mean(answers).argmax(axis=1)
        return self.classes_[likeliest]

    def _columns(self, answers: Sequence[Any]) -> FloatArray:
        """Return the mean of all targets' columns beside each other."""
        targets: Any = self._targets
        pairs = zip(answers, self.estimators_, strict=True)
        return self._mean(
            [
                targets.columns(answer, getattr(model, "classes_", None))
                for answer, model in pairs
            ]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = [get_tags(one) for one in self.members]
        labels = [one.classifier_tags for one in members]
        tags.target_tags.multi_output = all(
            one.target_tags.multi_output for one in members
        )
        tags.classifier_tags.multi_label = all(
            one is not None and one.multi_label for one in labels
        )
        return tags


class WeightedEnsembleRegressor(RegressorMixin, _WeightedEnsemble):
    """A weighted mean of the predictions of several regressors.

    Parameters
    ----------
    members : sequence of regressors
        Unfitted.
    weights : sequence of float, default=None
        One weight for each member, equal ones by default. Only their ratios count.

    Attributes
    ----------
    estimators_ : list of regressors
        The members, fitted on all rows.
    weights_ : ndarray of shape (n_members,)
        Weights that add up to one.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> members = [DummyRegressor(strategy="constant", constant=c) for c in (0, 10)]
    >>> ensemble = WeightedEnsembleRegressor(members, weights=[3, 1])
    >>> ensemble.fit([[0], [1]], [0, 10]).predict([[0]])
    array([2.5])
    """

    def fit_others(
        self, fitted: Mapping[int, Any], X: Any, y: Any, **params: Any
    ) -> Self:
        """Do what ``fit`` does, but take the members in ``fitted`` as they are."""
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] == 1:
            # Some members would predict a column, others numbers.
            y = column_or_1d(y, warn=True)
        return super().fit_others(fitted, X, y, **params)

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted mean of the members' predictions.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            The means.
        """
        return self._mean(self._answers("predict", X))
