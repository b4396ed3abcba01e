"""A race as plain values: what every page, table and file is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._searched import FittedSearch, Search
from cvst._text import estimate_text, shared_path, shortened, value_text
from cvst._typing import Configuration, FloatArray, IntArray
from cvst._values import finite_or_none
from cvst.displays import (
    ImportanceDisplay,
    IncumbentDisplay,
    TimeConsumptionDisplay,
)
from cvst.evaluation.losses import own_score_name
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, Strategy
from cvst.race.machinery import deciding_looks, deciding_mean, rank_by_means
from cvst.report._advice import advice
from cvst.report._allowed import Allowed
from cvst.report._axes import differing_texts, parameter_axes
from cvst.report._explain import score_note, stop_sentence, why_it_won
from cvst.report._failures import failure_sentences
from cvst.report._measures import Measure, measure_values, measures_of
from cvst.report._pictures import (
    importance_values,
    incumbent_values,
    slice_values,
    stage_rows,
)
from cvst.report._repeat import search_code
from cvst.report._ties import Tie, tie_of
from cvst.report._words import as_text
from cvst.statistics import SpicerTest

__all__ = ["estimate_values", "race_summary", "summary"]

# Raised when a reader of the old values would misread the new ones.
FORMAT = 1

# Folds of a plain search to compare with: the default of GridSearchCV.
N_FOLDS = 5

# What pages tell of an estimate.
ESTIMATED = ("value", "low", "high", "level", "optimism", "growth")


def summary(
    search: FittedSearch, *, command: str | None = None, ahead: bool = True
) -> dict[str, Any]:
    """Return all that a report says about a fitted search, as plain values.

    Parameters
    ----------
    search : RaceGridSearchCV or RaceRandomSearchCV
        A fitted search.
    command : str, optional
        The command line that repeats it, if there was one.
    ahead : bool
        Whether to say which parameters matter and what to do next, which takes about a
        second.

    Returns
    -------
    dict
        Strings, numbers, lists and dictionaries only, as JSON has them. Parameters
        are text, and named without the path that all of them share, which is the
        value of ``"path"``; numbers that are not finite are None.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> page = summary(search.fit(*load_iris(return_X_y=True)))
    >>> page["n_configurations"], page["winner"]["parameters"]
    (2, {'n_neighbors': '5'})
    """
    if not hasattr(search, "race_"):
        raise InvalidInputError(
            f"This {type(search).__name__} has no race_ to report. Fit it first."
        )
    state = search.race_
    results = search.cv_results_
    score = getattr(search, "score_name_", "score")
    chosen_by = getattr(search, "best_score_name_", score)
    ranking, ranks = search.strategy_.ranking(state), results[f"rank_test_{score}"]
    # The search may have put the order of the scores in place of that of losses.
    ranking = ranking[np.argsort(ranks[ranking], kind="stable")]
    page = race_summary(
        state,
        results["params"],
        ranking,
        ranks=ranks,
        scoring=score_name(search),
        strategy=search.strategy_,
        stop_reason=search.stop_reason_,
        winner=int(search.best_index_),
        tie=getattr(search, "tie_", None),
        chosen_by=None if chosen_by == score else chosen_by,
    )
    winner = page["winner"]
    winner["score"] = finite_or_none(search.best_score_)
    if chosen_by != score:
        winner["score_name"] = chosen_by
    told = getattr(search, "best_score_estimate_", None)
    winner["estimate"] = estimate_values(told, score_name(search))
    winner["score_n_train"] = int(search.best_score_n_train_)
    winner["score_rows"] = _score_rows(state, int(search.best_index_))
    winner["score_note"] = score_note(
        winner["score_rows"],
        state.problem.n_samples,
        int(state.present.any(axis=1).sum()),
        winner["estimate"] is not None,
    )
    if ahead:
        _look_ahead(page, search)
    page["plain_search"] = {
        "n_folds": N_FOLDS,
        "seconds": TimeConsumptionDisplay.from_search(
            search, n_folds=N_FOLDS
        ).cross_validation_seconds,
    }
    winner["refit_seconds"] = finite_or_none(getattr(search, "refit_time_", np.nan))
    page["search"] = type(search).__name__
    page["estimator"] = value_text(search.estimator, 300)
    page["repeat"] = {
        "code": search_code(search),
        "command": None if command is None else as_text("command", command),
        # A grid has one fixed order of the rows even without a seed.
        "seeded": search.random_state is not None or hasattr(search, "param_grid"),
    }
    return page


def estimate_values(told: Any, scoring: str | None) -> dict[str, Any] | None:
    """Return what the winner is expected to score on new rows, None if unknown.

    Parameters
    ----------
    told : ScoreEstimate or None
        The estimate.
    scoring : str or None
        Name of the score; without one there are losses only, and nothing to say.
    """
    if told is None or scoring is None:
        return None
    values = {name: finite_or_none(getattr(told, name)) for name in ESTIMATED}
    # An estimate without its interval would look surer than it is.
    if None in values.values():
        return None
    text = estimate_text(scoring, values)[1]  # type: ignore[arg-type]
    return {**values, "n_configurations": told.n_configurations, "text": text}


def _look_ahead(page: dict[str, Any], search: FittedSearch) -> None:
    """Add what takes a second to compute: importances, and what follows from them."""
    state, path = search.race_, page["path"]
    importance = ImportanceDisplay.from_search(search)
    seen = np.flatnonzero(state.present.any(axis=1))
    known = [
        {str(name).removeprefix(path): value for name, value in one.items()}
        for one in (search.cv_results_["params"][number] for number in seen.tolist())
    ]
    page["importance"] = importance_values(importance)
    defaults = search.estimator.get_params()
    page["advice"] = advice(
        known,
        int(np.flatnonzero(seen == search.best_index_)[0]),
        importance,
        IncumbentDisplay.from_search(search),
        search.stop_reason_,
        {str(name).removeprefix(path): value for name, value in defaults.items()},
        Allowed(search, path),
    )


def race_summary(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranking: IntArray,
    *,
    ranks: IntArray | None = None,
    scores: FloatArray | None = None,
    scoring: str | None = None,
    strategy: Strategy | None = None,
    stop_reason: str | None = None,
    winner: int | None = None,
    tie: Tie | None = None,
    chosen_by: str | None = None,
) -> dict[str, Any]:
    """Return what is known of a race, over or under way, as plain values.

    Parameters
    ----------
    state : RaceState
        The race.
    configurations : sequence of dict
        Its configurations.
    ranking : ndarray of int
        Survivors, the leader first.
    ranks : ndarray of shape (n_configurations,), optional
        Ranks of all; by default they follow from the ranking.
    scores : ndarray of shape (n_configurations, n_looks), optional
        Scores with scikit-learn's sign; by default those that the state holds.
    scoring : str, optional
        Name of the score. Without it, losses are shown.
    strategy : Strategy, optional
        What decides; it also names the leader after each look.
    stop_reason : str, optional
        Why the race is over; None while it is not.
    winner : int, optional
        The one that was chosen, if not the first of the ranking.
    tie : Tie, optional
        Others that no test told from the first of the ranking, if that is known
        already.
    chosen_by : str, optional
        Name of the score that chose the winner, if not that of the race.

    Returns
    -------
    dict
        As that of :func:`summary`, without what only a search knows.
    """
    path = shared_path(configurations)
    configurations = [
        {str(name).removeprefix(path): value for name, value in one.items()}
        for one in configurations
    ]
    first = int(ranking[0]) if winner is None else winner
    if scores is None and np.isfinite(state.scores).any():
        scores = state.scores
    if ranks is None:
        by_mean = strategy is not None and strategy.ranks_by_mean(state)
        ranks = rank_by_means(state, np.asarray(ranking), scores, by_mean)
    measures = measures_of(state, scores, scoring)
    problem = state.problem
    finished = stop_reason is not None
    if finished and tie is None:
        tie = tie_of(state, int(ranking[0]), strategy)
    incumbent = (
        IncumbentDisplay.from_state(state, strategy=strategy) if state.n_looks else None
    )
    return {
        "format": FORMAT,
        "finished": finished,
        "stop_reason": stop_reason,
        "stop_sentence": stop_sentence(stop_reason, state.n_looks, strategy, tie),
        "strategy": "" if strategy is None else shortened(repr(strategy), 300),
        "test": _test(strategy),
        "window": 0 if strategy is None else strategy.window,
        "n_samples": problem.n_samples,
        "n_validation": problem.n_validation,
        "n_configurations": state.n_configurations,
        "n_active": state.n_left,
        "n_waiting": state.n_waiting,
        "n_looks": state.n_looks,
        "path": path,
        # Where no score is known losses are shown, and must not bear a score's name.
        "scoring": None if measures[0].source == "losses" else scoring,
        "measures": [measure_values(one, state, incumbent) for one in measures],
        "failures": failure_sentences(state, configurations),
        "parameters": parameter_axes(configurations),
        "drop_reasons": {} if strategy is None else dict(strategy.sentences),
        "looks": _looks(state, configurations, incumbent, scores),
        "stages": stage_rows(state, measures[0], incumbent),
        "incumbent": incumbent_values(incumbent),
        "slices": slice_values(state, configurations, strategy, first),
        "configurations": _configurations(
            state, configurations, ranks, scores, measures
        ),
        "winner": {
            "index": first,
            "parameters": _texts(configurations[first]),
            "why": why_it_won(
                state,
                configurations,
                ranking,
                first,
                strategy,
                tie,
                measures[0],
                chosen_by,
            )
            if state.n_looks
            else [],
        },
    }


def _test(strategy: Strategy | None) -> dict[str, Any] | None:
    """Return the lines of the sequential test, None for strategies without one."""
    test = None if strategy is None else strategy.sequential_test
    if test is None:
        return None
    runs = np.arange(test.max_steps + 1)
    return {
        "name": "closed" if isinstance(test, SpicerTest) else "open",
        "loser": [finite_or_none(value) for value in test.loser_boundary(runs)],
        "winner": [finite_or_none(value) for value in test.winner_boundary(runs)],
    }


def _score_rows(state: RaceState, winner: int) -> str:
    """Say how many rows the score was reached with: folds of one stage may differ."""
    looks = deciding_looks(state, np.flatnonzero(state.present[winner]))
    sizes = state.subset_sizes[looks]
    least, most = int(sizes.min()), int(sizes.max())
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _looks(
    state: RaceState,
    configurations: Sequence[Configuration],
    incumbent: IncumbentDisplay | None,
    scores: FloatArray | None,
) -> list[dict[str, Any]]:
    looks = []
    table = state.mean_losses
    leaders = [] if incumbent is None else incumbent.incumbents.tolist()
    # Against each other, so that only what changes from leader to leader is written.
    told = differing_texts([configurations[leader] for leader in leaders])
    for number, seen in enumerate(state.observations, start=1):
        assert incumbent is not None
        leader = int(incumbent.incumbents[number - 1])
        looks.append(
            {
                "look": number,
                "stage": seen.look.stage,
                "is_fold": seen.look.is_fold,
                "n_train": seen.look.n_train,
                "n_test": seen.look.n_test,
                "n_tested": len(seen.look.configurations),
                "n_top": int(seen.top.sum()),
                "n_dropped": len(seen.drops),
                "n_failed": len(seen.failures),
                "n_active": int(state.left_after[number - 1]),
                "leader": leader,
                "leader_parameters": _texts(configurations[leader]),
                "leader_text": told[number - 1],
                "leader_loss": finite_or_none(
                    deciding_mean(state, leader, table, number)
                ),
                "leader_score": None
                if scores is None
                else finite_or_none(deciding_mean(state, leader, scores, number)),
                "seconds": float(np.nansum(seen.fit_seconds + seen.score_seconds)),
            }
        )
    return looks


def _configurations(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranks: IntArray,
    scores: FloatArray | None,
    measures: Sequence[Measure],
) -> list[dict[str, Any]]:
    """Return one record each; lists run over the looks that it took part in."""
    present, active, fell = state.present, state.active, state.dropped_at
    columns = {
        "losses": state.mean_losses,
        "errors": state.standard_errors,
        "p_values": state.p_values,
    }
    if scores is not None:
        columns["scores"] = scores
    top = state.traces
    drops, failures = _events(state, "drops"), _events(state, "failures")
    records = []
    for index, configuration in enumerate(configurations):
        looks = np.flatnonzero(present[index])
        record: dict[str, Any] = {
            "index": index,
            "rank": int(ranks[index]),
            "parameters": _texts(configuration),
            "active": bool(active[index]),
            "dropped_at": int(fell[index]),
            "looks": (looks + 1).tolist(),
            "top": top[index, looks].astype(int).tolist(),
            "drops": drops.get(index, []),
            "failures": failures.get(index, []),
        }
        for name, values in columns.items():
            record[name] = [finite_or_none(value) for value in values[index, looks]]
        others = {one.key: one for one in measures if one.source == "other_scores"}
        if others:
            record["other_scores"] = {
                key: [finite_or_none(value) for value in one.table[index, looks]]
                for key, one in others.items()
            }
        records.append(record)
    return records


def _events(state: RaceState, name: str) -> dict[int, list[list[Any]]]:
    """Return (look, reason) pairs by configuration."""
    events: dict[int, list[list[Any]]] = {}
    for number, seen in enumerate(state.observations, start=1):
        for index, reason in getattr(seen, name).items():
            # Errors can be long, and a page may repeat them a thousand times.
            events.setdefault(int(index), []).append([number, shortened(reason, 300)])
    return events


def _texts(configuration: Configuration) -> dict[str, str]:
    return {str(name): value_text(value) for name, value in configuration.items()}


def score_name(search: Search) -> str:
    """Return the name of the score that a search maximises.

    Parameters
    ----------
    search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
        The search, fitted or not.
    """
    raced = getattr(search, "score_name_", "score")
    if raced != "score":
        # One of several.
        return str(raced)
    return spoken_score(search.scoring, search.estimator)


def spoken_score(scoring: Any, estimator: Any) -> str:
    """Return how people call a score, of which None is the estimator's own.

    Parameters
    ----------
    scoring : object
        What a search was given.
    estimator : estimator
        Whose score it is.
    """
    if scoring is None:
        return own_score_name(estimator)
    name = getattr(scoring, "name", None)
    return name if isinstance(name, str) else value_text(scoring)
