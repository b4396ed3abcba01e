"""Several responses of the same models: labels and probabilities, for several scores.

Where fits are done one by one, each model is fitted once and asked several times. An
evaluator that shares work is run once for each response: what it shares is worth more
than what is done twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from cvst._typing import Configuration
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import (
    MODEL,
    BatchEvaluator,
    Outcome,
    Task,
    outcomes_of,
)

__all__ = ["Answers", "SeveralResponses", "answer"]


# A class of its own, since a prediction may be a dictionary too.
class Answers(dict[str, Any]):
    """What a model said, by response."""


def answer(prediction: Any, response: str) -> Any:
    """Return one of several answers, or the only one.

    Examples
    --------
    >>> answer(Answers(predict=[1], predict_proba=[[0.2, 0.8]]), "predict")
    [1]
    >>> answer([1], "predict")
    [1]
    """
    return prediction[response] if isinstance(prediction, Answers) else prediction


@dataclass(frozen=True)
class SeveralResponses(BatchEvaluator):
    """Asks every model for several responses.

    Parameters
    ----------
    evaluator : BatchEvaluator
        Fits the models.
    responses : tuple of str
        What to ask for.
    """

    evaluator: BatchEvaluator
    responses: tuple[str, ...]

    @property
    def prefer(self) -> Literal["threads", "processes"]:
        """Whatever the evaluator prefers."""
        return self.evaluator.prefer

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Group as the evaluator does."""
        return self.evaluator.groups(estimator, configurations)

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Yield one outcome per configuration, with all answers."""
        if isinstance(self.evaluator, OneByOne):
            yield from self._asked_in_turn(task)
            return
        found: dict[int, list[Outcome]] = {}
        for response in self.responses:
            asked = replace(task, response=response)
            for outcome in outcomes_of(self.evaluator, asked):
                found.setdefault(outcome.configuration, []).append(outcome)
        for outcomes in found.values():
            yield self._joined(outcomes)

    def _asked_in_turn(self, task: Task) -> Iterator[Outcome]:
        """Fit each model once, and ask it for one response after the other."""
        for outcome in outcomes_of(self.evaluator, replace(task, response=MODEL)):
            if outcome.error is not None:
                yield outcome
                continue
            yield self._asked(outcome)

    def _asked(self, outcome: Outcome) -> Outcome:
        model, X = outcome.prediction
        answers = Answers()
        for response in self.responses:
            try:
                answers[response] = (
                    outcome.prediction
                    if response == MODEL
                    else getattr(model, response)(X)
                )
            except Exception as error:
                # Without the first response there is nothing to race on.
                if response == self.responses[0]:
                    return replace(outcome, prediction=None, error=error)
        return replace(outcome, prediction=answers)

    def _joined(self, outcomes: list[Outcome]) -> Outcome:
        first = outcomes[0]
        if first.error is not None:
            return first
        answers = Answers(
            {
                response: outcome.prediction
                for response, outcome in zip(self.responses, outcomes, strict=True)
                if outcome.error is None
            }
        )
        return replace(
            first,
            prediction=answers,
            # Each response took fits of its own.
            fit_seconds=sum(outcome.fit_seconds for outcome in outcomes),
            score_seconds=sum(outcome.score_seconds for outcome in outcomes),
        )
