"""A weighted ensemble of confirmed configurations, kept only if it is better.

Members and weights are found by greedy selection with replacement (Caruana and others,
2004): in each round the configuration joins, perhaps again, that makes the mean of the
predictions best. What was selected on some rows looks good on them, so the comparison
with the winner is nested: for each fold, an ensemble that was selected on the other
folds is compared with the winner on this one. The winner was chosen on all folds, which
speaks for it; a gain is understated rather than overstated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import t as student
from sklearn.base import (
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.pipeline import Pipeline

from cvst._targets import Targets
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.evaluation import PointwiseLoss
from cvst.evaluation.machinery import MODEL, FittedModel, configured, take
from cvst.exceptions import InvalidInputError
from cvst.learners import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from cvst.search._log import log_ensemble
from cvst.search._options import SearchOptions
from cvst.search._predictions import OutOfFoldPredictions
from cvst.search._setup import Setup, check_names
from cvst.search.rows import Inputs
from cvst.statistics import paired_excess_test

__all__ = [
    "Ensemble",
    "check_ensemble",
    "choose_ensemble",
    "fitted_ensemble",
    "greedy_weights",
]

# Rounds of the selection, and how many without a gain end it.
MOST_ROUNDS, PATIENCE = 30, 5

# Level of the interval of a gain.
CONFIDENCE = 0.9

# A method ``score``, without its object.
OwnScore: TypeAlias = Callable[..., float] | None

# Kinds of arrays that have a mean.
NUMBERS = "biuf"

# Parts of the tested rows to nest over where there are no folds.
N_PARTS = 5


@dataclass(frozen=True, slots=True)
class Ensemble:
    """What greedy selection found, and whether it is worth having.

    Attributes
    ----------
    configurations : ndarray of int
        The members, as indices into ``cv_results_``.
    params : tuple of dict
        Their parameters.
    weights : ndarray of float
        Their weights, which add up to one.
    kept : bool
        Whether ``ensemble_estimator_`` is the ensemble, and not the best estimator.
    reason : str
        Why, in a sentence.
    gain : float
        By how much the score of ensembles that were selected on the other folds is
        above that of the winner, as a mean over folds; NaN where nothing was compared.
    interval : tuple of float
        Ends of the 90 % interval of the gain.
    p_value : float
        One-sided, of the paired test that the gain is due to chance.
    """

    configurations: IntArray
    params: tuple[Configuration, ...]
    weights: FloatArray
    kept: bool
    reason: str
    gain: float = float("nan")
    interval: tuple[float, float] = (float("nan"), float("nan"))
    p_value: float = 1.0


def check_ensemble(
    options: SearchOptions, configurations: Sequence[Configuration], y: Any
) -> None:
    """Refuse what cannot be averaged, before anything is fitted."""
    if not options.ensemble:
        return
    estimator = options.estimator
    name = type(estimator).__name__
    if not options.refit:
        raise InvalidInputError(
            f"ensemble=True fits its members on all rows, and refit={options.refit!r} "
            "asks for no such fit. Set refit=True, or ensemble=False."
        )
    if y is None or not (is_classifier(estimator) or is_regressor(estimator)):
        raise InvalidInputError(
            f"ensemble=True averages probabilities or numbers, and {name} without "
            "classes or numbers to predict has neither. Set ensemble=False."
        )
    if not is_classifier(estimator):
        return
    check_names(estimator, configurations)
    models = (configured(estimator, one) for one in configurations)
    if not any(hasattr(one, "predict_proba") for one in models):
        raise InvalidInputError(
            f"ensemble=True averages probabilities, which {name} does not have as it "
            "is set. Calibrate it (CalibratedClassifierCV), or set ensemble=False."
        )


def greedy_weights(score: Callable[[FloatArray], float], n_members: int) -> FloatArray:
    """Select members one by one, each as often as it helps.

    Parameters
    ----------
    score : callable
        The score of weights that add up to one; NaN counts as the worst.
    n_members : int
        How many there are to select from.

    Returns
    -------
    ndarray of shape (n_members,)
        The weights of the best round; of equal ones the first.

    Examples
    --------
    >>> truth = 0.25
    >>> members = np.array([0.0, 1.0])
    >>> greedy_weights(lambda weights: -abs(weights @ members - truth), 2)
    array([0.75, 0.25])
    """
    counts = np.zeros(n_members)
    best, best_score, since = counts, -np.inf, 0
    for _ in range(MOST_ROUNDS):
        tries = [
            score((counts + joined) / (counts.sum() + 1))
            for joined in np.eye(n_members)
        ]
        # A blend whose score is not defined is never picked, and does not end the rest.
        values = np.nan_to_num(np.array(tries), nan=-np.inf)
        pick = int(values.argmax())
        # Also where it does not help: the next member may, and PATIENCE ends it.
        counts = counts + np.eye(n_members)[pick]
        since += 1
        if values[pick] > best_score or not best.any():
            best, best_score, since = counts, values[pick], 0
        if since >= PATIENCE:
            break
    weights: FloatArray = best / best.sum()
    return weights


def choose_ensemble(
    setup: Setup,
    winner: int,
    params: Configuration,
    known: OutOfFoldPredictions | None,
) -> Ensemble:
    """Select an ensemble, and compare it with the winner on rows it was not chosen by.

    Parameters
    ----------
    setup : Setup
        The race.
    winner : int
        The choice of the search.
    params : dict
        Its parameters.
    known : OutOfFoldPredictions or None
        Those of the members; the winner is the first. None if there was no time for
        others.
    """
    alone = Ensemble(np.array([winner]), (params,), np.ones(1), False, "")
    if known is None or (setup.ends is not None and len(known.configurations) == 1):
        return _told(replace(alone, reason="there was no time for other members"))
    wanted = "predict_proba" if is_classifier(setup.template) else "predict"
    if known.response != wanted:
        # Several targets may have probabilities that do not tell all classes.
        several = wanted == "predict_proba" and known.predictions.ndim == 3
        lacks = "probability for each class of each target" if several else wanted
        reason = f"some of the confirmed configurations have no {lacks}"
        return _told(replace(alone, reason=reason))
    if len(known.configurations) == 1:
        return _told(replace(alone, reason="one configuration was confirmed only"))
    if known.predictions.dtype.kind not in NUMBERS:
        return _told(replace(alone, reason="the predictions are not numbers"))
    try:
        return _told(_selected(alone, _parts(setup, known), known))
    except Exception as error:
        # A scorer may ask for more than predictions, and the race has its winner.
        reason = f"the score of a mean of predictions fails with {error!r}"
        return _told(replace(alone, reason=reason))


def _selected(
    alone: Ensemble, parts: Sequence[_Part], known: OutOfFoldPredictions
) -> Ensemble:
    """Return what is selected, compared with the winner."""
    everywhere = greedy_weights(_mean_score(parts), len(known.configurations))
    chosen = np.flatnonzero(everywhere)
    ensemble = replace(
        alone,
        configurations=known.configurations[chosen],
        params=tuple(known.params[place] for place in chosen.tolist()),
        weights=everywhere[chosen],
    )
    if chosen.tolist() == [0]:
        reason = "no other configuration improves the mean of the predictions"
        return replace(ensemble, reason=reason)
    return _compared(ensemble, parts, len(known.configurations))


def fitted_ensemble(
    ensemble: Ensemble, template: Any, inputs: Inputs, winner: int, fitted: Any
) -> Any:
    """Return the ensemble as an estimator, fitted on all rows.

    Parameters
    ----------
    ensemble : Ensemble
        Members and weights.
    template : estimator
        What they are clones of.
    inputs : Inputs
        The rows.
    winner : int
        The choice of the search.
    fitted : estimator
        The same, which is fitted already.
    """
    members = [
        configured(template, clone(params, safe=False)) for params in ensemble.params
    ]
    classes = is_classifier(template)
    kind = WeightedEnsembleClassifier if classes else WeightedEnsembleRegressor
    place = np.flatnonzero(ensemble.configurations == winner).tolist()
    return kind(members, ensemble.weights.tolist()).fit_others(
        dict.fromkeys(place, fitted), inputs.X, inputs.y, **inputs.fit_params
    )


class _StandIn:
    """Answers like a fitted model whose predictions are known."""

    def __init__(
        self, mean: FloatArray, classes: Any, own_score: OwnScore = None
    ) -> None:
        self._mean = mean
        self._classes = classes
        self._own_score = own_score
        self.classes_ = names_of(classes)
        if classes is not None:
            self.predict_proba = self._probabilities
        if own_score is not None:
            self.score = partial(own_score, self)

    def __getattr__(self, name: str) -> Any:
        # Asked for whatever is not there.
        raise AttributeError(f"the scorer asks for {name}, and it has no model")

    def predict(self, X: Any) -> Any:
        """Return the numbers or the likeliest classes."""
        return labels_of(self._known(X), self._classes)

    def at(self, rows: IntArray) -> _StandIn:
        """Return what answers for some of the rows."""
        return _StandIn(self._mean[rows], self._classes, self._own_score)

    def _probabilities(self, X: Any) -> Any:
        mean, classes = self._known(X), self._classes
        return classes.answer(mean) if isinstance(classes, Targets) else mean

    def _known(self, X: Any) -> FloatArray:
        if len(self._mean) != np.shape(X)[0]:
            raise ValueError(
                f"the scorer asks for predictions of {np.shape(X)[0]} rows, and it was "
                f"given {len(self._mean)}"
            )
        return self._mean


class _Blended(FittedModel):
    """A stand-in with its rows, for a scorer that wants a model."""

    def at(self, rows: IntArray) -> _Blended:
        """Return the same for some of the rows."""
        return _Blended(self.model.at(rows), take(self.X, rows))


def labels_of(mean: FloatArray, classes: Any) -> Any:
    """Return the likeliest class of each row, or numbers as they are."""
    if isinstance(classes, Targets):
        return classes.labels(mean)
    return mean if classes is None else classes[mean.argmax(axis=1)]


def names_of(classes: Any) -> Any:
    """Return ``classes_`` as a fitted model has it: a list for several targets."""
    return list(classes.classes) if isinstance(classes, Targets) else classes


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one fold: what all members predict there, and what is true."""

    predictions: FloatArray
    loss: PointwiseLoss
    classes: Any
    X: Any
    y: Any
    weights: Any
    own_score: OwnScore

    def score(self, weights: FloatArray) -> float:
        """Return the score of a weighted mean."""
        value = self.loss.value(self.y, self.weights)
        return value(self._asked(weights), names_of(self.classes))

    def losses(self, weights: FloatArray) -> FloatArray:
        """Return the pointwise losses of a weighted mean, in units of the score."""
        found = self.loss.assess(self.y, self.weights)(
            self._asked(weights), names_of(self.classes)
        )
        if found.score is not None:
            return found.losses
        # The score may be a curve of the mean loss, as for a root of squares.
        mean = float(np.average(found.losses, weights=self.weights))
        step = 1e-6 * max(abs(mean), 1e-12)
        ends = self.loss.score([mean - step, mean + step], self.y, self.weights)
        return found.losses * float(ends[0] - ends[1]) / (2 * step)

    def shares(self) -> FloatArray:
        """Return the weight of each row in a mean over them."""
        n_rows = self.predictions.shape[1]
        if self.weights is None:
            return np.full(n_rows, 1 / n_rows)
        shares: FloatArray = np.asarray(self.weights) / np.sum(self.weights)
        return shares

    def _asked(self, weights: FloatArray) -> Any:
        mean = np.tensordot(weights, self.predictions, axes=1)
        response = self.loss.response
        if response == MODEL:
            return _Blended(_StandIn(mean, self.classes, self.own_score), self.X)
        if response == "predict":
            return labels_of(mean, self.classes)
        if isinstance(self.classes, Targets):
            values = response == "decision_function"
            of = self.classes.second if values else self.classes.answer
            return of(mean)
        if response == "decision_function" and mean.shape[1] == 2:
            return mean[:, 1]
        return mean


def _parts(setup: Setup, known: OutOfFoldPredictions) -> list[_Part]:
    data = setup.source.data
    classes = known.classes
    if isinstance(classes, tuple):
        classes = Targets(classes, known.listed)
    rows_of_race = np.arange(len(known.fold))
    original = setup.original_rows(slice(None))
    fold = known.fold[original]
    tested = rows_of_race[fold >= 0]
    # One test set: its rows are dealt out, or weights would be judged by the rows
    # that chose them.
    if len(np.unique(fold[tested])) < 2:
        fold = fold.copy()
        fold[tested] = np.arange(len(tested)) % N_PARTS
    parts = []
    for number in np.unique(fold[tested]).tolist():
        rows = rows_of_race[fold == number]
        parts.append(
            _Part(
                known.predictions[:, original[rows]],
                setup.scoring.loss.with_metadata(data.metadata.at(rows)),
                classes,
                take(data.X, rows),
                take(data.y, rows),
                take(data.score_weights, rows),
                _own_score(setup.template),
            )
        )
    return parts


def _own_score(estimator: Any) -> OwnScore:
    """Return the method ``score`` of a model if it asks for predictions alone."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    known = ClassifierMixin.score, RegressorMixin.score
    return score if score in known else None


def _mean_score(parts: Sequence[_Part]) -> Callable[[FloatArray], float]:
    """Return the mean over folds of the score of weights."""
    return lambda weights: float(np.mean([part.score(weights) for part in parts]))


def _compared(ensemble: Ensemble, parts: Sequence[_Part], n_members: int) -> Ensemble:
    """Compare fold by fold what the others selected with the winner."""
    winner = np.eye(n_members)[0]
    gains, variances, differences = [], [], []
    for place, part in enumerate(parts):
        others = [*parts[:place], *parts[place + 1 :]]
        # Selected anew without this fold: the gain is then one on rows not selected by.
        weights = greedy_weights(_mean_score(others), n_members)
        gains.append(part.score(weights) - part.score(winner))
        excess = part.losses(winner) - part.losses(weights)
        shares = part.shares()
        variances.append(np.sum((shares * (excess - shares @ excess)) ** 2))
        # Scaled so that their plain mean is the weighted one.
        differences.append(excess * shares * len(shares))
    gain = float(np.mean(gains))
    rows = np.concatenate(differences)
    # Folds count alike, whatever their size, as in the gain.
    error = float(np.sqrt(np.sum(variances))) / len(parts)
    width = float(student.ppf((1 + CONFIDENCE) / 2, max(1, len(rows) - 1))) * error
    p_value = float(paired_excess_test(rows[np.newaxis])[0])
    # Without a level: it is as probable that the winner is the lucky one, which was
    # chosen on all folds (docs/measurements/everyday.md).
    kept = gain > 0
    told = f"by {gain:.3g} on folds it was not selected by (p = {p_value:.2g})"
    return replace(
        ensemble,
        kept=kept,
        reason=f"it is better than the winner {told}"
        if kept
        else f"it is not better than the winner: {told[3:]}",
        gain=gain,
        interval=(gain - width, gain + width),
        p_value=p_value,
    )


def _told(ensemble: Ensemble) -> Ensemble:
    log_ensemble(len(ensemble.configurations), ensemble.kept, ensemble.reason)
    return ensemble
