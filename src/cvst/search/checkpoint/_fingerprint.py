"""What a checkpoint belongs to, part by part, and what differs from it now."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from cvst._searched import Search
from cvst._sklearn_compat import deep_parameters, num_samples, own_parameters
from cvst._text import value_text
from cvst._values import is_estimator
from cvst.evaluation.machinery import is_stored, take
from cvst.search._setup import Setup
from cvst.search._wording import described
from cvst.search.checkpoint._digest import SHOWN, digest, digest_of_code
from cvst.search.checkpoint._edited import COUNTED
from cvst.search.rows import Inputs, LaterFolds

__all__ = ["Part", "SavedSearch", "data_fingerprint", "difference", "fingerprint"]

# Settings that change nothing about the result.
FREE = {
    "checkpoint",
    "ensemble",
    "n_jobs",
    "on_interrupt",
    "pre_dispatch",
    "return_predictions",
    "return_train_score",
    "verbose",
    "warm_start",
}

SPACES = ("param_grid", "param_distributions")

# Of the inputs of a fit that may be continued, at most this many rows are read.
MOST_ROWS = 10_000

Part = dict[str, str]


class SavedSearch(Search, Protocol):
    """A search that may have a checkpoint."""

    @property
    def checkpoint(self) -> Any:
        """Its file; None if it has none."""

    def _space_values(self) -> Sequence[Any]:
        """Return the values of its space, by which those in the file are known."""


def fingerprint(search: SavedSearch, inputs: Inputs, setup: Setup) -> dict[str, Part]:
    """Return the parts of a search that decide about its result.

    Returns
    -------
    dict
        By name, a digest and a text for people.
    """
    settings = own_parameters(search)
    parts = dict(_versions(search, setup, settings))
    estimator = settings.pop("estimator")
    for name in SPACES:
        if name in settings:
            parts |= dict(_space(name, settings.pop(name)))
    parts |= dict(_estimator(estimator))
    parts |= {
        name: _part(value)
        for name, value in settings.items()
        # A generator was read when folds were made; those count instead, see below.
        if name not in FREE and not _is_used_up(value)
    }
    parts |= dict(_data(inputs))
    problem = setup.problem
    folds = problem.folds
    # Folds that are made later follow from the rows, their order and a seed.
    told = folds.identity() if isinstance(folds, LaterFolds) else dict(folds)
    rows = (setup.order, problem.boundaries, told, problem.orders)
    parts["the order of the rows and their folds"] = _unshown(rows)
    parts["the configurations"] = {
        "digest": digest(list(problem.configurations)),
        "text": f"{problem.n_configurations:,}",
    }
    return parts


def difference(known: Mapping[str, Part], now: Mapping[str, Part]) -> str:
    """Say what differs, in half a sentence; nothing if nothing does.

    Examples
    --------
    >>> difference({"C": {"digest": "a", "text": "1"}}, {})
    'C was 1, and there is none now'
    """
    # What is there or not comes first: other things follow from it.
    for name in known:
        if name not in now:
            return f"{name} was {known[name].get('text')}, and there is none now"
    for name in now:
        if name not in known:
            return f"there was no {name}, and it is {now[name]['text']} now"
    for name in now:
        if known[name].get("digest") != now[name]["digest"]:
            return _changed(name, str(known[name].get("text")), now[name]["text"])
    return ""


def _changed(name: str, before: str, after: str) -> str:
    if not before and not after:
        verb = "are" if name.startswith("the order") else "is"
        return f"{name} {verb} not the same"
    if before == after:
        return f"{name} ({after}) does not have the same content"
    return f"{name} was {before}, and is {after} now"


def _part(value: Any) -> Part:
    return {"digest": digest(value), "text": described(value, 120)}


def _unshown(value: Any) -> Part:
    return {"digest": digest(value), "text": ""}


def _is_used_up(value: Any) -> bool:
    """Return whether a value, such as a generator of folds, can be read once only."""
    return hasattr(value, "__next__")


def _space(name: str, space: Any) -> Iterator[tuple[str, Part]]:
    branches = [space] if isinstance(space, Mapping) else space
    if not isinstance(branches, list | tuple):
        yield name, _part(space)
        return
    for place, branch in enumerate(branches):
        where = name if len(branches) == 1 else f"{name}[{place}]"
        if not isinstance(branch, Mapping):
            yield where, _part(branch)
            continue
        for key, values in branch.items():
            yield f"{where}[{key!r}]", _part(values)


def _estimator(estimator: Any) -> Iterator[tuple[str, Part]]:
    kind = type(estimator)
    path = f"{kind.__module__}.{kind.__qualname__}"
    code = digest_of_code(kind)
    yield "the estimator", {"digest": digest((path, code)), "text": kind.__qualname__}
    for name, value in sorted(deep_parameters(estimator).items()):
        yield f"{name} of the estimator", _part(value)


def data_fingerprint(inputs: Inputs) -> dict[str, Part]:
    """Return what tells the data of a fit from others, without reading all of them.

    Of inputs with many rows some are looked at, from the first to the last. What cannot
    be told from others is taken to be the same: nobody asked for this comparison yet.
    """
    known = {}
    for name, value in _given(inputs, inputs.row_params).items():
        with suppress(Exception):  # of any type, by objects of others
            seen = _spread(value) if name in ("X", "X_val") else value
            known[name] = {"digest": digest(seen), "text": _shape_text(value)}
    return known


def _spread(X: Any) -> Any:
    """Return rows of X, evenly spread; fewer of those that may hold anything."""
    n_rows = num_samples(X)
    most = MOST_ROWS if hasattr(X, "shape") else MOST_ROWS // 100
    if n_rows <= most or is_stored(X):
        return X
    # Some sparse formats have no rows to take; those of X_val come as they are.
    X = X.tocsr() if hasattr(X, "tocsr") else X
    return take(X, np.linspace(0, n_rows - 1, most).astype(np.int64))


def _data(inputs: Inputs) -> Iterator[tuple[str, Part]]:
    for name, value in _given(inputs, inputs.fit_params).items():
        yield name, {"digest": digest(value), "text": _shape_text(value)}


def _given(inputs: Inputs, fit_params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fit was given, by name."""
    given = {
        "X": inputs.X,
        "y": inputs.y,
        "X_val": inputs.X_val,
        "y_val": inputs.y_val,
        "groups": inputs.groups,
        "sample_weight": inputs.sample_weight,
        **fit_params,
        **{
            f"sample_weight of {name}": weights
            for name, weights in inputs.other_weights.items()
        },
        **{
            f"{name} of {score}": value
            for score, metadata in [
                ("the score", inputs.metadata),
                *inputs.other_metadata.items(),
            ]
            for name, value in metadata.arguments.items()
        },
    }
    return {name: value for name, value in given.items() if value is not None}


def _shape_text(value: Any) -> str:
    shape = getattr(value, "shape", None)
    shape = _length(value) if shape is None else shape
    text = " by ".join(f"{length:,}" for length in shape)
    return text or value_text(value, 40)


def _length(value: Any) -> tuple[int, ...]:
    return (len(value),) if hasattr(value, "__len__") else ()


def _versions(
    search: SavedSearch, setup: Setup, settings: Mapping[str, Any]
) -> Iterator[tuple[str, Part]]:
    yield "the search", _shown_part(type(search).__name__)
    yield "the version of Python", _shown_part(platform.python_version())
    # Other processors round otherwise, and one digit may turn a test.
    yield "the machine", _shown_part(platform.machine())
    own = sorted(_own_packages(search, setup, settings))
    for name in dict.fromkeys([*COUNTED, *own]):
        # All of them are loaded by now. To ask what is installed takes much longer.
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            yield f"the version of {name}", _shown_part(str(version))


def _own_packages(
    search: SavedSearch, setup: Setup, settings: Mapping[str, Any]
) -> set[str]:
    """Return the packages of all that may be fitted, with those it is derived from."""
    spaces = [settings[name] for name in SPACES if name in settings]
    # A space may be an object of its own; what came of it is known by now.
    drawn = [*setup.problem.configurations, *_listed(search, spaces)]
    found = _estimators([search.estimator, spaces, drawn])
    kinds = {base for kind in {type(one) for one in found} for base in kind.__mro__}
    return {kind.__module__.split(".")[0] for kind in kinds}


def _listed(search: SavedSearch, spaces: list[Any]) -> Sequence[Any]:
    """Return the values of a space, if they may be more than one sees in it."""
    branches = [one if isinstance(one, list | tuple) else [one] for one in spaces]
    flat = [one for branch in branches for one in branch]
    if all(isinstance(one, Mapping) for one in flat):
        entries = [value for one in flat for value in one.values()]
        if all(isinstance(one, list | tuple) or _is_of_scipy(one) for one in entries):
            return []
    return search._space_values()


def _is_of_scipy(value: Any) -> bool:
    """Return whether a value is a distribution of numbers."""
    return type(value).__module__.startswith("scipy.stats.")


def _estimators(value: Any, above: tuple[int, ...] = ()) -> Iterator[Any]:
    """Yield estimators in a value, in lists, and in other estimators."""
    if type(value) in SHOWN or id(value) in above:
        return
    above = (*above, id(value))
    inside: Iterable[Any] = ()
    if isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, Mapping):
        inside = value.values()
    elif is_estimator(value):
        yield value
        inside = own_parameters(value).values()
    for one in inside:
        # Most are numbers or texts, of which there may be thousands.
        if type(one) not in SHOWN:
            yield from _estimators(one, above)


def _shown_part(text: str) -> Part:
    return {"digest": text, "text": text}
