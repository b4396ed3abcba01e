"""Do scoring, strategy and estimator go together? Known before any fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline

from cvst._typing import Configuration
from cvst._users_line import users_line
from cvst.evaluation import PointwiseLoss
from cvst.evaluation.machinery import MODEL, configured
from cvst.exceptions import CVSTWarning, InvalidInputError
from cvst.parallel import called_within
from cvst.race import Strategy
from cvst.search._log import LOGGER

__all__ = ["asked_within", "check_scoring_fits", "warn_of_no_bound"]

T = TypeVar("T")


def asked_within(
    seconds: float | None, question: Callable[[PointwiseLoss, Any], T], *about: Any
) -> T | None:
    """Ask something about a loss and targets before any fit.

    Parameters
    ----------
    seconds : float or None
        What a loss of the user's, which may hang, can take; None for no limit.
    question : callable
        Calls the loss.
    *about : PointwiseLoss, array-like
        The loss and the targets.

    Returns
    -------
    object
        The answer; None if there is none within the limit.
    """
    if seconds is None or not _calls_the_user(about[0]):
        return question(*about)
    answer = called_within(seconds, partial(question, *about))
    if answer is None:
        LOGGER.info(
            "%s has no loss of a made-up prediction within fit_timeout=%g seconds: the "
            "race does without it",
            about[0].name,
            seconds,
        )
    return answer


def _calls_the_user(loss: PointwiseLoss) -> bool:
    """Return whether a loss is, or calls, a function that is not known here."""
    if loss.response not in ("predict", "predict_proba", "decision_function"):
        return False  # nobody makes up models or densities
    kind = type(loss)
    is_ours = kind is not PointwiseLoss and kind.__module__.startswith("cvst.")
    return loss.is_asked or not is_ours


def check_scoring_fits(
    strategy: Strategy,
    loss: PointwiseLoss,
    y: Any,
    estimator: Any,
    configurations: Sequence[Configuration],
    others: Iterable[PointwiseLoss] = (),
    seconds: float | None = None,
) -> None:
    """Refuse what would fail at the first look, where that can be known.

    What cannot be known without a fit passes, and is refused there.

    Parameters
    ----------
    strategy : Strategy
        The strategy of the race.
    loss : PointwiseLoss
        What is compared.
    y : array-like or None
        Targets.
    estimator : estimator
        What is fitted.
    configurations : sequence of dict
        The grid.
    others : iterable of PointwiseLoss
        What is recorded besides.
    seconds : float or None
        What a loss of the user's can take.
    """
    # A first look may take minutes, and its error would come out of a worker.
    if strategy.row_test is not None and not loss.rankable:
        raise InvalidInputError(
            f"similarity={strategy.row_test!r} ranks or counts the losses of single "
            f"rows, but {loss.name!r} is a score of all rows together. Use "
            "similarity='auto'."
        )
    test = strategy.binary_test
    if test is not None and asked_within(seconds, _is_binary, loss, y) is False:
        raise InvalidInputError(
            f"similarity={test!r} compares losses of 0 and 1, but {loss.name!r} has "
            "others. Use similarity='friedman' or 'kruskal_wallis'."
        )
    if strategy.needs_residuals and not _has_residuals(loss, y):
        raise InvalidInputError(
            "similarity='outliers' needs signed residuals, which exist only for "
            f"regression with one output, not for {loss.name!r} here. Use "
            "similarity='auto'."
        )
    for one in (loss, *others):
        _check_response(one, estimator, configurations)
        _check_decisions(one, estimator, configurations)


def warn_of_no_bound(
    strategy: Strategy, loss: PointwiseLoss, weights: Any, groups: Any, cv: Any
) -> None:
    """Warn where a level for the whole race is asked for, and nothing proves it.

    Parameters
    ----------
    strategy : Strategy
        The strategy of the race.
    loss : PointwiseLoss
        What is compared.
    weights, groups : array-like or None
        Of the rows.
    cv : object
        Of the search: folds that go forward in time say that the rows do.
    """
    if not strategy.bounds_run:
        return
    holding = {
        f"{loss.name!r} belongs to all rows together": not loss.rankable,
        "with sample_weight rows do not count alike": weights is not None,
        "rows of a group depend on each other": groups is not None,
        "rows in the order of time depend on each other": isinstance(
            cv, TimeSeriesSplit
        ),
    }
    reasons = [why for why, holds in holding.items() if holds]
    if reasons:
        warnings.warn(
            f"level={strategy.level:g} does not bound this whole race: "
            f"{', '.join(reasons)}. The race runs as it would, but the best "
            "configuration may be dropped more often than the level says. The bound "
            "is proved for independent rows that count alike and a mean over "
            "rows, such as accuracy.",
            CVSTWarning,
            stacklevel=users_line(),
        )


def _check_response(
    loss: PointwiseLoss, estimator: Any, configurations: Sequence[Configuration]
) -> None:
    """Refuse a score of what no configuration can predict."""
    response = loss.response
    if response == MODEL:
        return
    if _lacks(estimator, response) and all(
        _lacks(configured(estimator, one), response) for one in configurations
    ):
        raise InvalidInputError(
            f"scoring {loss.name!r} asks for {response}, which "
            f"{type(_last_step(estimator)).__name__} does not have as it is set. "
            "Choose another score or another estimator."
        )


def _check_decisions(
    loss: PointwiseLoss, estimator: Any, configurations: Sequence[Configuration]
) -> None:
    """Refuse decisions between pairs of classes where there must be one per class.

    Of three classes there are three pairs, so the number of columns does not tell.
    """
    shape = getattr(_last_step(estimator), "decision_function_shape", None)
    if shape is None or loss.response != "decision_function":
        return
    own = loss.is_asked or type(loss) is PointwiseLoss
    if own or loss.classes is None or len(loss.classes) < 3:
        return
    values = [item for one in configurations for item in one.items()]
    given = [
        value for name, value in values if name.endswith("decision_function_shape")
    ]
    if "ovo" in (given or [shape]):
        raise InvalidInputError(
            f"{loss.name!r} needs a decision for each class, and decision_function_"
            "shape='ovo' makes one for each pair. Set decision_function_shape='ovr'."
        )


def _is_binary(loss: PointwiseLoss, y: Any) -> bool | None:
    """Return whether a made-up prediction has losses of 0 and 1; None if unknown."""
    for prediction in _made_up(loss, np.asarray(y)):
        # A loss may dislike what no model would predict.
        with suppress(Exception):
            losses = loss.losses(y, prediction, loss.classes)
            return bool(np.isin(losses, (0.0, 1.0)).all())
    return None


def _made_up(loss: PointwiseLoss, truth: Any) -> Iterator[Any]:
    """Predict without a model: equal chances, a constant, or another row's label."""
    if loss.response == "predict_proba" and loss.classes is not None:
        n_classes = len(loss.classes)
        yield np.full((len(truth), n_classes), 1 / n_classes)
    if loss.response != "predict" or truth.ndim == 0:
        return
    if loss.classes is None and truth.dtype.kind in "iuf":
        # Not the mean: of two numbers alike often, its losses are all 1 by chance.
        made_up = truth.mean(axis=0) + 0.3 * truth.std(axis=0)
        yield np.broadcast_to(made_up, truth.shape)
    # A label that occurs: losses may refuse others.
    yield np.roll(truth, 1, axis=0)


def _has_residuals(loss: PointwiseLoss, y: Any) -> bool:
    try:
        return loss.residuals(y, y) is not None
    except Exception:  # as above: only what is sure is refused
        return True


def _lacks(estimator: Any, method: str) -> bool:
    """Return whether a fit cannot bring a method that is not there."""
    if hasattr(estimator, method):
        return False
    last = _last_step(estimator)
    if not hasattr(last, "get_params") or hasattr(type(last), "__getattr__"):
        return False
    # A model made of others may show their methods once it is fitted.
    parts = last.get_params(deep=False).values()
    return not any(hasattr(part, "fit") or isinstance(part, list) for part in parts)


def _last_step(estimator: Any) -> Any:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator
