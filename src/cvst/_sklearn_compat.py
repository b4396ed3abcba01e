"""The only module that touches private names of scikit-learn.

Everything here works with scikit-learn 1.7 and later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from inspect import getattr_static, signature
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator, _fit_context
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _Scorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import _libsvm
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, StrOptions
from sklearn.utils.metadata_routing import _routing_enabled, process_routing
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import _num_samples

__all__ = [
    "CARRIED",
    "SEARCH_CONSTRAINTS",
    "BaseSearchCV",
    "CallbackTree",
    "HasMethods",
    "Hidden",
    "Interval",
    "LibsvmModel",
    "ScorerParts",
    "StrOptions",
    "asked_by",
    "changed_parameters",
    "check_parameters",
    "declares",
    "deep_parameters",
    "fit_context",
    "has_callbacks",
    "has_valid_parameters",
    "libsvm_decisions",
    "libsvm_fit",
    "multimetric_scorer",
    "num_samples",
    "one_against_rest",
    "own_parameters",
    "plain_parameters",
    "plain_pipeline",
    "routed_fit_params",
    "routed_score_params",
    "routing_enabled",
    "safe_indexing",
    "scorer_parts",
    "searches_a_tree",
]

# What a clone carries over besides the parameters.
CARRIED = "_metadata_request", "_skl_callbacks", "_sklearn_output_config"


# What scikit-learn's searches allow for their parameters.
SEARCH_CONSTRAINTS: dict[str, Any] = BaseSearchCV._parameter_constraints

# What a scorer object does when it is called.
CALLED = "__call__", "_score"


def fit_context() -> Callable[..., Any]:
    """Return the decorator that validates parameters and closes callbacks."""
    decorator: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=False)
    return decorator


def num_samples(values: Any) -> int:
    """Return the number of rows of anything that has rows."""
    return int(_num_samples(values))


def safe_indexing(values: Any, rows: Any) -> Any:
    """Return rows of an array, a list, a sparse matrix or a frame of any kind."""
    return _safe_indexing(values, rows)


def routing_enabled() -> bool:
    """Return whether scikit-learn passes on what is requested, and nothing else."""
    return bool(_routing_enabled())


def routed_fit_params(
    search: BaseSearchCV, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, Any]]]:
    """Return what the estimator's ``fit`` gets, what the score and other scores get.

    Without metadata routing everything goes to ``fit``, and ``sample_weight`` to all
    scores; with routing, what was requested goes where it was requested. Other scores
    are there by name only if they may get something else than the one raced on.
    """
    if not _routing_enabled():
        # As GridSearchCV does it, which passes weights on to scorers that take them.
        weights = {k: v for k, v in params.items() if k == "sample_weight"}
        return dict(params), weights, {}
    routed = process_routing(search, "fit", **params)
    fitted, scored = dict(routed.estimator.fit), dict(routed.scorer.score)
    scorer, raced = search._get_scorers()
    if not isinstance(scorer, _MultimetricScorer):
        return fitted, scored, {}
    each = process_routing(scorer, "score", **scored)
    others = {name: dict(each[name].score) for name in scorer._scorers}
    return fitted, others.pop(raced), others


def routed_score_params(
    search: BaseSearchCV, name: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Return what one of several scores gets of the arguments of ``score``."""
    routed = dict(process_routing(search, "score", **params).scorer.score)
    each = process_routing(search._get_scorers()[0], "score", **routed)
    return dict(each[name].score)


def multimetric_scorer(scorers: Mapping[str, Any]) -> Any:
    """Return several scorers as one that metadata can be routed through."""
    return _MultimetricScorer(scorers=dict(scorers))


class ScorerParts(NamedTuple):
    """What a scorer object is made of."""

    function: Callable[..., Any]
    sign: int
    kwargs: Mapping[str, Any]
    responses: tuple[str, ...]


def scorer_parts(scorer: Any) -> ScorerParts | None:
    """Take a scorer object apart; None if it is anything else."""
    if not isinstance(scorer, _BaseScorer):
        return None
    own = type(scorer)
    if any(getattr(own, n, None) is not getattr(_Scorer, n) for n in CALLED):
        return None  # a class of the user's counts in a way of its own
    function, kwargs = scorer._score_func, dict(scorer._kwargs)
    # What was fixed by the scorer wins over what the partial had fixed before.
    while isinstance(function, partial):
        kwargs = {**function.keywords, **kwargs}
        function = function.func
    response = scorer._response_method
    responses = (response,) if isinstance(response, str) else tuple(response)
    return ScorerParts(function, scorer._sign, kwargs, responses)


class CallbackTree:
    """Reports the looks of a race to scikit-learn's callbacks, where they exist.

    Parameters
    ----------
    search : estimator
        The search being fitted.
    n_tasks : int
        Most looks and refits to expect. A strategy that makes more than it planned
        is not held up: from then on the number is unknown.
    """

    def __init__(
        self, search: BaseSearchCV, n_tasks: int, X: Any, y: Any, metadata: Any
    ) -> None:
        self._left = n_tasks
        self._call = {"estimator": search, "X": X, "y": y, "metadata": metadata}
        # scikit-learn has callbacks since 1.9; before, all of this does nothing.
        start = getattr(search, "_init_callback_context", None)
        self._root = None if start is None else start(max_subtasks=n_tasks)
        self._current: Any = None
        if self._root is not None:
            self._root.call_on_fit_task_begin(**self._call)

    def begin(self, name: str) -> None:
        """Open a task under the root."""
        if self._root is not None:
            self._current = self._task(self._root, name)
            self._current.call_on_fit_task_begin(**self._call)

    def end(self) -> bool:
        """Close the open task; True if a callback asks to stop."""
        if self._current is None:
            return False
        stop = self._current.call_on_fit_task_end(**self._call)
        self._current = None
        return bool(stop)

    def fit(self, model: Any, X: Any, y: Any, params: dict[str, Any]) -> None:
        """Fit the winner as a task of its own that passes callbacks on."""
        arguments = (X,) if y is None else (X, y)
        if self._root is None:
            model.fit(*arguments, **params)
            return
        task = self._task(self._root, "refit-with-best-params")
        with task.propagate_callback_context(model):
            task.call_on_fit_task_begin(**self._call)
            model.fit(*arguments, **params)
        task.call_on_fit_task_end(**self._call)

    def _task(self, root: Any, name: str) -> Any:
        self._left -= 1
        if self._left < 0:
            # A race may take more looks than planned, and scikit-learn refuses a task
            # beyond the announced number; None says that the number is open.
            root.max_subtasks = None
        return root.subcontext(task_name=name)

    def close(self) -> None:
        """Close the root."""
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._call)


def has_callbacks(estimator: Any) -> bool:
    """Return whether callbacks were set on an estimator or on a part of it."""
    own = getattr(estimator, "__dict__", {}).values()
    if all(value is None or isinstance(value, int | float | str) for value in own):
        # It has no parts, and asking for them is slow.
        return False
    parts = (estimator, *estimator.get_params(deep=True).values())
    return any(getattr(part, "_skl_callbacks", None) for part in parts)


def plain_parameters(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters of an estimator that is nothing but these.

    None where a clone has more to do: for estimators that are not scikit-learn's own,
    or that carry over requests, callbacks or an output format.
    """
    kind: Any = type(estimator)
    names = _names_of(kind) if kind.__module__.startswith(OURS[0]) else ()
    if not names or any(name in vars(estimator) for name in CARRIED):
        return None
    return {name: getattr(estimator, name) for name in names}


def plain_pipeline(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters of a pipeline that is nothing but these and its steps.

    None for anything else, and where a clone has more to do.
    """
    if type(estimator) is not Pipeline:
        return None
    if any(name in vars(estimator) for name in CARRIED):
        return None
    own = {name: getattr(estimator, name) for name in _STEPS_NAMES}
    steps = own["steps"]
    is_usual = isinstance(steps, list) and all(
        isinstance(step, tuple)
        and len(step) == 2
        and isinstance(step[0], str)
        and isinstance(step[1], BaseEstimator)
        for step in steps
    )
    return own if is_usual else None


def own_parameters(estimator: Any) -> dict[str, Any]:
    """Return what ``get_params(deep=False)`` does, in less time.

    To ask a class for the names of its parameters takes longer than all the rest.
    """
    kind: Any = type(estimator)
    # A pipeline has those of its steps besides, but not as its own.
    names = _STEPS_NAMES if kind is Pipeline else _names_read_by(kind)
    if not names:
        params: dict[str, Any] = estimator.get_params(deep=False)
        return params
    return {name: getattr(estimator, name) for name in names}


def deep_parameters(estimator: Any) -> dict[str, Any]:
    """Return what ``get_params(deep=True)`` does, in less time."""
    kind: Any = type(estimator)
    names = _names_read_by(kind)
    if not names:
        params: dict[str, Any] = estimator.get_params(deep=True)
        return params
    params = {name: getattr(estimator, name) for name in names}
    for name in names:
        if hasattr(params[name], "get_params") and not isinstance(params[name], type):
            inner = deep_parameters(params[name])
            params |= {f"{name}__{key}": value for key, value in inner.items()}
    return params


def changed_parameters(
    estimator: Any, text: Callable[[Any], str] = repr
) -> dict[str, Any] | None:
    """Return the parameters that are not as the class has them; for ``repr``.

    None where that is not told by the class: for estimators that are not
    scikit-learn's own or ours, or that write themselves in another way. Values are
    compared by their text.
    """
    kind: Any = type(estimator)
    defaults = _defaults_of(kind)
    if defaults is None or not defaults.keys() <= vars(estimator).keys():
        return None
    own = {name: getattr(estimator, name) for name in sorted(defaults)}
    return {
        name: value
        for name, value in own.items()
        if value is not defaults[name]
        and (hasattr(value, "get_params") or text(value) != text(defaults[name]))
    }


# Packages whose classes are what their signatures say.
OURS = "sklearn.", "cvst."

_STEPS_NAMES = tuple(Pipeline._get_param_names())


@lru_cache(maxsize=128)
def _names_of(kind: Any) -> tuple[str, ...]:
    """Return the parameters of a class that keeps to scikit-learn's conventions."""
    names = _names_read_by(kind) if kind.__module__.startswith(OURS) else ()
    return names if _inherits(kind, "set_params", "__sklearn_clone__") else ()


@lru_cache(maxsize=128)
def _names_read_by(kind: Any) -> tuple[str, ...]:
    """Return what ``get_params`` of a class reads, where it has scikit-learn's own."""
    is_usual = _inherits(kind, "get_params", "_get_param_names")
    return tuple(kind._get_param_names()) if is_usual else ()


def _inherits(kind: Any, *methods: str) -> bool:
    """Return whether a class has these methods from scikit-learn's base class."""
    return all(
        getattr_static(kind, name, None) is getattr_static(BaseEstimator, name)
        for name in methods
    )


@lru_cache(maxsize=128)
def _defaults_of(kind: Any) -> dict[str, Any] | None:
    """Return the defaults of a class that is written as scikit-learn writes them."""
    written = getattr_static(kind, "__repr__", None)
    is_usual = written is getattr_static(BaseEstimator, "__repr__")
    # Our searches do so where scikit-learn cannot.
    is_usual |= str(getattr(written, "__module__", "")).startswith(OURS[1])
    if not (is_usual and kind.__module__.startswith(OURS)):
        return None
    parameters = signature(kind).parameters
    return {name: one.default for name, one in parameters.items()}


class LibsvmModel(NamedTuple):
    """What libsvm returns from a fit, in its order.

    Attributes
    ----------
    support : ndarray of shape (n_support,), int32
        Rows with a coefficient.
    support_vectors : ndarray
        Empty, since the kernel was precomputed.
    n_support : ndarray of shape (n_classes,), int32
        Support vectors per class.
    dual_coef : ndarray of shape (n_classes - 1, n_support)
        Coefficients of each class against the others.
    intercept : ndarray of shape (n_pairs_of_classes,)
        Constants, in the order of ``dual_coef`` and not flipped for two classes.
    prob_a, prob_b : ndarray
        Empty, since no probabilities were asked for.
    status : int
        1 if the fit was stopped by ``max_iter``.
    n_iter : ndarray
        Iterations per pair of classes.
    """

    support: Any
    support_vectors: Any
    n_support: Any
    dual_coef: Any
    intercept: Any
    prob_a: Any
    prob_b: Any
    status: int
    n_iter: Any


def libsvm_fit(kernel_matrix: Any, y: Any, **settings: Any) -> LibsvmModel:
    """Fit a support vector machine on a kernel matrix, without any validation.

    The matrix and the targets must be C-contiguous and in double precision.
    """
    # The solver prints on its way unless told not to, in every new process.
    _libsvm.set_verbosity_wrap(0)
    return LibsvmModel(*_libsvm.fit(kernel_matrix, y, kernel="precomputed", **settings))


def libsvm_decisions(
    X: Any, model: LibsvmModel, support_vectors: Any, **kernel: Any
) -> Any:
    """Return libsvm's own decision values, one column per pair of classes."""
    return _libsvm.decision_function(
        X,
        model.support,
        support_vectors,
        model.n_support,
        model.dual_coef,
        model.intercept,
        **kernel,
    )


def one_against_rest(decisions: Any, n_classes: int) -> Any:
    """Turn decisions between pairs of classes into one column per class."""
    # As SVC does it: between two classes libsvm's sign is the opposite.
    return _ovr_decision_function(decisions < 0, -decisions, n_classes)


def searches_a_tree(neighbours: Any) -> bool:
    """Return whether a fitted neighbour model searches a tree rather than all rows."""
    return getattr(neighbours, "_tree", None) is not None


def asked_by(scorer: Any) -> Any:
    """Return the estimator whose ``score`` a scorer asks, None if it does not."""
    return getattr(scorer, "_estimator", None)


def check_parameters(estimator: Any) -> None:
    """Raise an error for a parameter of a kind that its class does not allow."""
    estimator._validate_params()


def declares(estimator: Any, name: str) -> bool:
    """Return whether the class of an estimator says which values a parameter takes."""
    constraints = getattr(type(estimator), "_parameter_constraints", None)
    return isinstance(constraints, Mapping) and name in constraints


def has_valid_parameters(model: Any) -> bool:
    """Return whether a model's parameters are of the kinds that its class allows."""
    try:
        check_parameters(model)
    except ValueError:
        return False
    return True
