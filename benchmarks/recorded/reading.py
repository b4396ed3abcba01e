"""What is read from a fitted search: the one place that knows names of fields.

When the library renames something, say so here and nowhere else:

- a field of a state, look or observation: in the functions below;
- a column of ``cv_results_`` or a recorded attribute: in ``FIELDS``;
- words of messages, reasons and stages: in ``TEXTS``;
- a parameter of a strategy or of a search: in ``PARAMETERS``.

The three tables go from the old name to the new one. ``compare`` applies the first two
to the older recording, the third makes old definitions of races run on new code.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

__all__ = [
    "FIELDS",
    "PARAMETERS",
    "TEXTS",
    "read",
    "reduced_message",
    "renamed_parameters",
]

# Whole names of fields; a leading "look7_" of a column is left alone.
FIELDS: dict[str, str] = {"n_steps_": "n_looks_"}

# Parts of texts, replaced in the order given here.
TEXTS: dict[str, str] = {}

# Names of constructor arguments.
PARAMETERS: dict[str, str] = {"few": "direct_below", "wide": "widen"}

# These depend on the clock.
TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")

# Enough of the predictions to see that the same model was fitted in the end.
N_PREDICTIONS = 5

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# A set of words as scikit-learn writes it, in an order that changes from run to run.
WORDS = re.compile(r"among \{([^{}]*)\}")


def renamed_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments under the names that the library has today."""
    return {PARAMETERS.get(name, name): value for name, value in parameters.items()}


def read(search: Any, X: Any) -> dict[str, Any]:
    """Return everything about a fitted search that must not change, as plain values.

    Parameters
    ----------
    search : RaceGridSearchCV or RaceRandomSearchCV
        Fitted.
    X : array-like
        What it was fitted on, for the predictions of its winner.
    """
    state = search.race_
    return {
        "cv_results_": {
            name: _plain(column)
            for name, column in search.cv_results_.items()
            if name not in TIMES
        },
        "best_index_": _plain(search.best_index_),
        "best_params_": _text(search.best_params_),
        "best_score_": _plain(search.best_score_),
        "best_score_n_train_": _plain(search.best_score_n_train_),
        "stop_reason_": _plain(search.stop_reason_),
        "n_looks_": _plain(search.n_looks_),
        "rescale_": _plain(search.rescale_),
        "strategy_": type(search.strategy_).__name__,
        "surviving_params_": [_text(params) for params in search.surviving_params_],
        "ranking": _plain(search.strategy_.ranking(state)),
        "active": _plain(state.active),
        "looks": [_look(observation) for observation in state.observations],
        "pointwise": _pointwise(search),
        "predictions": _predictions(search, X),
    }


def _look(observation: Any) -> dict[str, Any]:
    look = observation.look
    who = np.asarray(look.configurations)
    return {
        "stage": look.stage,
        "is_fold": bool(look.is_fold),
        "n_train": int(look.n_train),
        "train": _digest_of_rows(look.train),
        "test": _digest_of_rows(look.test),
        "configurations": _plain(who),
        "mean_losses": _of_look(observation.mean_losses, who),
        "standard_errors": _of_look(observation.standard_errors, who),
        "top": _of_look(observation.top, who),
        "p_values": _of_look(observation.p_values, who),
        "drops": _by_configuration(observation.drops),
        "failures": _by_configuration(observation.failures),
    }


def _of_look(values: Any, who: Any) -> Any:
    """Return values of the look's configurations, wherever the array runs over."""
    if values is None:
        return None
    values = np.asarray(values)
    return _plain(values if len(values) == len(who) else values[who])


def _by_configuration(texts: Any) -> dict[str, str]:
    return {str(index): _text(texts[index]) for index in sorted(texts)}


def _digest_of_rows(rows: Any) -> str:
    """Return the number of rows and a digest of them; a slice counts as its rows."""
    if isinstance(rows, slice):
        rows = np.arange(rows.start or 0, rows.stop, rows.step)
    rows = np.asarray(rows, dtype=np.int64)
    return f"{len(rows)}:{hashlib.sha256(rows.tobytes()).hexdigest()[:12]}"


def _pointwise(search: Any) -> Any:
    """Return two sums of each configuration's losses, the second sensitive to order."""
    if not hasattr(search, "pointwise_losses_"):
        return None
    return [
        {
            "configurations": _plain(np.asarray(who)),
            "rows": _digest_of_rows(rows),
            "sums": _plain(losses.sum(axis=1)),
            "ordered_sums": _plain(losses @ np.arange(1.0, losses.shape[1] + 1)),
        }
        for who, rows, losses in search.pointwise_losses_
    ]


def _predictions(search: Any, X: Any) -> Any:
    if not hasattr(search, "best_estimator_") or not hasattr(search, "predict"):
        return None
    some = _safe_indexing(X, np.arange(min(N_PREDICTIONS, len(search_rows(X)))))
    return _plain(np.asarray(search.predict(some)))


def search_rows(X: Any) -> range:
    """Return the numbers of the rows of anything that scikit-learn takes."""
    return range(X.shape[0] if hasattr(X, "shape") else len(X))


def _plain(value: Any) -> Any:
    """Return numbers, words and lists of them; anything else as text.

    Floats stay floats: JSON writes them so that they are read back bit for bit.
    """
    if isinstance(value, np.ma.MaskedArray):
        absent = np.ma.getmaskarray(value)
        entries = zip(value.data.tolist(), absent.tolist(), strict=True)
        return ["--" if gone else _plain(entry) for entry, gone in entries]
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [
            _text(entry) if isinstance(entry, dict) else _plain(entry)
            for entry in value
        ]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        inside = ", ".join(f"{name!s}: {_text(entry)}" for name, entry in pairs)
        return f"{{{inside}}}"
    text = value if isinstance(value, str) else repr(value)
    return ADDRESS.sub("", text)


def reduced_message(message: str) -> str:
    """Return a message without addresses and frames of a traceback, its sets sorted.

    The way to an error changes with the structure of the code; the error must not.
    """
    lines = [line for line in message.split("\n") if not line.startswith("  ")]
    return WORDS.sub(_sorted_words, ADDRESS.sub("", "\n".join(lines)))


def _sorted_words(found: re.Match[str]) -> str:
    return f"among {{{', '.join(sorted(found[1].split(', ')))}}}"
