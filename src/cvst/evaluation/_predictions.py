"""Predictions themselves, for those few configurations that were confirmed.

A race sends losses back from its workers, not predictions: those of all looks would
fill the memory, and a race on accuracy asks for labels where a blend wants
probabilities. So the few that were confirmed are fitted once more on the same folds,
by the same evaluator.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context

from cvst._targets import ShapeError, Targets, to_array
from cvst.evaluation._faults import outcomes_within_memory
from cvst.evaluation._protocol import Outcome
from cvst.evaluation._rows import RaceData
from cvst.evaluation._source import DataSource
from cvst.evaluation._telling import Note
from cvst.evaluation._work import Work
from cvst.evaluation.losses import align_columns
from cvst.exceptions import InvalidPredictionError
from cvst.parallel import effective_n_jobs, in_chunks, portable
from cvst.race import Look

__all__ = ["Predicted", "predictions_of"]


@dataclass(frozen=True, slots=True)
class Predicted:
    """What one configuration predicts for the test rows of a look.

    Attributes
    ----------
    configuration : int
        Its number.
    prediction : ndarray or None
        One entry per test row; probabilities and decision values of several classes
        have a column for each class of the race, those of several targets beside
        each other.
    error : Exception or None
        Why there is none.
    listed : bool
        Whether the model gave a list, with a table for each of several targets.
    notes : tuple of Note
        What was said in another process, with the first result of a chunk.
    """

    configuration: int
    prediction: Any = None
    error: Exception | None = None
    listed: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _PredictionWork:
    """One look as every worker gets it, to bring predictions back."""

    work: Work
    response: str
    targets: Targets | None

    def __call__(
        self, groups: list[list[int]], rows: RaceData | None = None
    ) -> list[Predicted]:
        """Fit and predict some groups of configurations."""
        task = self.work.task(self.response, self.work.data(rows))
        evaluator = self.work.evaluator
        told = self.work.told
        with config_context(**self.work.config), told.listening() as notes:
            found = [
                self._predicted(outcome)
                for group in groups
                for outcome in outcomes_within_memory(evaluator, task.only(group))
            ]
        if notes and found:
            found[0] = replace(found[0], notes=tuple(notes))
        return found

    def _predicted(self, outcome: Outcome) -> Predicted:
        if outcome.error is not None:
            # An error that cannot be pickled would take the whole chunk with it.
            return Predicted(outcome.configuration, error=portable(outcome.error))
        if self.targets is not None and self.response == "predict_proba":
            return self._of_targets(outcome, self.targets)
        values = to_array(outcome.prediction)
        known, wanted = outcome.classes, self.work.classes
        if self.response != "predict" and known is not None and wanted is not None:
            absent = 0.0 if self.response == "predict_proba" else -np.inf
            try:
                values = align_columns(values, np.asarray(known), wanted, absent)
            except InvalidPredictionError as error:
                return Predicted(outcome.configuration, error=error)
        return Predicted(outcome.configuration, values)

    def _of_targets(self, outcome: Outcome, targets: Targets) -> Predicted:
        number, given = outcome.configuration, outcome.prediction
        try:
            values = targets.columns(given, outcome.classes)
        except ShapeError as error:
            return Predicted(number, error=error)
        return Predicted(number, values, listed=targets.shaped_like([given]).listed)


def predictions_of(
    source: DataSource, look: Look, response: str, targets: Targets | None = None
) -> dict[int, Predicted]:
    """Return what the configurations of a look predict for its test rows.

    Parameters
    ----------
    source : DataSource
        Fits them, with its workers. Nothing is scored, kept or counted.
    look : Look
        Training rows, test rows and configurations.
    response : {"predict", "predict_proba", "decision_function", "score_samples"}
        What to ask the models for.
    targets : Targets, default=None
        The classes of several targets, where probabilities of them are asked for.

    Returns
    -------
    dict
        Predictions by the number of the configuration, in the order of the look.
    """
    work = replace(source.work(look, apart=True), device=None)
    groups = source.evaluator.groups(source.estimator, work.configurations)
    chunks = in_chunks(groups, effective_n_jobs(source.n_jobs))
    task = _PredictionWork(work, response, targets)
    found: dict[int, Predicted] = {}
    batches = source.batches(task, chunks, _lost)
    with closing(batches):
        for results in batches:
            source.told.repeat(results)
            found.update({one.configuration: one for one in results})
    # Workers finish in any order.
    return {number: found[number] for number in look.configurations.tolist()}


def _lost(chunk: list[list[int]], reason: str) -> list[Predicted]:
    error = RuntimeError(reason)
    return [Predicted(number, error=error) for group in chunk for number in group]
