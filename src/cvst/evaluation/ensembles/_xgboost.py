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


SCORES_ARE_PREDICTIONS = {
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
    "reg:squarederror",
}


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
        """Go on from the scores of the size before, in the order of one prediction.

        XGBoost adds tree after tree to the scores it begins with, in single precision:
        equal to the last bit.
        """
        predict = getattr(model, task.response)
        scores, n_added = None, 0
        for size in sizes:
            further = {"base_margin": scores, "iteration_range": (n_added, size)}
            is_plain = model.objective in SCORES_ARE_PREDICTIONS
            if not is_plain:
                yield size, predict(task.X_test, **further)
            if is_plain or size != sizes[-1]:
                scores = model.predict(task.X_test, output_margin=True, **further)
                n_added = size
            if is_plain:
                yield size, scores


serve_lazily(XGBoostRounds(), "xgboost.sklearn", "XGBClassifier", "XGBRegressor")
