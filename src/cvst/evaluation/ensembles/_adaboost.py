"""AdaBoost: one fit, all numbers of rounds.

A round depends on the rounds before it alone, and boosting that ends early, on a
perfect fit or a useless round, ends there for every larger number too. Each round
predicts once; scikit-learn then weighs the first rounds of every number itself, so
that the answers are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.utils.validation import validate_data

from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator, Remembered, truncated

__all__ = ["AdaBoostRounds"]


class AdaBoostRounds(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``AdaBoost*``."""

    def is_prefix(self, model: Any) -> bool:
        """Whether the seeds are fixed; the rounds' own come from the ensemble."""
        return model.random_state is not None

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Predict once with each round and let scikit-learn weigh the first ones."""
        # The rounds were fitted on bare arrays, without names of columns.
        X = validate_data(
            model, task.X_test, accept_sparse=["csr", "csc"], dtype=None, reset=False
        )
        rounds = [Remembered(one.predict(X)) for one in model.estimators_]
        for size in sizes:
            shorter = truncated(
                model,
                n_estimators=size,
                estimators_=rounds[:size],
                estimator_weights_=model.estimator_weights_[:size],
            )
            yield size, getattr(shorter, task.response)(task.X_test)


serve_exactly(AdaBoostRounds(), AdaBoostClassifier, AdaBoostRegressor)
