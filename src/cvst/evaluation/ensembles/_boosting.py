"""Gradient boosting of scikit-learn: one fit, all stages.

A stage depends on the stages before it alone. That includes early stopping: it judges
the stages so far, so that a shorter run ends where the longer one has ended, or at its
own length if that comes first. Stages are summed in the order of ``predict``: equal to
the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator

__all__ = ["BoostingStages", "HistBoostingStages"]


class BoostingStages(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``GradientBoosting*``."""

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Walk once through the stages and keep those asked for."""
        staged = getattr(model, f"staged_{task.response}")(task.X_test)
        stages = enumerate(staged, start=1)
        stage, prediction = next(stages)
        for size in sizes:
            while stage < size:
                # Early stopping: a larger size gets the last stage.
                following = next(stages, None)
                if following is None:
                    break
                stage, prediction = following
            yield size, _as_unstaged(task.response, prediction)


def _as_unstaged(response: str, prediction: Any) -> Any:
    # For two classes ``decision_function`` is flat, its staged form is a column.
    if response == "decision_function" and prediction.shape[1:] == (1,):
        return prediction.ravel()
    return prediction


class HistBoostingStages(BoostingStages):
    """Reads every ``max_iter`` from one fit of ``HistGradientBoosting*``."""

    size: ClassVar[str] = "max_iter"
    prefer: Literal["threads", "processes"] = "threads"


serve_exactly(BoostingStages(), GradientBoostingClassifier, GradientBoostingRegressor)
serve_exactly(
    HistBoostingStages(), HistGradientBoostingClassifier, HistGradientBoostingRegressor
)
