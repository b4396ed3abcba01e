"""One case: a search on hostile input, its witness, and whether all is explained.

A case works, or it raises a documented exception in one sentence. What works has the
right winner: with ``strategy="cross_validation"`` the one that brute force finds on the
same folds, and with every strategy the one that is better than all others by far, where
there is one. An error that scikit-learn raises too, of the same type, is the input's
own. Nothing may be left behind in the process. Several workers, a limit on fits and a
checkpoint change nothing, and what is on disk is what a second run ends with. Pages and
pictures of what works are made, or refused in a sentence.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hostile_inputs import CVS, GRIDS, PARAMS, ROWS, TARGETS
from hostile_models import HONEST, LEVELS, MODELS, SCORERS
from hostile_options import OPTIONS
from hostile_paces import (
    ALIKE,
    PACES,
    RARE,
    difference,
    drawn_pace,
    surroundings,
)
from hostile_reports import drawn_telling, told
from hostile_witness import SCORES, mean_scores
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import AllFitsFailedError, BudgetTooSmallError, CVSTError
from cvst.parallel import run_chunks

__all__ = ["Case", "Result", "draw", "draw_paced", "run"]

STRATEGIES = ["track_and_confirm", "cvst", "cross_validation"]
SIZES = [*range(2, 21), 24, 30, 40, 60]
LARGE = [120, 200]

# One case in so many has an estimator of scikit-learn's; they take ten times as long.
HONEST_SHARE = 0.1
LARGE_SHARE = 0.02
PROPOSE_SHARE = 0.005

# A case takes milliseconds; one that takes this long hangs. Processes have to start.
SECONDS, RARE_SECONDS = 60, 600
LONGEST_TEXT = 1500

# Configurations that are asked for one by one, to find which of them raised an error.
MOST_ALONE = 50


@dataclass(frozen=True)
class Case:
    """What was drawn, by name."""

    model: str
    seed: int = 0
    rows: str = "plain"
    targets: str = "numbers"
    n_rows: int = 60
    grid: str = "usual"
    cv: str = "three"
    scoring: str = "mse"
    strategy: str = "track_and_confirm"
    params: str = "nothing"
    options: str = "usual"
    search: str = "grid"
    pace: str = "usual"
    telling: str = "nothing"


@dataclass
class Result:
    """What came of a case; ``trouble`` lists what is not explained."""

    case: Case
    outcome: str
    trouble: list[str] = field(default_factory=list)


def draw(seed: int) -> Case:
    """Draw a case; most parts of most cases are ordinary, so that much is reached."""
    rng = np.random.default_rng(seed)

    calm = float(rng.choice([0.5, 0.8, 0.95]))

    def one_of(table, usual):
        return usual if rng.random() < calm else list(table)[rng.integers(len(table))]

    honest = rng.random() < HONEST_SHARE
    names = list(HONEST) if honest else [name for name in MODELS if name not in HONEST]
    model = names[rng.integers(len(names))]
    numbers = not is_classifier(MODELS[model][0])
    return Case(
        seed=seed,
        n_rows=int(rng.choice(LARGE if rng.random() < LARGE_SHARE else SIZES)),
        rows=one_of(ROWS, "plain"),
        targets=one_of(TARGETS, "numbers" if numbers else "rare class"),
        model=model,
        grid=one_of(GRIDS, "usual"),
        cv=one_of(CVS, "two"),
        scoring=one_of(SCORERS, "mse" if numbers else "accuracy"),
        strategy=STRATEGIES[rng.integers(len(STRATEGIES))],
        params=one_of(PARAMS, "nothing"),
        options=one_of(OPTIONS, "usual"),
        search=_search(rng.random()),
        telling=drawn_telling(seed),
    )


def draw_paced(seed: int) -> Case:
    """Draw the same case in another time, with other workers, or kept on disk."""
    return replace(draw(seed), pace=drawn_pace(seed))


def _search(share):
    if share < PROPOSE_SHARE:
        return "propose"
    return "grid" if share < 0.8 else "random"


class _Hang(BaseException):
    """Raised by the alarm; no ``except Exception`` catches it."""


@contextlib.contextmanager
def _alarm(seconds):
    def ring(number, frame):
        raise _Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(case: Case) -> Result:
    """Run a case and its witness."""
    estimator, grid, make_cv, X, y, params = _parts(case)
    result = Result(case, "")
    if "processes" in case.pace:
        # Those that wait for the next search are left on purpose.
        list(run_chunks(len, [[[0]]], 2, "processes"))
    before, kept = _process_state(), _content(X, y)
    with TemporaryDirectory() as folder:
        search = _made(case, estimator, grid, make_cv, Path(folder) / "race")
        with surroundings(case.pace):
            fit = _fit(search, X, y, params, _patience(case))
        if case.pace != "usual" and not isinstance(fit, _Hang):
            _check_pace(result, fit, case, Path(folder) / "race")
    if case.options == "no seed" and case.search != "grid":
        # As in scikit-learn, draws without a seed come from NumPy's own generator.
        np.random.set_state(before[2])  # noqa: NPY002 - the global one is the point
    if not _is_as_before(before):
        result.trouble.append("something is left behind in the process")
    if _content(X, y) != kept:
        result.trouble.append("rows or targets were changed")
    if isinstance(fit, _Hang):
        result.trouble.append(f"no end within {_patience(case)} seconds")
    elif isinstance(fit, BaseException):
        result.outcome = type(fit).__name__
        _explain(result, fit, case, estimator, grid, make_cv, X, y, params)
    else:
        result.outcome = "works"
        result.trouble += told(case.telling, fit)
        _check_winner(result, fit, case, estimator, grid, make_cv, X, y, params)
    return result


def _parts(case):
    """Return estimator, grid, folds, rows, targets and what ``fit`` gets besides."""
    rng, n = np.random.default_rng([case.seed, 1]), case.n_rows
    X, y = ROWS[case.rows](rng, n), TARGETS[case.targets](rng, n)
    params = PARAMS[case.params](rng, n)
    estimator, parameter, values = MODELS[case.model]
    grid = GRIDS[case.grid](parameter, values)
    return estimator, grid, partial(CVS[case.cv], None, n), X, y, params


def _check_pace(result, fit, case, path):
    """Check that what should not matter does not, and what is on disk is used."""
    if case.options in ("no seed", "seed object", "error raised"):
        # Other draws, refused with a checkpoint; errors may travel as texts.
        return
    # A budget that was refused may do the next time: the clock says so, not the disk.
    if "disk" in case.pace and not isinstance(fit, BudgetTooSmallError):
        other = difference(_fitted_anew(case, path), fit)
        if other is not None:
            result.trouble.append(f"again from disk: {other}")
    if case.pace in ALIKE:
        other = difference(fit, _fitted_anew(replace(case, pace="usual"), path))
        if other is not None:
            result.trouble.append(f"{case.pace}: {other}")


def _fitted_anew(case, path):
    estimator, grid, make_cv, X, y, params = _parts(case)
    search = _made(case, estimator, grid, make_cv, path)
    with surroundings(case.pace):
        return _fit(search, X, y, params, _patience(case))


def _made(case, estimator, grid, make_cv, path):
    """Return the search of a case."""
    options = {
        "scoring": SCORERS[case.scoring],
        "strategy": case.strategy,
        "cv": make_cv(),
        "refit": False,
        "random_state": 0,
        **PACES[case.pace],
        **OPTIONS[case.options],
    }
    if options.get("checkpoint") == "race":
        options["checkpoint"] = path
    if "writes" in case.model:
        # The final fit gets what the user passed, as in scikit-learn.
        options["refit"] = False
    if case.search == "random":
        return RaceRandomSearchCV(clone(estimator), grid, n_iter=3, **options)
    if case.search == "propose":
        known = RaceSearchCV._get_param_names()
        options = {name: value for name, value in options.items() if name in known}
        return RaceSearchCV(clone(estimator), grid, n_iter=6, **options)
    return RaceGridSearchCV(clone(estimator), grid, **options)


def _patience(case):
    return RARE_SECONDS if case.pace in RARE else SECONDS


def _fit(search, X, y, params, seconds=SECONDS):
    with warnings.catch_warnings(), np.errstate(all="ignore"), _alarm(seconds):
        warnings.simplefilter("ignore")
        try:
            return search.fit(X, y, **params)
        except (Exception, _Hang, SystemExit) as error:
            return error


def _witness(case, estimator, grid, make_cv, X, y, params):
    options = {
        name: value
        for name, value in OPTIONS[case.options].items()
        if name in GridSearchCV._get_param_names()
    }
    options = {"cv": make_cv(), "scoring": SCORERS[case.scoring], **options}
    return _fit(GridSearchCV(clone(estimator), grid, **options), X, y, params)


def _explain(result, error, case, *args):
    """Check that an error is documented, in a sentence, or the input's own."""
    if isinstance(error, CVSTError):
        text = _text(error)
        whole = text.split("\nTraceback")[0] if _is_long(error) else text
        if len(whole) > LONGEST_TEXT or ("\n" in text and not _is_long(error)):
            result.trouble.append(f"not one sentence: {text[:200]!r}")
        return
    if _raised_by_a_check_of_scikit_learn(error):
        return
    witness = _witness(case, *args)
    if _final_fit_raises(error, *args):
        return
    if type(witness) is type(error) or _is_one_of_two_faults(error, case):
        return
    if not _is_of_one_configuration(error, case, *args):
        result.trouble.append(
            f"raised {type(error).__name__}: {_text(error)[:300]!r}; scikit-learn: "
            f"{type(witness).__name__}"
        )


def _text(error) -> str:
    """Return what an error says, if it can say anything."""
    try:
        return str(error)
    except Exception:
        return "no words"


def _is_one_of_two_faults(error, case) -> bool:
    """Return whether scikit-learn raises it too, once other faults are mended.

    It may have met another fault first. What a user's own model or folds raise comes
    from their file.
    """
    place = traceback.extract_tb(error.__traceback__)[-1]
    own = Path(place.filename).name
    if own == "hostile_models.py" and case.options == "error raised":
        return True
    if own == "hostile_inputs.py" and place.name == "split":
        return True
    usual = {"cv": "two", "params": "nothing", "grid": "usual", "rows": "plain"}
    mended = replace(case, **usual, search="grid", n_rows=60)
    estimator, parameter, values = MODELS[case.model]
    if isinstance(error, (IndexError, TypeError)) and "refit" in case.options:
        estimator, parameter, values = MODELS["ridge"]
        mended = replace(mended, model="ridge", targets="numbers", scoring="mse")
    rng = np.random.default_rng(0)
    X, y = ROWS["plain"](rng, 60), TARGETS[mended.targets](rng, 60)
    grid = GRIDS["usual"](parameter, values)
    make_cv = partial(CVS["two"], None, 60)
    witness = _witness(mended, estimator, grid, make_cv, X, y, {})
    return type(witness) is type(error)


def _is_of_one_configuration(
    error, case, estimator, grid, make_cv, X, y, params
) -> bool:
    """Return whether scikit-learn raises it too, asked for one configuration alone.

    Of several that fail, shared work may meet another one first.
    """
    if case.options != "error raised" or not isinstance(grid, dict):
        return False
    try:
        alone = [
            {name: [value] for name, value in one.items()}
            for one in islice(ParameterGrid(grid), MOST_ALONE)
        ]
    except Exception:  # a grid that cannot be gone through
        return False
    return any(
        type(_witness(case, estimator, one, make_cv, X, y, params)) is type(error)
        for one in alone
    )


def _final_fit_raises(error, estimator, grid, make_cv, X, y, params) -> bool:
    """Return whether the estimator itself refuses all rows, after a race without it.

    Shared work does not ask everything that a fit asks, such as names of columns.
    """
    del grid, make_cv
    given = {name: value for name, value in params.items() if name != "groups"}
    return type(_fit(clone(estimator), X, y, given)) is type(error)


def _raised_by_a_check_of_scikit_learn(error) -> bool:
    """Return whether scikit-learn refuses an argument, in its own words."""
    last = [frame.name for frame in traceback.extract_tb(error.__traceback__)[-2:]]
    places = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    checks = "check", "validate", "num_samples", "indexable", "column_or_1d", "split"
    if any(name in _text(error) for name in ("ParameterGrid", "Parameter grid")):
        return True
    return "sklearn" in places[-1] and any(
        word in name for name in last for word in checks
    )


def _is_long(error) -> bool:
    # It shows the traceback of the first failure, as scikit-learn does.
    return isinstance(error, AllFitsFailedError)


def _check_winner(result, search, case, estimator, grid, make_cv, X, y, params):
    """Check that the winner is the one that it must be."""
    ranks = search.cv_results_[f"rank_test_{search.score_name_}"]
    if not callable(search.refit) and ranks[search.best_index_] != 1:
        result.trouble.append(f"the winner has rank {ranks[search.best_index_]}")
    if not _is_ordinary(case):
        return
    if case.search != "propose" and _has_clear_winner(case):
        result.outcome = "works, clear winner"
        drawn = [one["level"] for one in search.cv_results_["params"]]
        if LEVELS[0] in drawn and search.best_params_["level"] != LEVELS[0]:
            result.trouble.append(f"winner {search.best_params_}, not {LEVELS[0]}")
    whole = "time_budget" not in PACES[case.pace]
    if whole and case.strategy == "cross_validation" and case.search == "grid":
        _compare(result, search, case, estimator, grid, make_cv, X, y, params)


def _is_ordinary(case) -> bool:
    """Return whether scores, folds and fits are what scikit-learn makes of them."""
    if case.options not in ("usual", "with a final fit", "pointwise kept"):
        return False
    # Weights weigh scores here as well as fits.
    return case.scoring in SCORES and case.params in ("nothing", "groups")


def _has_clear_winner(case) -> bool:
    """Return whether the first level is better than all others by far."""
    return (
        case.model.endswith(("r none", "r list", "r not a number", "r infinite"))
        and case.targets in ("numbers", "constant", "rare class")
        and case.grid in ("usual", "list of grids", "twice", "array")
        and case.cv in ("two", "three", "five", "k-fold", "shuffled k-fold")
        and case.n_rows >= 12
        and (case.targets == "rare class" or "Regressor" in case.model)
    )


def _compare(result, search, case, estimator, grid, make_cv, X, y, params):
    """Check that the winner is scikit-learn's, where there is one on these folds."""
    if case.cv in ("none", "generated pairs", "shuffle split"):
        return
    groups = params.get("groups")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            scores = mean_scores(estimator, grid, make_cv(), case.scoring, X, y, groups)
        except Exception:
            return
    if not np.isfinite(scores).any():
        return
    result.outcome = "works, winner by brute force"
    best, mine = np.nanmax(scores), scores[search.best_index_]
    if not np.isclose(mine, best, rtol=1e-9, atol=0):
        result.trouble.append(
            f"winner {search.best_index_} with {mine}, not {np.nanargmax(scores)} with "
            f"{best}"
        )


def _is_as_before(before) -> bool:
    """Return whether nothing is left, once threads had the time to end."""
    for _ in range(100):
        *now, n_threads = _process_state()
        # Fewer where an error has ended processes that were waiting, and their threads.
        if now == [*before[:-1]] and n_threads <= before[-1]:
            return True
        time.sleep(0.02)
    return False


def _process_state():
    """Return what belongs to the whole process."""
    random = np.random.get_state()  # noqa: NPY002 - the global one is the point
    return (
        list(warnings.filters),
        np.geterr(),
        (random[0], tuple(random[1].tolist()), *random[2:]),
        os.environ._data.copy(),
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        threading.active_count(),
    )


def _content(X, y):
    """Return copies that can be compared, of what can be copied."""
    parts = []
    for values in (X, y):
        if isinstance(values, np.ndarray) and values.dtype != object:
            parts.append(values.tobytes())
        elif isinstance(values, list):
            parts.append(repr(values))
        elif hasattr(values, "iloc"):
            parts.append(repr(values.to_numpy().tolist()))
    return parts
