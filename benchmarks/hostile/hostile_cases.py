"""One case: a search on hostile input, its witness, and whether all is explained.

A case works, or it raises a documented exception in one sentence. With
``strategy="cross_validation"`` on folds of the user's own the winner is that of
scikit-learn's ``GridSearchCV``. An error that ``GridSearchCV`` raises too, of the same
type, is the input's own. Nothing may be left behind in the process.
"""

from __future__ import annotations

import contextlib
import copy
import os
import signal
import traceback
import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from hostile_inputs import CVS, GRIDS, PARAMS, ROWS, TARGETS
from hostile_models import MODELS, SCORERS
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import AllFitsFailedError, CVSTError

__all__ = ["Case", "Result", "draw", "run"]

STRATEGIES = ["track_and_confirm", "cvst", "cross_validation", "cross_validation"]
SIZES = [*range(2, 21), 40, 60, 120, 200]

# Scores whose mean over folds decides in both; r2 and the like are compared elsewhere.
COMPARED = ("accuracy", "mse", "mae")

# A case takes milliseconds; one that takes this long hangs.
SECONDS = 60
LONGEST_TEXT = 1500


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
    search: str = "grid"


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

    model = str(rng.choice(list(MODELS)))
    numbers = not _is_classifier(MODELS[model][0])
    return Case(
        seed=seed,
        n_rows=int(rng.choice(SIZES)),
        rows=one_of(ROWS, "plain"),
        targets=one_of(TARGETS, "numbers" if numbers else "two classes"),
        model=model,
        grid=one_of(GRIDS, "usual"),
        cv=one_of(CVS, "three"),
        scoring=one_of(SCORERS, "mse" if numbers else "accuracy"),
        strategy=str(rng.choice(STRATEGIES)),
        params=one_of(PARAMS, "nothing"),
        search=str(rng.choice(["grid", "grid", "grid", "random"])),
    )


def _is_classifier(estimator) -> bool:
    from sklearn.base import is_classifier

    return bool(is_classifier(estimator))


class _Hang(BaseException):
    """Raised by the alarm; no ``except Exception`` catches it."""


@contextlib.contextmanager
def _alarm():
    def ring(number, frame):
        raise _Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(case: Case) -> Result:
    """Run a case and its witness."""
    rng, n = np.random.default_rng([case.seed, 1]), case.n_rows
    X, y = ROWS[case.rows](rng, n), TARGETS[case.targets](rng, n)
    params = PARAMS[case.params](rng, n)
    estimator, parameter, values = MODELS[case.model]
    grid = GRIDS[case.grid](parameter, values)
    make_cv = partial(CVS[case.cv], None, n)
    result = Result(case, "")
    before, kept = _process_state(), _content(X, y)
    options = {"scoring": SCORERS[case.scoring], "strategy": case.strategy}
    kind, options["cv"] = RaceGridSearchCV, make_cv()
    # The final fit gets what the user passed, as in scikit-learn.
    options["refit"] = "writes" not in case.model
    if case.search == "random":
        kind, options["n_iter"] = RaceRandomSearchCV, 3
    fit = _fit(kind(clone(estimator), grid, random_state=0, **options), X, y, params)
    if _process_state() != before:
        result.trouble.append("something is left behind in the process")
    if _content(X, y) != kept:
        result.trouble.append("rows or targets were changed")
    result.outcome = fit if isinstance(fit, str) else type(fit).__name__
    if isinstance(fit, _Hang):
        result.trouble.append(f"no end within {SECONDS} seconds")
    elif isinstance(fit, BaseException):
        _explain(result, fit, case, estimator, grid, make_cv, X, y, params)
    elif case.strategy == "cross_validation" and case.search == "grid":
        _compare(result, fit, case, estimator, grid, make_cv, X, y, params)
    return result


def _fit(search, X, y, params):
    with warnings.catch_warnings(), np.errstate(all="ignore"), _alarm():
        warnings.simplefilter("ignore")
        try:
            return search.fit(X, y, **params)
        except (Exception, _Hang, SystemExit) as error:
            return error


def _witness(case, estimator, grid, make_cv, X, y, params):
    scoring = SCORERS[case.scoring]
    search = GridSearchCV(clone(estimator), grid, cv=make_cv(), scoring=scoring)
    return _fit(search, X, y, params)


def _explain(result, error, case, *args):
    """Check that an error is documented, in a sentence, or the input's own."""
    if isinstance(error, CVSTError):
        text = str(error)
        whole = text.split("\nTraceback")[0] if _is_long(error) else text
        if len(whole) > LONGEST_TEXT or ("\n" in text and not _is_long(error)):
            result.trouble.append(f"not one sentence: {text[:200]!r}")
        return
    if _raised_by_a_check_of_scikit_learn(error):
        return
    witness = _witness(case, *args)
    if _final_fit_raises(error, *args):
        return
    if type(witness) is not type(error):
        result.trouble.append(
            f"raised {type(error).__name__}: {str(error)[:300]!r}; scikit-learn: "
            f"{type(witness).__name__}"
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
    return "sklearn" in places[-1] and any(
        word in name for name in last for word in checks
    )


def _is_long(error) -> bool:
    # It shows the traceback of the first failure, as scikit-learn does.
    return isinstance(error, AllFitsFailedError)


def _compare(result, search, case, estimator, grid, make_cv, X, y, params):
    """Check that the winner is scikit-learn's, where there is one on these folds."""
    if case.cv in ("none", "generated pairs") or case.scoring not in COMPARED:
        return
    if case.params not in ("nothing", "groups"):
        return  # weights weigh scores here as well as fits
    witness = _witness(case, estimator, grid, make_cv, X, y, params)
    if isinstance(witness, BaseException):
        return
    scores = witness.cv_results_["mean_test_score"]
    best, mine = scores[witness.best_index_], scores[search.best_index_]
    if np.isfinite(best) and not np.isclose(mine, best, rtol=1e-9, atol=0):
        result.trouble.append(
            f"winner {search.best_index_} with {mine}, not {witness.best_index_} with "
            f"{best}"
        )


def _process_state():
    """Return what belongs to the whole process."""
    random = np.random.get_state()  # noqa: NPY002 - the global one is the point
    return (
        tuple(map(str, warnings.filters)),
        tuple(sorted(np.geterr().items())),
        (random[1].tobytes(), random[2]),
        tuple(sorted(os.environ.items())),
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
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
            parts.append(copy.copy(repr(values.to_numpy().tolist())))
    return parts
