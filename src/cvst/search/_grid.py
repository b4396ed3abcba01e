"""Race over all combinations of a grid."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import ParameterGrid

from cvst._typing import Configuration
from cvst.search._base import BaseRaceSearch
from cvst.search._setup import DEFAULT_STRATEGY

__all__ = ["RaceGridSearchCV"]


class RaceGridSearchCV(BaseRaceSearch):
    """Exhaustive search that drops losing configurations along the way.

    A drop-in for :class:`sklearn.model_selection.GridSearchCV`: every configuration is
    compared on a part of the data, losers are dropped, the best are confirmed on all
    rows, and the winner is fitted on all rows.

    Parameters
    ----------
    estimator : estimator object
        Any scikit-learn estimator with ``fit`` and ``predict``.
    param_grid : dict or list of dict
        Values to try for each parameter.
    scoring : str, callable, PointwiseLoss, list, tuple, dict or None, default=None
        Any score of scikit-learn by its name, a scorer object, a function
        ``scorer(estimator, X, y)``, or losses of your own. None is the estimator's own
        (accuracy or r2). Several scores are given as a list of names, a dictionary, or
        a function that returns a dictionary.
    strategy : str or strategy object, default="track_and_confirm"
        Decides what to look at and what to drop. :class:`cvst.TrackAndConfirm`
        confirms the best by cross-validation on all rows, ``"cvst"`` is the paper's
        race (:class:`cvst.CVST`).
    ordering : {"auto", "shuffled", "stratified", "grouped", "given"}, default="auto"
        Order of the rows, of which every subset is a prefix: stratified for
        classifiers, shuffled for regressors, grouped when ``groups`` are passed to
        ``fit``, given when ``cv`` is a ``TimeSeriesSplit``; ``"given"`` keeps the
        order of the data (time).
    rescale : "auto", dict, callable or None, default="auto"
        How hyper-parameters follow the subset size. The grid always means what it
        means on all rows.
    cv : int, splitter, iterable or None, default=None
        Folds, where folds are used: to confirm the best, or for data too small for
        the paper's race.
    refit : bool, str or callable, default=True
        Fit the winner on all rows; a callable gets ``cv_results_`` and returns the
        index of its choice, as :class:`cvst.SimplestNotWorse` does. With several
        scores, the name of the one to race on and to choose by.
    race_by : str or None, default=None
        With several scores, the name of the one to race on where ``refit`` does not
        say it, or where it names another one to choose by: the best by that score
        among all that were judged by the same looks as the leader of the race.
    n_jobs : int or None, default=None
        Number of workers. The result does not depend on it.
    error_score : "raise" or number, default=nan
        What stands for the score of a failed fit.
    return_pointwise : bool, default=False
        Keep the pointwise losses of all looks in ``pointwise_losses_``. Without it a
        pickled search holds none, and stays small.
    return_predictions : bool, default=False
        Keep out-of-fold predictions of the confirmed configurations, to blend or stack
        them: these are fitted once more on their folds after the race, which takes time
        of its own. Not with ``time_budget``.
    ensemble : bool, default=False
        Look for a weighted ensemble of the confirmed configurations, and keep it if it
        is better than the winner on rows it was not selected by. For classifiers with
        probabilities, and for regressors. With ``time_budget`` in
        :class:`RaceSearchCV` only, which keeps time for it.
    random_state : int, RandomState or None, default=None
        Seeds the order of the rows, and every estimator whose own ``random_state`` is
        None: all configurations share that seed. None is one fixed order too, so that
        the race is the same at every ``fit``; only the final fit then draws its own
        random numbers, as in scikit-learn.
    verbose : int, default=0
        1 shows a progress bar (by tqdm or rich, in a terminal or a notebook; else a
        line per look), 2 every event. They always go to the logger ``"cvst"``.
    incremental : bool, default=False
        Let estimators with ``partial_fit`` continue their model of the last look with
        the new rows: cheaper, but another estimator of the same thing.
    on_interrupt : {"raise", "return"}, default="raise"
        After Ctrl-C the leader's attributes are set and refitting is skipped; then the
        interrupt is raised again, or ``fit`` returns.
    time_budget : float or None, default=None
        Seconds for the whole ``fit``, final fit included. A few small timed fits tell
        how long this estimator takes on this machine; ``"cvst"`` then races with as
        many steps as fit (``budget_settings_`` says which). When the clock runs out,
        the leader wins and ``stop_reason_`` is ``"time_budget"``.
    max_looks : int or None, default=None
        Most looks of the race, whatever the strategy.
    fit_timeout : float or None, default=None
        Seconds that fitting and testing one configuration may take at a look. Whatever
        takes longer, or ends its process, is a failed fit. The fits then run in
        processes of their own, also with one worker, which take a second or two to
        start and again after each that had to be ended; models of the last look cannot
        be continued there (``incremental=True`` is refused). The final fit, fits that
        are timed as it is done, and the weights of an ensemble have no limit.
    device : str, default="cpu"
        Where kernel ridge, kernel logistic and ridge regression and nearest neighbours
        are worked on: ``"cuda"`` or ``"cuda:1"`` is a card, all configurations of a
        look at once, with PyTorch (``pip install 'cvst[gpu]'``). Other estimators are
        fitted as they are, so give them a device of their own if they have one.
    max_memory : int, str or None, default=None
        Bound on what the race holds at a time besides the rows, the models and what
        a single fit needs: bytes, or a text such as ``"500MB"``. Looks then test fewer
        rows (200 at least), and less work is kept for other configurations to share;
        with processes as workers each of them keeps its own. A race that cannot do
        with it is refused, with the least that would do. None leaves the bounds of
        the library: ten million losses of a look, about 400 MB, and as much again for
        kernels and transformed rows. What the estimate needs comes besides.
    checkpoint : str, path or None, default=None
        A file in which the race is kept while it runs. The same search, run again,
        goes on where it was, and its result is that of a race never broken off. It
        needs a ``random_state`` that is a number. :func:`cvst.load_checkpoint` reads
        the file, also while the race runs.
    pre_dispatch, return_train_score
        Accepted for compatibility; without effect.

    Attributes
    ----------
    best_index_, best_params_, best_estimator_, refit_time_
        As in scikit-learn.
    best_score_ : float
        Mean score of the winner over the folds that decided, or its score at the last
        look where there were no folds, after training on ``best_score_n_train_`` rows:
        not an estimate for a model that is fitted on all rows.
    best_score_estimate_ : ScoreEstimate or None
        Such an estimate, in the units of ``best_score_``: ``value``, and an interval
        from ``low`` to ``high`` that holds the score on new rows with a chance of
        ``level``. None where the winner has no score or its losses were not kept,
        where ``refit`` chose by another score than ``race_by``, and where nothing tells
        how far the score varies.
    race_ : RaceState
        Everything that happened.
    n_looks_ : int
        Number of looks.
    stop_reason_ : str
        Why the race ended, in the words of its strategy; ``"tie"`` where the strategy
        would call the winner confirmed, and a paired test cannot tell it from some
        others.
    interrupted_in_ : str or None
        What Ctrl-C (or an error in the race) ended: ``"race"``, ``"estimate"``,
        ``"predictions"`` (out-of-fold, and the choice of an ensemble), ``"final_fit"``
        or ``"ensemble_fit"``; what comes later is missing. None without an interrupt.
    tie_ : Tie or None
        Those others, whatever ended the race, and also where ``refit`` chose another
        than the one that ranks first: ``n_tied``, the smallest ``p_value``, ``n_rows``
        that were compared and the ``level`` that would have told them apart. None if
        all others were found worse.
    surviving_params_ : list of dict
        Configurations never dropped, best first.
    rescale_ : dict
        Exponents used to rescale hyper-parameters.
    strategy_ : Strategy
        The strategy that was used.
    score_name_ : str
        Name of the score that was raced on in ``cv_results_``; ``"score"`` if there is
        only one.
    best_score_name_ : str
        Name of the score that ``best_score_`` and ``score`` are about: that of the
        race, unless ``refit`` names another one.
    pointwise_losses_ : list of (configurations, rows, losses)
        Only with ``return_pointwise``, one entry per look: indices into the grid, the
        test rows as you passed them (those of ``X_val`` count on from the last row of
        ``X``, those of weight 0 are left out), and a table of losses.
    out_of_fold_predictions_ : OutOfFoldPredictions
        Only with ``return_predictions`` or ``ensemble``: what the configurations that
        ran all folds predict for rows they were not trained on. None where a budget
        had no time for any but the winner.
    ensemble_ : Ensemble
        Only with ``ensemble``: members, weights, the estimated gain with its interval,
        and whether it was kept and why.
    ensemble_estimator_ : estimator
        Only with ``ensemble``: the ensemble, fitted on all rows, or ``best_estimator_``
        where it was not kept.
    budget_settings_ : dict
        Only with ``time_budget``: parameters which, set on a clone without a budget,
        repeat this race exactly. Missing where time was too short for a look at all:
        configurations were then raced in turn, and which ones depends on the clock.
    cv_results_ : dict
        One row per configuration; loads into a data frame.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from cvst import RaceGridSearchCV
    >>> from cvst.datasets import make_noisy_sinc
    >>> X, y = make_noisy_sinc(500, random_state=0)
    >>> grid = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.1, 1.0, 10.0, 100.0]}
    >>> search = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, random_state=0)
    >>> search.fit(X, y).best_params_["gamma"] >= 1
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRaceSearch._parameter_constraints,
        "param_grid": [dict, list],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        strategy: Any = DEFAULT_STRATEGY,
        ordering: str = "auto",
        rescale: Any = "auto",
        cv: Any = None,
        refit: Any = True,
        race_by: str | None = None,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        return_pointwise: bool = False,
        return_predictions: bool = False,
        ensemble: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        incremental: bool = False,
        on_interrupt: str = "raise",
        time_budget: float | None = None,
        max_looks: int | None = None,
        fit_timeout: float | None = None,
        device: str = "cpu",
        max_memory: int | str | None = None,
        checkpoint: Any = None,
        pre_dispatch: Any = "2*n_jobs",
        return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.strategy = strategy
        self.ordering = ordering
        self.rescale = rescale
        self.cv = cv
        self.refit = refit
        self.race_by = race_by
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_pointwise = return_pointwise
        self.return_predictions = return_predictions
        self.ensemble = ensemble
        self.random_state = random_state
        self.verbose = verbose
        self.incremental = incremental
        self.on_interrupt = on_interrupt
        self.time_budget = time_budget
        self.max_looks = max_looks
        self.fit_timeout = fit_timeout
        self.device = device
        self.max_memory = max_memory
        self.checkpoint = checkpoint
        self.pre_dispatch = pre_dispatch
        self.return_train_score = return_train_score

    def _configurations(self) -> list[Configuration]:
        # scikit-learn's own order: indices and ties mean the same.
        return list(ParameterGrid(self.param_grid))
