"""The contract between a race and the evaluators that fit its configurations.

A task is many configurations on one training and one test set. An evaluator says
which of them share work and returns a prediction for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from cvst._text import repr_text
from cvst._typing import Configuration, IntArray, Rows
from cvst.evaluation._rows import take
from cvst.evaluation._scratch import Scratch
from cvst.evaluation.device import Arrays
from cvst.exceptions import InvalidInputError

__all__ = [
    "MODEL",
    "BatchEvaluator",
    "FittedModel",
    "Outcome",
    "OutcomeTable",
    "RaceRows",
    "Scratch",
    "Task",
    "outcomes_of",
]

# The response of a loss that wants the fitted model itself, not its predictions.
MODEL = "model"


class FittedModel(NamedTuple):
    """A fitted model and the inputs of the test rows: the response :data:`MODEL`."""

    model: Any
    X: Any

    def at(self, rows: IntArray) -> FittedModel:
        """Return the model with some of the rows."""
        return FittedModel(self.model, take(self.X, rows))


@dataclass(frozen=True, slots=True)
class RaceRows:
    """All rows of a race, of which a task sees some: subsets nest, so work may too.

    Attributes
    ----------
    X : array-like of shape (n_rows, n_features)
        Every row of the race in race order, the separate test set last.
    train, test : slice or ndarray of int
        The rows of this task.
    scratch : Scratch
        Kept for the whole race.
    """

    X: Any
    train: Rows
    test: Rows
    scratch: Scratch


@dataclass(frozen=True, slots=True)
class Task:
    """Many configurations, one training set, one test set.

    Attributes
    ----------
    estimator : estimator
        Unfitted template; it must not be changed (clone it).
    configurations : mapping of int to dict
        Parameters to set on a clone of the template, already rescaled, by the number of
        the configuration: the one of :attr:`cvst.race.Look.configurations`, which stays
        the same from look to look.
    X_train, y_train, X_test : array-like
        Training rows and inputs of the test rows; ``y_train`` may be None.
    fit_params : mapping
        Arguments for ``fit`` such as ``sample_weight``, one entry per training row
        where they are aligned with the rows.
    response : {"predict", "predict_proba", "decision_function", "score_samples"}
        Which method of the fitted estimator makes the predictions. Only
        :class:`OneByOne` is ever asked for ``"model"``, the fitted model itself.
    race_rows : RaceRows or None
        The race's rows that the task was cut from; None where the inputs were
        transformed on the way (then nothing nests).
    classes : ndarray or None
        All class labels of the race, also those without a training row here; None
        for regression and where they are not needed.
    rounds : int or None
        Learners with rounds, such as boosting, train at most this many; None for as
        many as the configuration says.
    device : Arrays or None
        Where evaluators that know how work on all configurations together; None for
        the host, one group at a time.
    """

    estimator: Any
    configurations: Mapping[int, Configuration]
    X_train: Any
    y_train: Any
    X_test: Any
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    response: str = "predict"
    race_rows: RaceRows | None = None
    classes: Any = None
    rounds: int | None = None
    device: Arrays | None = None

    def only(self, numbers: Iterable[int]) -> Task:
        """Return the task for some of its configurations, by their numbers."""
        chosen = {number: self.configurations[number] for number in numbers}
        return replace(self, configurations=chosen)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Prediction of one configuration of a task, or why there is none.

    Attributes
    ----------
    configuration : int
        Its number in the task's configurations.
    prediction : array-like or None
        What the response method returned; None after a failure.
    classes : ndarray or None
        ``classes_`` of the fitted classifier: the columns of its probabilities.
    fit_seconds, score_seconds : float
        Time spent; shared work is split evenly among the configurations.
    error : Exception or None
        What went wrong.
    """

    configuration: int
    prediction: Any = None
    classes: Any = None
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """Numbers that many configurations of a task predict, still on a device.

    Attributes
    ----------
    configurations : tuple of int
        Their numbers in the task's configurations.
    predictions : array of shape (n_configurations, n_test)
        One number per test row, on the device.
    device : Arrays
        The device.
    fit_seconds, score_seconds : float
        Time spent for each.
    """

    configurations: tuple[int, ...]
    predictions: Any
    device: Arrays
    fit_seconds: float = 0.0
    score_seconds: float = 0.0

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes one by one, with predictions on the host."""
        # One transfer for all: many small ones take longer.
        predictions = self.device.fetch(self.predictions)
        for number, prediction in zip(self.configurations, predictions, strict=True):
            yield Outcome(
                number, prediction, None, self.fit_seconds, self.score_seconds
            )


@runtime_checkable
class BatchEvaluator(Protocol):
    """Fits many configurations of one estimator, sharing what they have in common.

    Sharing is exact: an outcome equals that of a clone fitted on its own (to
    rounding), whatever else is in the task, unless ``is_exact`` says otherwise. What
    cannot be shared is passed on to :class:`OneByOne`. An evaluator holds no state and
    can be pickled.
    """

    @property
    def is_exact(self) -> bool:
        """Whether outcomes are those of plain fits, and not only as good.

        An evaluator that does not have this counts as one that is.
        """
        return True

    @property
    def carries(self) -> bool:
        """Whether a look goes on from what an earlier one left in the scratch.

        Looks are then made one after the other, and a race that goes on after a break
        makes the earlier ones again. An evaluator that does not have this counts as
        one that does not.
        """
        return False

    @property
    def prefer(self) -> Literal["threads", "processes"]:
        """Threads where the fits release the GIL, else processes."""
        ...

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Partition the numbers of the configurations: a group shares work."""
        ...

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Yield one outcome per configuration, in any order."""
        ...

    # From here on, methods are optional. Evaluators of users need not inherit these
    # defaults, so ``_dispatch`` asks for each by its name.
    def evaluate_in_tables(self, task: Task) -> Iterator[Outcome | OutcomeTable]:
        """Do the same for a task on a device, and leave there what may stay.

        Asked only of evaluators that serve a device.
        """
        yield from self.evaluate(task)

    def evaluate_folds(
        self, task: Task, later: Iterable[Task]
    ) -> list[list[Outcome | OutcomeTable]]:
        """Do a task on a device, and as many others with it as cost no time there.

        Asked only of evaluators that serve a device. One that does not have this method
        counts as one that does the first task only.

        Parameters
        ----------
        task : Task
            A fold.
        later : iterable of Task
            Folds that come next with the same configurations, of which some may be
            dropped before; cut from the rows when asked for.

        Returns
        -------
        list of list of Outcome or OutcomeTable
            Of the task, and of all others or none of them.
        """
        del later
        return [list(self.evaluate_in_tables(task))]

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Return the hyper-parameters whose values cost hardly more than one of them.

        An evaluator that does not have this method counts as one that returns none.

        Returns
        -------
        dict
            ``"smaller"`` for each name whose largest value covers the smaller ones, as
            with trees of a forest; ``"all"`` where any value covers all, as with
            neighbours. Penalties are absent: they share work, but not all of it.
        """
        del estimator
        return {}

    def serves_device(self, estimator: Any) -> bool:
        """Return whether a task on a device is worked on there.

        An evaluator without this method counts as one that does not.
        """
        del estimator
        return False

    def are_independent(self, estimator: Any, response: str) -> bool:
        """Return whether two or more of a group answer alike when others are missing.

        Alike to the last bit, so that results of the whole group may stand for those of
        the part that is left. An evaluator without this method counts as one that does
        not promise that.
        """
        del estimator, response
        return False

    def serves_one(self, estimator: Any) -> bool:
        """Return whether one configuration alone is not simply fitted.

        Then a scorer that can only be called gets its answers from the evaluator, too.
        An evaluator without this method counts as one that simply fits it.
        """
        del estimator
        return False

    def divides(self, estimator: Any, response: str) -> bool:
        """Return whether groups may be cut so that more workers have something to do.

        That needs answers which are alike to the last bit whatever else is in a group,
        and work most of which is each member's own. An evaluator without this method
        counts as one whose groups stay whole.
        """
        del estimator, response
        return False

    def limited(
        self, estimator: Any, configuration: Configuration, rounds: int
    ) -> Configuration:
        """Return the configuration with at most this number of rounds of training.

        As it is, for learners without rounds and for evaluators without this method.
        """
        del estimator, rounds
        return configuration


def outcomes_of(evaluator: BatchEvaluator, task: Task) -> Iterator[Outcome]:
    """Yield what an evaluator answers, and refuse what is no outcome: users write them.

    Whether there is one for each configuration is seen where all have come together.
    """
    name = type(evaluator).__name__
    way_out = "Yield one cvst.evaluation.Outcome for each of task.configurations."
    outcomes = evaluator.evaluate(task)
    if not isinstance(outcomes, Iterable):
        raise InvalidInputError(
            f"{name}.evaluate returned {repr_text(outcomes)}, which holds no outcomes. "
            f"{way_out}"
        )
    for outcome in outcomes:
        if not isinstance(outcome, Outcome):
            raise InvalidInputError(
                f"{name}.evaluate yielded {repr_text(outcome)}, which is no outcome. "
                f"{way_out}"
            )
        yield outcome
