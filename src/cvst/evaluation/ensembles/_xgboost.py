"""XGBoost: one fit, all numbers of rounds.

XGBoost itself is not imported here: the evaluator serves its classes by name and calls
the methods of the models it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from cvst.evaluation._dispatch import serve_lazily
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator

__all__ = ["XGBoostRounds"]


class XGBoostRounds(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``XGBClassifier`` or ``…Regressor``.

    DART rescales old trees, a linear booster has no rounds to leave out, and whatever
    stops early predicts with the best round: all these are fitted one by one.
    """

    prefer: Literal["threads", "processes"] = "threads"
    size_of_none: ClassVar[int | None] = 100

    def is_prefix(self, model: Any) -> bool:
        """Whether rounds depend on the rounds before them alone."""
        # Without a random state, XGBoost uses a seed of its own, always the same.
        return (
            model.booster in (None, "gbtree")
            and model.early_stopping_rounds is None
            and model.callbacks is None
            and not callable(model.objective)
            # Further arguments may name another process, updater or number of rounds.
            and not getattr(model, "kwargs", None)
        )

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Let XGBoost predict with its first rounds."""
        predict = getattr(model, task.response)
        for size in sizes:
            yield size, predict(task.X_test, iteration_range=(0, size))


serve_lazily(XGBoostRounds(), "xgboost.sklearn", "XGBClassifier", "XGBRegressor")
