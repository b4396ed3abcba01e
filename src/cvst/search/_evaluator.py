"""What fits the configurations of a search, by what the user asked for."""

from __future__ import annotations

from typing import Any

from cvst._sklearn_compat import has_callbacks
from cvst.evaluation import BatchEvaluator, OneByOne, batch_evaluator_for
from cvst.evaluation.losses import Scoring
from cvst.evaluation.machinery import (
    MODEL,
    SeveralResponses,
    StandIns,
    check_client,
    incremental_evaluator_for,
)
from cvst.exceptions import InvalidInputError
from cvst.search._options import SearchOptions

__all__ = ["check_dask", "evaluator_of", "sharing_evaluator"]


# Reasons to fit configurations one by one, for the log.
OWN_CALLBACKS = "callbacks of the estimator are to see every fit"
AS_PLAIN_FITS = (
    "the strategy wants the scores of plain fits, and shared ones are as accurate, but "
    "not equal"
)
MODELS_TOO = "a score asks for the model itself, and other scores for predictions"


def evaluator_of(
    options: SearchOptions, template: Any, scoring: Scoring, inexact: bool
) -> BatchEvaluator:
    """Return what fits the configurations, for one response or several.

    Parameters
    ----------
    options : SearchOptions
        What the user asked for.
    template : estimator
        What is fitted.
    scoring : Scoring
        The scores, and the responses that they need.
    inexact : bool
        Whether what is shared would have other scores than the strategy wants.
    """
    several = len(scoring.responses) > 1
    wants_models = MODEL in scoring.responses
    reason = AS_PLAIN_FITS if inexact else None
    # One fit answers to all of several scores, if one of them wants the model anyway.
    if several and wants_models:
        reason = reason or MODELS_TOO
    evaluator = _one_response(options, template, reason)
    if several:
        return SeveralResponses(evaluator, scoring.responses)
    shares = not options.incremental and not isinstance(evaluator, OneByOne)
    return StandIns(evaluator) if wants_models and shares else evaluator


def sharing_evaluator(template: Any, reason: str | None = None) -> BatchEvaluator:
    """Return the estimator's evaluator; one that shares nothing if there is a reason.

    Parameters
    ----------
    template : estimator
        What is fitted.
    reason : str or None
        Why nothing may be shared; None if that is up to the estimator.
    """
    evaluator = batch_evaluator_for(template)
    if isinstance(evaluator, OneByOne):
        return evaluator
    if reason is None and has_callbacks(template):
        reason = OWN_CALLBACKS
    return evaluator if reason is None else OneByOne(reason)


def _one_response(
    options: SearchOptions, template: Any, reason: str | None
) -> BatchEvaluator:
    if not options.incremental:
        return sharing_evaluator(template, reason)
    if options.fit_timeout is not None:
        raise InvalidInputError(
            f"incremental=True continues models of the last look, and "
            f"fit_timeout={options.fit_timeout:g} fits in processes that may be ended. "
            "Set one of the two only."
        )
    learning = incremental_evaluator_for(template)
    if learning is None:
        raise InvalidInputError(
            f"incremental=True needs an estimator with partial_fit, which "
            f"{type(template).__name__} lacks. Set incremental=False."
        )
    return learning


def check_dask(options: SearchOptions) -> None:
    """Refuse what an estimator that trains on a Dask cluster cannot do."""
    name = type(options.estimator).__name__
    check_client(options.estimator)
    if options.fit_timeout is not None:
        raise InvalidInputError(
            f"fit_timeout={options.fit_timeout:g} needs processes of this machine, and "
            f"{name} trains on the workers of Dask. Leave that option out."
        )
