"""From a search and its data to a race that can start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import check_random_state, get_tags

from cvst._sklearn_compat import num_samples
from cvst._text import nearest_name, repr_text, value_text
from cvst._typing import Configuration, IntArray, Rows
from cvst._values import is_estimator
from cvst.evaluation import Scratch, resolve_rescaling
from cvst.evaluation.device import arrays_on
from cvst.evaluation.losses import Scoring, constant_loss, resolve_scoring
from cvst.evaluation.machinery import (
    DataSource,
    Metadata,
    RaceData,
    configured,
    covered_by_one_fit,
    in_order,
    n_side_by_side,
    serves_device,
    shares_exactly,
    stack_rows,
    take,
    trains_on_dask,
)
from cvst.exceptions import InvalidInputError
from cvst.parallel import (
    Guard,
    cluster_with,
    effective_n_jobs,
    on_cluster,
    on_file,
    whereabouts,
)
from cvst.race import CVST, CrossValidation, Problem, Strategy, TrackAndConfirm
from cvst.race.machinery import space_of
from cvst.report.machinery import spoken_score
from cvst.search._evaluator import check_dask, evaluator_of
from cvst.search._listed import Listed
from cvst.search._log import log_progress, log_unused_device
from cvst.search._memory import bytes_of, check_memory, shared_room
from cvst.search._options import SearchOptions
from cvst.search._scoring_checks import (
    asked_within,
    check_scoring_fits,
    warn_of_no_bound,
)
from cvst.search.rows import (
    FoldMaker,
    Inputs,
    RacedRows,
    is_collection,
    known_classes,
    order_rows,
    raceable,
    raced_rows,
    rows_for_classes,
)

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "Setup",
    "check_names",
    "prepare",
    "resolve_strategy",
    "shared_rows",
    "with_seed",
]

DEFAULT_STRATEGY = "track_and_confirm"

STRATEGIES: dict[str, type[Strategy]] = {
    DEFAULT_STRATEGY: TrackAndConfirm,
    "cvst": CVST,
    "cross_validation": CrossValidation,
}

LARGEST_SEED = 2**31 - 1

# Folds of predictions that are asked for where the strategy has none, as in
# scikit-learn.
DEFAULT_FOLDS = 5

# In place of ``random_state=None``.
DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class Setup:
    """A race that can start, and what is needed to explain it afterwards.

    Attributes
    ----------
    strategy : Strategy
        Decides.
    problem : Problem
        What the strategy knows.
    source : DataSource
        Trains and tests.
    scoring : Scoring
        What is raced on, and what is recorded besides.
    template : estimator
        The user's estimator with its seeds filled in.
    order : ndarray of int
        Original row of each row of the race.
    n_all : int
        Number of rows that the user passed.
    listed : Listed or None
        What joins in turn, where time is short for a look at all.
    ends : float or None
        Reading of the clock when everything has to be over, where the strategy keeps
        the time.
    """

    strategy: Strategy
    problem: Problem
    source: DataSource
    scoring: Scoring
    template: Any
    order: IntArray
    n_all: int
    listed: Listed | None = None
    ends: float | None = None

    def within(self, seconds: float | None) -> Setup:
        """Return the race with a limit; its looks may overlap only if it has one.

        Which of them is over first depends on the machine, and so does what follows.
        """
        at_once = 1 if seconds is None else n_side_by_side(self.source)
        problem = replace(self.problem, seconds=seconds, n_at_once=at_once)
        return replace(self, problem=problem)

    def until(self, ends: float | None) -> Setup:
        """Return the race with the reading of the clock when all has to be over."""
        return replace(self, ends=ends)

    def begun_as(self, problem: Mapping[str, Any]) -> Setup:
        """Return the race with what was measured when it began, in an earlier run."""
        constant = problem["constant_loss"]
        known = replace(self.problem, constant_loss=constant)
        return replace(self, problem=known).within(problem["seconds"])

    def order_of(self, rows: Rows) -> IntArray:
        """Return the original rows; those of a separate test set count from N on.

        Rows of weight zero have no pointwise losses and are left out.
        """
        weights = self.source.data.score_weights
        original = self.original_rows(rows)
        return original if weights is None else original[weights[rows] > 0]

    def original_rows(self, rows: Rows) -> IntArray:
        """Return the original rows, those of weight zero too."""
        tested = np.arange(self.n_all, self.n_all + self.problem.n_validation)
        original: IntArray = np.concatenate([self.order, tested])
        return original[rows]


def resolve_strategy(strategy: Any) -> Strategy:
    """Return a strategy that is not shared, for a name or an object.

    Parameters
    ----------
    strategy : str or Strategy
        A name of ``STRATEGIES``, or an object, which is copied.

    Returns
    -------
    Strategy
        A new object, or a copy.

    Examples
    --------
    >>> resolve_strategy("cvst").max_steps
    10
    """
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise InvalidInputError(
                f"strategy={strategy!r} is not known. Use one of "
                f"{', '.join(map(repr, STRATEGIES))}, or a strategy object."
            )
        return STRATEGIES[strategy]()
    if isinstance(strategy, type) or not isinstance(strategy, Strategy):
        raise InvalidInputError(
            f"strategy={strategy!r} is not a strategy{_what_is_missing(strategy)}. Use "
            "a name such as 'cvst', an object such as CVST(max_steps=20), or an object "
            "of a class of your own that derives from cvst.race.Strategy."
        )
    copy: Strategy = clone(strategy, safe=False)
    return copy


def _what_is_missing(given: Any) -> str:
    """Say all that keeps an object of the user's from being a strategy."""
    if isinstance(given, type):
        return f" but a class: {given.__name__}(...) makes an object of it"
    needed = sorted(Strategy.__abstractmethods__)
    missing = [name for name in needed if not callable(getattr(given, name, None))]
    if len(missing) == len(needed):
        return ""
    lacks = f", and lacks {', '.join(missing)}" if missing else ""
    return f": it does not derive from cvst.race.Strategy{lacks}"


def prepare(
    options: SearchOptions, configurations: list[Configuration], inputs: Inputs
) -> Setup:
    """Check everything, order the rows and put the parts together."""
    estimator = options.estimator
    check_names(estimator, configurations)
    arrays = arrays_on(options.device)
    strategy = resolve_strategy(options.strategy)
    seeds = _seeds(options.random_state, strategy)
    rng = np.random.default_rng(seeds[1])
    order = _order_name(options, inputs.groups)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    most = None if pairwise else strategy.most_rows
    on_dask = trains_on_dask(estimator)
    if on_dask:
        check_dask(options)
    all_of_them = on_dask and is_collection(inputs.X)
    raced = raced_rows(inputs, most, options.cv, order, rng, all_of_them)
    inputs = raced.inputs
    scoring = resolve_scoring(
        options.scoring,
        estimator,
        inputs.y,
        options.refit,
        options.race_by,
        metadata=bool(inputs.metadata),
        other_metadata=[name for name, one in inputs.other_metadata.items() if one],
    )
    loss = scoring.loss.with_metadata(inputs.metadata)
    template = with_seed(configured(estimator, {}), seeds[0])
    seeded = [
        {name: with_seed(value, seeds[0]) for name, value in configuration.items()}
        for configuration in configurations
    ]
    stratify = is_classifier(estimator)
    ordering = order_rows(
        order, inputs.n_samples, inputs.y, inputs.groups, stratify, rng
    )
    data = _race_data(raced, ordering.permutation, pairwise)
    classes = known_classes(estimator, data)
    covered = {} if options.incremental else covered_by_one_fit(template)
    problem = Problem(
        n_configurations=len(configurations),
        n_samples=inputs.n_samples,
        n_validation=0 if inputs.X_val is None else num_samples(inputs.X_val),
        boundaries=ordering.boundaries,
        seed=int(seeds[2]),
        space=space_of(configurations, covered),
        constant_loss=asked_within(options.fit_timeout, constant_loss, loss, inputs.y),
        min_rows=rows_for_classes(classes, data),
        seconds=options.time_budget if options.keeps_time else None,
        configurations=tuple(configurations),
        covered=covered,
        n_refit=data.n_refit,
        max_bytes=bytes_of(options.max_memory),
        of_all_rows=not loss.rankable,
        scoring=scoring.name
        if scoring.several
        else spoken_score(options.scoring, estimator),
    )
    # Before folds are made and anything is fitted: a bad setting fails at once.
    strategy.check(problem)
    others = [
        one.with_metadata(inputs.other_metadata.get(name, Metadata()))
        for name, one in scoring.others.items()
    ]
    check_scoring_fits(
        strategy, loss, inputs.y, template, seeded, others, options.fit_timeout
    )
    keeps_order = strategy.keeps_order
    folds = FoldMaker(options.cv, stratify, inputs, ordering, rng, keeps_order)
    problem = replace(
        problem,
        orders=_fresh_orders(strategy, order, stratify, data, inputs.groups, rng),
        folds=folds.for_counts(strategy.fold_counts or _own_folds(options)),
    )
    strategy, problem = raceable(strategy, problem, data, classes, folds)
    _check_weighted_rows(strategy, problem, data)
    warn_of_no_bound(strategy, loss, data.score_weights, inputs.groups, options.cv)
    check_memory(options.max_memory, strategy, problem)
    # Whoever asks for plain cross-validation gets the scores of plain fits.
    inexact = strategy.keeps_order and not shares_exactly(template, seeded)
    evaluator = evaluator_of(options, template, scoring, inexact)
    if arrays is not None and not serves_device(evaluator, template):
        log_unused_device(options.device, template)
        arrays = None
    source = DataSource(
        estimator=template,
        configurations=seeded,
        data=data,
        loss=scoring.loss,
        rescaling=resolve_rescaling(
            options.rescale, template, seeded, strategy.rescales
        ),
        evaluator=evaluator,
        others=scoring.others,
        classes=classes,
        # Its workers are those of Dask's client.
        n_jobs=1 if on_dask else options.n_jobs,
        with_residuals=strategy.needs_residuals,
        raise_errors=options.error_score == "raise",
        keep_losses=options.return_pointwise,
        watch=log_progress,
        device=arrays,
        folds=problem.folds,
        all_stay=strategy.takes_all_folds,
        scratch=Scratch(shared_room(options.max_memory)),
    )
    rows = raced.original(ordering.permutation)
    return Setup(strategy, problem, source, scoring, template, rows, raced.n_all)


def _own_folds(options: SearchOptions) -> tuple[int, ...]:
    """Return the folds of predictions for a strategy that has none."""
    return (DEFAULT_FOLDS,) if options.return_predictions or options.ensemble else ()


def _seeds(random_state: Any, strategy: Strategy) -> IntArray:
    """Return seeds for the estimators, for the order of the rows and for the strategy.

    Without a seed the first two are always the same: a search of a grid is repeatable,
    as with the unshuffled folds of scikit-learn's. What is drawn or proposed is not.
    """
    fixed = DEFAULT_SEED if random_state is None else random_state
    # One draw for three uses, so that none of them shifts the others.
    seeds: IntArray = check_random_state(fixed).randint(LARGEST_SEED, size=3)
    if random_state is None and strategy.proposes:
        seeds[2] = check_random_state(None).randint(LARGEST_SEED)
    return seeds


@contextmanager
def shared_rows(setup: Setup, options: SearchOptions) -> Iterator[Setup]:
    """Bring the rows to where the workers are: into a file, or onto a cluster."""
    source = setup.source
    where = whereabouts(source.n_jobs, source.evaluator.prefer)
    if options.fit_timeout is not None or where != "here":
        # Other processes get all rows of the race at once.
        source = replace(source, data=source.data.in_memory())
    if options.fit_timeout is not None:
        _check_no_cluster(f"fit_timeout={options.fit_timeout:g} needs processes")
        guard = Guard(effective_n_jobs(source.n_jobs), options.fit_timeout)
        with on_file(source.data) as stored, closing(guard):
            yield replace(setup, source=replace(source, stored=stored, guard=guard))
        return
    if options.incremental:
        _check_no_cluster("incremental=True keeps its models in threads")
    if where == "files":
        with on_file(source.data) as stored:
            yield replace(setup, source=replace(source, stored=stored))
    elif where == "cluster" and source.device is None:
        with closing(cluster_with(source.data, source.n_jobs)) as cluster:
            yield replace(setup, source=replace(source, cluster=cluster))
    else:
        # Threads, and one worker, see the rows as they are. Behind a backend of which
        # nothing is known they travel with every task.
        yield replace(setup, source=source)


def _check_no_cluster(claim: str) -> None:
    if on_cluster():
        raise InvalidInputError(
            f"{claim} of this machine, and the backend of joblib is a cluster. Leave "
            "that option out, or fit outside parallel_config(backend=...)."
        )


def check_names(estimator: Any, configurations: Sequence[Configuration]) -> None:
    """Refuse parameters that the estimator does not have."""
    if not configurations:
        raise InvalidInputError(
            "The grid has no configurations. Give it at least one dict of values."
        )
    # Once for the whole grid: it is slow for deep pipelines.
    known = set(estimator.get_params(deep=True))
    for configuration in configurations:
        unknown = set(configuration) - known
        if not unknown:
            continue
        # A step that the grid replaces brings parameters of its own.
        try:
            configured(estimator, configuration)
        except (ValueError, TypeError, AttributeError) as error:
            name = sorted(unknown, key=value_text)[0]
            raise InvalidInputError(
                f"{repr_text(name)} is not a parameter of {type(estimator).__name__}. "
                f"{nearest_name(value_text(name), sorted(known))}Its parameters are "
                f"{', '.join(sorted(known))}."
            ) from error


def with_seed(value: Any, seed: int) -> Any:
    """Fill in every ``random_state=None``, so that all configurations share a seed."""
    if not is_estimator(value):
        return value
    unset = {
        name: int(seed)
        for name, current in value.get_params(deep=True).items()
        if current is None and name.rsplit("__", 1)[-1] == "random_state"
    }
    return configured(value, unset) if unset else value


def _race_data(raced: RacedRows, order: IntArray, pairwise: bool) -> RaceData:
    inputs = raced.inputs
    X = in_order(inputs.X, order)
    X_val = inputs.X_val
    if pairwise:
        # A kernel has a column per training row, which moves with it.
        X = X[:, order]
        X_val = None if X_val is None else np.asarray(X_val)[:, order]

    def ordered(weights: Any) -> Any:
        if weights is None or X_val is None:
            return None if weights is None else weights[order]
        # The weights are those of the training rows; test rows count alike.
        return np.concatenate([weights[order], np.ones(num_samples(X_val))])

    fit_params = dict(inputs.fit_params)
    row_params = {
        name: in_order(fit_params.pop(name), order) for name in inputs.row_params
    }
    return RaceData(
        X=X if X_val is None else stack_rows(X, X_val),
        y=stack_rows(in_order(inputs.y, order), inputs.y_val),
        n_samples=inputs.n_samples,
        row_params=row_params,
        other_params=fit_params,
        score_weights=ordered(inputs.sample_weight),
        other_weights={
            name: ordered(weights) for name, weights in inputs.other_weights.items()
        },
        metadata=inputs.metadata.in_order(order),
        other_metadata={
            name: one.in_order(order) for name, one in inputs.other_metadata.items()
        },
        pairwise=pairwise,
        n_refit=None if raced.rows is None else raced.n_refit,
    )


def _check_weighted_rows(strategy: Strategy, problem: Problem, data: RaceData) -> None:
    """Refuse subsets and folds that train or test on rows of weight zero alone."""
    if data.score_weights is None or problem.orders:
        return
    folds = [fold for some in problem.folds.values() for fold in some]
    for pair in *strategy.subsets(problem), *folds:
        for rows, what in zip(pair, ("train", "test"), strict=True):
            weights = data.score_weights[rows]
            if not np.any(weights > 0):
                raise InvalidInputError(
                    f"sample_weight is 0 for all {len(weights)} rows that some subset "
                    f"or fold would {what} on. Drop rows of weight 0, or use another "
                    "ordering."
                )


def _order_name(options: SearchOptions, groups: Any) -> str:
    """Return the order to use: folds that go forward in time ask for that of time."""
    forward = isinstance(options.cv, TimeSeriesSplit) and groups is None
    return "given" if forward and options.ordering == "auto" else options.ordering


def _fresh_orders(
    strategy: Strategy,
    order: str,
    stratify: bool,
    data: RaceData,
    groups: Any,
    rng: np.random.Generator,
) -> tuple[IntArray, ...]:
    if not strategy.n_orders:
        return ()
    if order in ("given", "grouped") or groups is not None:
        raise InvalidInputError(
            "shuffle_each_step=True mixes rows that ordering='given' and groups keep "
            "apart. Set shuffle_each_step=False or ordering='shuffled'."
        )
    y = take(data.y, slice(0, data.n_samples))
    return tuple(
        order_rows(order, data.n_samples, y, None, stratify, rng).permutation
        for _ in range(strategy.n_orders)
    )
