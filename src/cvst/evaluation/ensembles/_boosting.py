"""Gradient boosting of scikit-learn: one fit, all stages.

A stage depends on the stages before it alone. That includes early stopping: it judges
the stages so far, so that a shorter run ends where the longer one has ended, or at its
own length if that comes first. Stages are summed in the order of ``predict``: equal to
the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from sklearn.base import is_classifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from cvst._typing import FloatArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator, Remembered, truncated

__all__ = ["BoostingStages", "HistBoostingStages"]


class BoostingStages(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``GradientBoosting*``."""

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Walk once through the stages and keep those asked for."""
        stages = enumerate(self.staged(model, task), start=1)
        stage, prediction = next(stages)
        for size in sizes:
            while stage < size:
                # Early stopping: a larger size gets the last stage.
                following = next(stages, None)
                if following is None:
                    break
                stage, prediction = following
            yield size, self.answer(model, task, prediction)

    def staged(self, model: Any, task: Task) -> Iterator[Any]:
        """Return scores stage by stage: classes and shares of each would cost more."""
        response = "decision_function" if is_classifier(model) else "predict"
        staged: Iterator[Any] = getattr(model, f"staged_{response}")(task.X_test)
        return staged

    def answer(self, model: Any, task: Task, prediction: Any) -> Any:
        """Let scikit-learn turn the scores of a stage into its answer."""
        if not is_classifier(model):
            return prediction
        # ``predict`` and ``predict_proba`` ask ``decision_function`` for the scores.
        scores = Remembered(_flat(prediction))
        shorter = truncated(model, decision_function=scores.decision_function)
        return getattr(shorter, task.response)(task.X_test)


def _flat(scores: FloatArray) -> FloatArray:
    # For two classes ``decision_function`` is flat, its staged form is a column.
    return scores.ravel() if scores.shape[1:] == (1,) else scores


class HistBoostingStages(BoostingStages):
    """Reads every ``max_iter`` from one fit of ``HistGradientBoosting*``."""

    size: ClassVar[str] = "max_iter"
    prefer: Literal["threads", "processes"] = "threads"

    def staged(self, model: Any, task: Task) -> Iterator[Any]:
        """Return the answers stage by stage; they cost little beside the trees."""
        staged: Iterator[Any] = getattr(model, f"staged_{task.response}")(task.X_test)
        return staged

    def answer(self, model: Any, task: Task, prediction: Any) -> Any:
        """Return the answer of a stage in the form of a whole model's."""
        del model
        return _flat(prediction) if task.response == "decision_function" else prediction


serve_exactly(BoostingStages(), GradientBoostingClassifier, GradientBoostingRegressor)
serve_exactly(
    HistBoostingStages(), HistGradientBoostingClassifier, HistGradientBoostingRegressor
)
