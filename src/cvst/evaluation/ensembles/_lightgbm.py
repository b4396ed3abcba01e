"""LightGBM: one fit, all numbers of rounds.

LightGBM itself is not imported here: the evaluator serves its classes by name and
calls the methods of the models it is given.

A round that finds nothing to split leaves no trees behind, and boosting goes on: with
another sample of the rows the next round may split again. So a model of ``k`` rounds
has ``k`` trees (per class) or fewer, and the longer fit counts its trees after each
round. A very first round without a split leaves a constant, which does count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier

from cvst._typing import FloatArray
from cvst.evaluation._dispatch import serve_lazily
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator, fitted

__all__ = ["LightGBMRounds"]

# Further arguments that change neither the objective nor its link ...
HARMLESS = {"deterministic", "force_col_wise", "force_row_wise", "verbose", "verbosity"}

# ... and those that matter to every round alike, however many follow. Linear trees are
# not among them: two equal fits of some objectives differ.
KNOWN = HARMLESS | {
    "alpha",
    "bagging_seed",
    "bin_construct_sample_cnt",
    "boost_from_average",
    "cat_l2",
    "cat_smooth",
    "data_random_seed",
    "data_sample_strategy",
    "extra_seed",
    "extra_trees",
    "fair_c",
    "feature_fraction_bynode",
    "feature_fraction_seed",
    "is_unbalance",
    "max_bin",
    "max_cat_threshold",
    "max_cat_to_onehot",
    "max_delta_step",
    "metric",
    "min_data_in_bin",
    "min_data_per_group",
    "monotone_constraints",
    "neg_bagging_fraction",
    "other_rate",
    "path_smooth",
    "poisson_max_delta_step",
    "pos_bagging_fraction",
    "reg_sqrt",
    "scale_pos_weight",
    "seed",
    "sigmoid",
    "top_rate",
    "tweedie_variance_power",
}

# Objectives whose predictions are the scores, or plain sigmoids of them.
PLAIN_LINKS = {
    "binary",
    "fair",
    "huber",
    "mape",
    "multiclass",
    "quantile",
    "regression",
    "regression_l1",
}

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
            and _further(model) <= KNOWN
        )

    def fit(self, model: Any, task: Task) -> Any:
        """Fit and count the trees after each round."""
        counts: list[int] = []

        def count(environment: Any) -> None:
            counts.append(environment.model.current_iteration())

        model = fitted(task, model, callbacks=[count])
        model.n_trees_after_round_ = counts
        return model

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Add up the scores of the rounds between two sizes; to 1e-12 for numbers."""
        predict = getattr(model, task.response)
        score = model.predict_proba if is_classifier(model) else model.predict
        scores: Any = 0.0
        n_added = 0
        for size in sizes:
            n_trees = model.n_trees_after_round_[size - 1]
            answer = None
            if _has_plain_link(model):
                # To LightGBM, no trees would mean all trees.
                if n_trees > n_added:
                    scores = scores + score(
                        task.X_test,
                        raw_score=True,
                        start_iteration=n_added,
                        num_iteration=n_trees - n_added,
                    )
                    n_added = n_trees
                answer = _linked(model, task.response, scores)
            if answer is None:
                answer = predict(task.X_test, num_iteration=n_trees)
            yield size, answer


def _further(model: Any) -> set[str]:
    named = signature(type(model).__init__).parameters
    return set(model.get_params(deep=False)) - set(named)


def _has_plain_link(model: Any) -> bool:
    return model.objective_ in PLAIN_LINKS and _further(model) <= HARMLESS


def _linked(model: Any, response: str, scores: FloatArray) -> Any:
    """Return what a model predicts from scores; None where rounding may decide."""
    if not is_classifier(model) or response == "decision_function":
        return scores
    if scores.ndim == 1:
        second = expit(scores)
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
