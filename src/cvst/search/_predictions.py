"""Out-of-fold predictions of the configurations that a race confirmed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from cvst._targets import ShapeError, Targets
from cvst._typing import BoolArray, Configuration, FloatArray, IntArray, Rows
from cvst._users_line import users_line
from cvst.evaluation.machinery import DataSource, Predicted, configured, predictions_of
from cvst.exceptions import CVSTWarning, InvalidInputError
from cvst.race import Folds, Look, RaceState
from cvst.search._evaluator import sharing_evaluator
from cvst.search._log import log_predictions
from cvst.search._members import MembersInTime
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup

__all__ = ["OutOfFoldPredictions", "check_predictions", "out_of_fold_predictions"]

# Most survivors that are predicted for where a race had no folds to confirm them.
MOST_SURVIVORS = 20


@dataclass(frozen=True, slots=True)
class OutOfFoldPredictions:
    """What the confirmed configurations predict for rows they were not trained on.

    Rows are those of ``fit``, in your order; rows of ``X_val`` count on from the last
    row of ``X``.

    Attributes
    ----------
    configurations : ndarray of shape (n_configurations,), int
        Which configurations, as indices into ``cv_results_``; the winner is first.
    params : tuple of dict
        Their parameters.
    response : {"predict_proba", "decision_function", "predict", "score_samples"}
        The method that made the predictions: the first of them that all have.
    predictions : ndarray of shape (n_configurations, n_rows) or \
(n_configurations, n_rows, n_columns)
        The predictions. A row that no fold tests has NaN (None for labels), a row that
        several folds test has the mean of its numbers, or its last label.
    classes : ndarray, tuple of ndarray or None
        Class of each column, where columns are classes. For several targets the columns
        of all of them are beside each other, and there is an array for each target.
    fold : ndarray of shape (n_rows,), int
        The (last) fold that tested each row, from 0; -1 for none.
    seconds : float
        What it took on the clock.
    listed : bool
        Whether a model gave the probabilities of several targets as a list of tables,
        as forests do, and not as one table of the labels that are there.
    """

    configurations: IntArray
    params: tuple[Configuration, ...]
    response: str
    predictions: Any
    classes: Any
    fold: IntArray
    seconds: float
    listed: bool = False

    @property
    def covered(self) -> BoolArray:
        """Which rows have a prediction."""
        return np.asarray(self.fold >= 0)

    def features(self) -> Any:
        """Return a row per row and a column per prediction, to train a stack on.

        Returns
        -------
        ndarray of shape (n_rows, n_configurations * n_columns)
            All columns of the first configuration, then those of the next.
        """
        table = self.predictions
        if table.ndim == 2:
            return table.T
        return np.swapaxes(table, 0, 1).reshape(table.shape[1], -1)

    def __repr__(self) -> str:
        # The arrays would fill pages.
        return (
            f"<OutOfFoldPredictions: {self.response} of {len(self.configurations)} "
            f"configurations for {int(self.covered.sum()):,} of {len(self.fold):,} "
            "rows>"
        )


def check_predictions(options: SearchOptions) -> None:
    """Refuse a time budget that the predictions would not keep."""
    name = "return_predictions" if options.return_predictions else "ensemble"
    asked = options.return_predictions or (options.ensemble and not options.keeps_time)
    if asked and options.time_budget is not None:
        raise InvalidInputError(
            f"{name}=True fits the confirmed configurations once more after the race, "
            f"which time_budget={options.time_budget:g} does not provide for. Leave "
            "one of the two out, or limit the race by max_looks. RaceSearchCV with "
            "ensemble=True keeps a time budget."
        )


def out_of_fold_predictions(
    setup: Setup,
    state: RaceState,
    winner: int,
    ranking: Sequence[int],
    time: MembersInTime | None = None,
) -> OutOfFoldPredictions | None:
    """Fit the confirmed configurations on their folds and keep what they predict.

    Parameters
    ----------
    setup : Setup
        The race as it was in the end.
    state : RaceState
        Its last state.
    winner : int
        The choice of the search; it is always among them.
    ranking : sequence of int
        All configurations, the best first.
    time : MembersInTime or None
        Says who takes part, and on which folds, where time is limited.

    Returns
    -------
    OutOfFoldPredictions or None
        None if there was no time for any but the winner.
    """
    started = perf_counter()
    folds, confirmed = _confirmed(setup, state, ranking)
    members = [winner, *(number for number in confirmed if number != winner)]
    if time is not None:
        # The first fold has chosen among more than the others.
        folds = (*folds[1:], folds[0])
        members = [one for one, _ in time.eligible]
    source = _source(setup)
    targets = _targets(setup)
    response = _response(
        setup, [source.configurations[one] for one in members], targets
    )
    looks = [
        # Looks want ascending numbers; the order of the ranking comes back below.
        Look(train, test, len(train), np.sort(members), stage="predictions")
        for train, test in folds
    ]
    if time is not None:
        predict = partial(predictions_of, source, response=response, targets=targets)
        found = _found_in_time(time, looks, predict, setup.problem.refit_rows)
        looks, members = looks[: len(found)], time.affordable()
        if len(members) < 2:
            return None
    else:
        found = [predictions_of(source, look, response, targets) for look in looks]
    if (
        targets is not None
        and response == "predict_proba"
        and _lacks_probabilities(found)
    ):
        response, targets = "predict", None
        found = [predictions_of(source, look, response) for look in looks]
    members = _without_failures(members, found)
    n_rows = setup.problem.n_samples + setup.problem.n_validation
    tests = [setup.original_rows(look.test) for look in looks]
    values = [np.array([one[number].prediction for number in members]) for one in found]
    predictions, fold = _placed(n_rows, tests, values)
    known = response != "predict" and predictions.ndim == 3
    classes = source.classes if targets is None else targets.classes
    kept = OutOfFoldPredictions(
        configurations=np.array(members),
        params=tuple(state.configurations[number] for number in members),
        response=response,
        predictions=predictions,
        classes=classes if known else None,
        fold=fold,
        seconds=perf_counter() - started,
        listed=any(fold[number].listed for fold in found for number in members),
    )
    log_predictions(len(members), len(looks), response, kept.seconds)
    return kept


def _found_in_time(
    time: MembersInTime,
    looks: Sequence[Look],
    predict: Callable[[Look], dict[int, Predicted]],
    n_rows: int,
) -> list[dict[int, Predicted]]:
    """Return by fold what is predicted while there is time."""
    found: list[dict[int, Predicted]] = []
    for some, fold in time.fits([one.n_train / n_rows for one in looks]):
        if fold == len(found):
            found.append({})
        found[fold] |= predict(replace(looks[fold], configurations=np.sort(some)))
    return found


def _confirmed(
    setup: Setup, state: RaceState, ranking: Sequence[int]
) -> tuple[Folds, list[int]]:
    """Return the folds that most configurations have run, and these, best first.

    Where none has run all folds, the best survivors stand for them.
    """
    problem = setup.problem
    seen: dict[bytes, set[int]] = {}
    for one in state.observations:
        # A fit that failed in one fold has no prediction for its rows.
        good = one.look.configurations[~np.isnan(one.mean_losses)]
        seen.setdefault(_key(setup, one.look.test), set()).update(good.tolist())
    best: tuple[Folds, list[int]] = next(iter(problem.folds.values())), []
    # The more folds the better, where as many have run them.
    for _, folds in sorted(problem.folds.items(), reverse=True):
        runs = [seen.get(_key(setup, test), set()) for _, test in folds]
        complete = set.intersection(*runs)
        if len(complete) > len(best[1]):
            best = folds, [number for number in ranking if number in complete]
    if best[1]:
        return best
    survivors = [int(number) for number in ranking if state.active[number]]
    return best[0], survivors[:MOST_SURVIVORS]


def _key(setup: Setup, rows: Rows) -> bytes:
    n_rows = setup.problem.n_samples + setup.problem.n_validation
    # The same rows may be a slice in one look and an array in another.
    return np.arange(n_rows)[rows].tobytes()


def _source(setup: Setup) -> DataSource:
    """Return a source that fits afresh, on the host, and keeps nothing."""
    evaluator = sharing_evaluator(setup.template)
    return replace(setup.source, evaluator=evaluator, keeper=None, device=None)


def _targets(setup: Setup) -> Targets | None:
    """Return the classes of several targets of a classifier, else None."""
    y = setup.source.data.y
    return Targets.of(y) if y is not None and is_classifier(setup.template) else None


def _response(
    setup: Setup, members: Sequence[Configuration], targets: Targets | None
) -> str:
    """Return the richest response that all of them have."""
    classes = setup.source.classes is not None and is_classifier(setup.template)
    wanted = ["predict_proba", "decision_function"] if classes else []
    if targets is not None:
        wanted = ["predict_proba"]
    models = [configured(setup.template, one) for one in members]
    for response in [*wanted, "predict", "score_samples"]:
        if all(hasattr(model, response) for model in models):
            return response
    return "predict"


def _lacks_probabilities(found: Sequence[dict[int, Predicted]]) -> bool:
    """Return whether several targets have labels alone, and say why."""
    answers = [one for fold in found for one in fold.values()]
    unknown = [one.error for one in answers if isinstance(one.error, ShapeError)]
    # A chain of more than two classes has the method, which then fails.
    errors = [one.error for one in answers if one.error is not None]
    if not unknown and len(errors) < len(answers):
        return False
    warnings.warn(
        "Labels of several targets are kept, not their probabilities: "
        f"{(unknown or errors)[0]!r}.",
        CVSTWarning,
        stacklevel=users_line(),
    )
    return True


def _without_failures(
    members: list[int], found: Sequence[dict[int, Predicted]]
) -> list[int]:
    """Return those that predicted in every fold; say which did not."""
    failed = {
        number: one[number].error
        for one in found
        for number in members
        if one[number].error is not None
    }
    if len(failed) == len(members):
        raise InvalidInputError(
            "None of the confirmed configurations could be fitted again on its folds; "
            f"the first failed with {next(iter(failed.values()))!r}. Set "
            "return_predictions=False and ensemble=False."
        )
    for number, error in failed.items():
        warnings.warn(
            f"Configuration {number} has no out-of-fold predictions: {error!r}.",
            CVSTWarning,
            stacklevel=users_line(),
        )
    return [number for number in members if number not in failed]


def _placed(
    n_rows: int, tests: Sequence[IntArray], values: Sequence[Any]
) -> tuple[Any, IntArray]:
    """Return the predictions of all folds by row, and the fold of each row."""
    fold = np.full(n_rows, -1)
    times = np.zeros(n_rows, dtype=int)
    for number, rows in enumerate(tests):
        fold[rows] = number
        times[rows] += 1
    first = np.asarray(values[0])
    shape = (first.shape[0], n_rows, *first.shape[2:])
    numbers = all(np.asarray(one).dtype.kind in "fiu" for one in values)
    if numbers and (np.any(times == 0) or any(_is_float(one) for one in values)):
        return _averaged(shape, tests, values, times), fold
    if np.all(times > 0):
        table = np.empty(shape, dtype=np.result_type(*values))
    else:
        # Labels have no NaN.
        table = np.full(shape, None, dtype=object)
    for rows, some in zip(tests, values, strict=True):
        table[:, rows] = some
    return table, fold


def _is_float(values: Any) -> bool:
    return bool(np.asarray(values).dtype.kind == "f")


def _averaged(
    shape: tuple[int, ...],
    tests: Sequence[IntArray],
    values: Sequence[Any],
    times: IntArray,
) -> FloatArray:
    table = np.zeros(shape)
    for rows, some in zip(tests, values, strict=True):
        table[:, rows] += some
    by_row = times.reshape((1, -1) + (1,) * (len(shape) - 2))
    with np.errstate(invalid="ignore"):  # a row that no fold tests is NaN
        mean: FloatArray = table / by_row
    return mean
