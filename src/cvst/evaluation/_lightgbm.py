"""LightGBM: one fit, all numbers of rounds.

LightGBM itself is not imported here: the evaluator serves its classes by name and
calls the methods of the models it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.base import is_classifier

from cvst._typing import FloatArray
from cvst.evaluation._dispatch import serve_lazily
from cvst.evaluation._protocol import Task
from cvst.evaluation._sharing import PrefixEvaluator

__all__ = ["LightGBMRounds"]

# Aliases that LightGBM takes as further arguments for the number of rounds, early
# stopping and the kind of boosting all contain one of these.
ROUND_WORDS = ("round", "iter", "tree", "estimator", "boost")

# Further arguments that change neither the objective nor its link.
HARMLESS = {"verbose", "verbosity", "deterministic", "force_col_wise", "force_row_wise"}

# Scores this close to a tie are summed anew, in the order of a plain prediction.
CLOSE_SCORE = 1e-10


class LightGBMRounds(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``LGBMClassifier`` or its sibling.

    DART rescales old trees and a forest averages, so both are fitted one by one; and
    so is whatever may stop early, since predictions then use the best round.
    """

    prefer: Literal["threads", "processes"] = "threads"

    def is_prefix(self, model: Any) -> bool:
        """Whether rounds depend on the rounds before them alone."""
        # Without a random state, LightGBM uses seeds of its own, always the same.
        return (
            model.boosting_type == "gbdt"
            and not callable(model.objective)
            and not any(
                word in name for name in _further(model) for word in ROUND_WORDS
            )
        )

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Add up the scores of the rounds between two sizes; to 1e-12 for numbers."""
        predict = getattr(model, task.response)
        score = model.predict_proba if is_classifier(model) else model.predict
        scores: Any = 0.0
        n_added = 0
        for size in sizes:
            answer = None
            if _has_plain_link(model):
                scores = scores + score(
                    task.X_test,
                    raw_score=True,
                    start_iteration=n_added,
                    num_iteration=size - n_added,
                )
                n_added = size
                answer = _linked(model, task.response, scores)
            if answer is None:
                answer = predict(task.X_test, num_iteration=size)
            yield size, answer


def _further(model: Any) -> set[str]:
    named = signature(type(model).__init__).parameters
    return set(model.get_params(deep=False)) - set(named)


def _has_plain_link(model: Any) -> bool:
    known = ("regression", "binary", "multiclass")
    return model.objective_ in known and _further(model) <= HARMLESS


def _linked(model: Any, response: str, scores: FloatArray) -> Any:
    """Return what a model predicts from scores; None where rounding may decide."""
    if not is_classifier(model):
        return scores
    if scores.ndim == 1:
        second = 1.0 / (1.0 + np.exp(-scores))
        shares = np.column_stack([1.0 - second, second])
        margin = np.abs(scores)
    else:
        shares = softmax(scores, axis=1)
        highest = np.partition(scores, -2, axis=1)[:, -2:]
        margin = highest[:, 1] - highest[:, 0]
    if response == "predict_proba":
        return shares
    if np.any(margin < CLOSE_SCORE):
        return None
    return model.classes_.take(np.argmax(shares, axis=1))


serve_lazily(LightGBMRounds(), "lightgbm.sklearn", "LGBMClassifier", "LGBMRegressor")
