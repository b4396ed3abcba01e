"""Kernel logistic regression as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cvst._sklearn_compat import Interval, StrOptions, fit_context
from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.learners._irls import IRLSResult, solve_irls

__all__ = ["KernelLogisticRegression"]


class KernelLogisticRegression(ClassifierMixin, BaseEstimator):
    r"""Logistic regression in the feature space of a kernel, without intercept.

    Minimises the sum of the log losses plus :math:`\frac{\alpha}{2} \|f\|^2`. Two
    classes are fitted as in the R package of the paper's authors, whose penalty
    :math:`\lambda` is ``alpha / n_samples``. More than two are fitted one against the
    rest, since each such problem is then that very learner; their probabilities are
    divided by their sum.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, larger than 0. As in
        :class:`~sklearn.kernel_ridge.KernelRidge` it is not divided by the number of
        rows.
    kernel : str or callable, default="rbf"
        A kernel of :func:`~sklearn.metrics.pairwise.pairwise_kernels`, a function of
        two rows, or "precomputed". It must be positive semi-definite.
    gamma : float, default=None
        Parameter of the kernels that have one; None is 1 / n_features.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Arguments of a kernel that is a function.
    tol : float, default=1e-6
        The iteration ends when no coefficient changes by more.
    max_iter : int, default=100
        Largest number of iterations, each of which solves one linear system.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The decision function is the kernel times these; one column if there are two
        classes.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training data, or the kernel matrix if ``kernel="precomputed"``.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Iterations of each fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Only if the features have names.

    Notes
    -----
    Steps that would make the objective worse are shortened. The R package takes them,
    and some of its fits with hardly any penalty end in overflow; there this class finds
    the minimum and the package does not.

    Of two classes the second is predicted where its probability, a double, is at least
    one half. Far from all training rows the decision function is 0 up to rounding, and
    so the second class wins there, as in the R package.

    Examples
    --------
    >>> from cvst.datasets import make_noisy_sine
    >>> X, y = make_noisy_sine(200, random_state=0)
    >>> model = KernelLogisticRegression(alpha=0.1, gamma=1.0).fit(X, y)
    >>> model.predict([[1.5], [4.5]])
    array([1, 0])
    >>> model.predict_proba([[1.5], [4.5]]).round(2)
    array([[0.04, 0.96],
           [0.98, 0.02]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter

    @fit_context()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of the losses.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, accept_sparse=self._accept_sparse(), dtype=np.float64
        )
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidInputError(
                f"y has one class only, {self.classes_[0]!r}; a classifier needs at "
                "least two. Give it rows of another class."
            )
        weights = _check_weights(sample_weight, X)
        kernel_matrix = self._training_kernel(X)
        # Two classes need one problem, the other being its mirror image.
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        results = [
            self._solve(kernel_matrix, labels == label, weights) for label in positive
        ]
        self._warn_unless_converged(results)
        columns = np.column_stack([result.coefficients for result in results])
        self.dual_coef_ = columns[:, 0] if len(results) == 1 else columns
        self.n_iter_ = np.array([result.n_iter for result in results])
        # Kept whole: every row has a coefficient, unlike in a support vector machine.
        self.X_fit_ = X
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or of each class against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernel="precomputed"`` the kernel between these and training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column if there are two classes.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse=self._accept_sparse(), dtype=np.float64, reset=False
        )
        return np.asarray(self._kernel(X, self.X_fit_) @ self.dual_coef_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        decision = self.decision_function(X)
        if decision.ndim == 1:
            return np.column_stack([expit(-decision), expit(decision)])
        # Subtracting the largest log keeps the sum above 0 where all underflow.
        logs = -np.logaddexp(0.0, -decision)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Any:
        """Return the most probable classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        if decision.ndim == 1:
            # Not the sign of the decision: see the notes of the class.
            return self.classes_[(expit(decision) >= 0.5).astype(np.intp)]
        return self.classes_[decision.argmax(axis=1)]

    def _accept_sparse(self) -> str | bool:
        return False if self.kernel == "precomputed" else "csr"

    def _kernel(self, X: Any, Y: Any = None) -> Any:
        if callable(self.kernel):
            params = self.kernel_params or {}
        else:
            # All three always: filter_params leaves out what a kernel does not take.
            params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **params)

    def _training_kernel(self, X: Any) -> FloatArray:
        # The solver wants C order, and a given kernel may have another.
        kernel_matrix = np.ascontiguousarray(self._kernel(X), dtype=np.float64)
        # Others are symmetric as pairwise_kernels computes them.
        if self.kernel == "precomputed" and not np.allclose(
            kernel_matrix, kernel_matrix.T
        ):
            raise InvalidInputError(
                "X is not symmetric, but kernel='precomputed' says that it holds the "
                "kernel between all pairs of training rows. Give it that matrix."
            )
        return kernel_matrix

    def _solve(
        self, kernel_matrix: FloatArray, y: Any, weights: FloatArray | None
    ) -> IRLSResult:
        try:
            return solve_irls(
                kernel_matrix,
                y,
                self.alpha,
                self.tol,
                self.max_iter,
                sample_weight=weights,
            )
        except np.linalg.LinAlgError as error:
            raise InvalidInputError(
                f"kernel={self.kernel!r} gives a matrix that is not positive "
                f"semi-definite enough for alpha={self.alpha}. Raise alpha or take "
                "another kernel."
            ) from error

    def _warn_unless_converged(self, results: list[IRLSResult]) -> None:
        n_failed = sum(not result.converged for result in results)
        if n_failed:
            warnings.warn(
                f"{n_failed} of {len(results)} fits did not converge within "
                f"max_iter={self.max_iter} iterations to tol={self.tol}. Raise "
                f"max_iter, tol or alpha={self.alpha}.",
                ConvergenceWarning,
                # Past this method, fit and the wrapper of fit, to the line of the user.
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse())
        # Splitters must then cut columns as well as rows.
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _check_weights(sample_weight: Any, X: Any) -> FloatArray | None:
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        weights = np.full(X.shape[0], float(sample_weight))
    else:
        weights = check_array(
            sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
        )
    if weights.ndim != 1:
        raise InvalidInputError(
            f"sample_weight has the shape {weights.shape}; it must have one dimension."
        )
    check_consistent_length(X, weights)
    if weights.min() < 0 or not weights.any():
        raise InvalidInputError(
            f"sample_weight runs from {weights.min()} to {weights.max()}; no weight "
            "may be negative, and not all may be zero."
        )
    return np.asarray(weights, dtype=np.float64)
