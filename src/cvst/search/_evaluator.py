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

__all__ = ["check_dask", "evaluator_of"]


def evaluator_of(
    options: SearchOptions, template: Any, scoring: Scoring, alone: bool
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
    alone : bool
        Whether nothing may be shared between configurations.
    """
    several = len(scoring.responses) > 1
    wants_models = MODEL in scoring.responses
    # One fit answers to all of several scores, if one of them wants the model anyway.
    evaluator = _one_response(options, template, alone or (several and wants_models))
    if several:
        return SeveralResponses(evaluator, scoring.responses)
    shares = not options.incremental and not isinstance(evaluator, OneByOne)
    return StandIns(evaluator) if wants_models and shares else evaluator


def _one_response(options: SearchOptions, template: Any, alone: bool) -> BatchEvaluator:
    if not options.incremental:
        # Callbacks of the estimator's own want to see every fit.
        alone = alone or has_callbacks(template)
        evaluator = batch_evaluator_for(template)
        plain = isinstance(evaluator, OneByOne)
        return OneByOne() if alone and not plain else evaluator
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
