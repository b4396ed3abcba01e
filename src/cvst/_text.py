"""Values, configurations and times as short, harmless text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from decimal import MAX_EMAX, Context
from difflib import get_close_matches
from math import ceil, floor, isfinite, log10
from typing import Any, cast

__all__ = [
    "ShortRepr",
    "about_seconds",
    "about_times",
    "at_least_seconds",
    "configuration_text",
    "counted",
    "estimate_text",
    "left_text",
    "nearest_name",
    "repr_text",
    "score_text",
    "seconds_text",
    "shared_path",
    "shortened",
    "value_text",
]


def value_text(value: Any, max_length: int = 80) -> str:
    """Write the value of a hyper-parameter on one line.

    Numbers get six digits, functions and classes their name, objects their ``repr``
    without line breaks; what cannot be shown is named by its type.

    Examples
    --------
    >>> value_text(0.0012589254), value_text("rbf"), value_text((8, 8)), value_text(len)
    ('0.00125893', 'rbf', '(8, 8)', 'len')
    """
    return shortened(_written(value, max_length), max_length)


def left_text(n_left: int, n_waiting: int) -> str:
    """Say how many configurations are left, and how many no look has seen yet.

    Examples
    --------
    >>> left_text(1_018, 0), left_text(18, 24)
    ('1,018 left', '18 left, 24 not yet looked at')
    """
    waiting = f", {n_waiting:,} not yet looked at" if n_waiting else ""
    return f"{n_left:,} left{waiting}"


def repr_text(value: Any, max_length: int = 200) -> str:
    """Write a value for an error: its ``repr``, or what is known where that fails.

    Python refuses to write whole numbers of thousands of digits.

    Examples
    --------
    >>> repr_text("rbf"), repr_text(-(10**5000)), repr_text({"alpha": 10**5000})
    ("'rbf'", '-1e+5000', '{alpha: 1e+5000}')
    """
    try:
        return shortened(repr(value), max_length)
    except Exception:  # whatever a foreign repr raises must not hide the error
        return value_text(value, max_length)


def configuration_text(
    configuration: Mapping[str, Any], max_length: int | None = None
) -> str:
    """Write a configuration on one line.

    Examples
    --------
    >>> configuration_text({"C": 10.0, "kernel": "rbf"})
    'C=10, kernel=rbf'
    """
    pairs = [f"{name}={value_text(value)}" for name, value in configuration.items()]
    text = " ".join(", ".join(pairs).split())
    return text if max_length is None else shortened(text, max_length)


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "configuration"), counted(1200, "look")
    ('1 configuration', '1,200 looks')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def score_text(name: str, score: float, digits: str = ".5g") -> tuple[str, str]:
    """Return the name and the value of a score as people say them.

    Scores that scikit-learn negates are shown as the errors that they are.

    Examples
    --------
    >>> score_text("accuracy", 0.8984), score_text("neg_log_loss", -0.25)
    (('accuracy', '0.8984'), ('log_loss', '0.25'))
    """
    if name.startswith("neg_"):
        name, score = name.removeprefix("neg_"), -score
    return name, f"{score:{digits}}" if isfinite(score) else "—"


def estimate_text(
    name: str, estimate: Mapping[str, float], digits: str = ".4g"
) -> tuple[str, str]:
    """Return the name of a score, and what to expect of it with its interval.

    Examples
    --------
    >>> estimate_text(
    ...     "neg_log_loss", {"value": -0.25, "low": -0.5, "high": -0.1, "level": 0.9})
    ('log_loss', '0.25 (90 % interval 0.1 to 0.5)')
    """
    shown, value = score_text(name, estimate["value"], digits)
    ends = [score_text(name, estimate[end], digits)[1] for end in ("low", "high")]
    # The lower end of a score is the upper end of an error.
    low, high = ends if shown == name else ends[::-1]
    share = f"{100 * estimate['level']:.0f} %"
    return shown, f"{value} ({share} interval {low} to {high})"


def seconds_text(seconds: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> seconds_text(0.0123), seconds_text(2.5), seconds_text(250), seconds_text(7300)
    ('0.01 s', '2.5 s', '4 min 10 s', '2 h 2 min')
    """
    if seconds < 0.0001:  # no powers of ten, and no clock knows more digits
        return f"{seconds:.6f}".rstrip("0").rstrip(".") + " s"
    if seconds < 0.995:
        return f"{seconds:.2g} s" if seconds < 0.005 else f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def about_seconds(seconds: float) -> str:
    """Write an estimated time with as many digits as an estimate has.

    Examples
    --------
    >>> about_seconds(45.72), about_seconds(254)
    ('about 46 s', 'about 4 min 10 s')
    """
    digits = float(f"{seconds:.2g}")
    if digits >= 600:
        return f"about {seconds_text(60 * round(digits / 60))}"
    if digits >= 10:
        return f"about {seconds_text(round(digits))}".replace(".0 s", " s")
    return f"about {seconds_text(digits)}"


def at_least_seconds(seconds: float) -> str:
    """Write a time as people say it, rounded up: that much must be enough.

    Examples
    --------
    >>> at_least_seconds(0.0121), at_least_seconds(12.01), at_least_seconds(7201)
    ('0.02 s', '12.1 s', '2 h 1 min')
    """
    # Each grain is the last digit that is written at this length.
    grains = {3540.0: 60.0, 59.0: 1.0, 0.99: 0.1, 0.005: 0.01, 0.001: 1e-4, 1e-4: 1e-5}
    grain = next((g for length, g in grains.items() if seconds >= length), 1e-6)
    return seconds_text(ceil(seconds / grain) * grain)


def about_times(ratio: float) -> str:
    """Write an estimated ratio, rounded down: a claim should not exceed what is known.

    Examples
    --------
    >>> about_times(1.37), about_times(4.8), about_times(38.0), about_times(158.0)
    ('about 1.3', 'about 4.5', 'about 35', 'about 150')
    """
    if ratio < 2:
        return f"about {floor(10 * ratio + 1e-9) / 10:g}"
    step = 0.5 * 10.0 ** floor(log10(ratio))
    return f"about {floor(ratio / step + 1e-9) * step:,g}"


def shared_path(configurations: Iterable[Mapping[str, Any]]) -> str:
    """Return the path that the names of all parameters begin with.

    Examples
    --------
    >>> shared_path([{"model__svc__C": 1, "model__svc__gamma": 2}])
    'model__svc__'
    >>> shared_path([{"svc__C": 1, "svc": None}, {"C": 1}])
    ''
    """
    names = {str(name) for configuration in configurations for name in configuration}
    paths = [name.split("__")[:-1] for name in names]
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(f"{parts[0]}__")
    return "".join(shared)


def shortened(text: str, max_length: int) -> str:
    """Cut a text and say so by an ellipsis.

    Examples
    --------
    >>> shortened("RandomForestClassifier()", 12)
    'RandomFores…'
    """
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def nearest_name(name: str, known: list[str]) -> str:
    """Ask whether a step's parameter was meant, or one that is written alike.

    Examples
    --------
    >>> nearest_name("C", ["svc__C", "svc__coef0"])
    "Did you mean 'svc__C'? "
    >>> nearest_name("ridge__C", ["ridge", "ridge__tol"])
    ''
    """
    inside = [one for one in known if one.endswith(f"__{name}")]
    alike = [one for one in known if one.lower() == name.lower()]
    step = name[: name.rfind("__") + 2] if "__" in name else ""
    # The name of a step alone makes its parameters alike, so it is left out of them.
    same = [one.removeprefix(step) for one in known if one.startswith(step)]
    close = [
        step + one for one in get_close_matches(name.removeprefix(step), same, n=1)
    ]
    found = (
        inside
        or alike
        or close
        or ([] if same else get_close_matches(name, known, n=1))
    )
    return f"Did you mean {found[0]!r}? " if found else ""


# What is nested deeper is written as its type.
MOST_NESTED = 8


def _written(value: Any, limit: int, depth: int = MOST_NESTED) -> str:
    from numpy import generic  # late, for programs that only print their help

    if isinstance(value, generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return " ".join(value.split()) if value.strip() else repr(value)
    if isinstance(value, tuple | list) and depth:
        inside = ", ".join(_first_texts(value, limit, depth - 1))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, tuple | list):
        return f"<{type(value).__name__}>"
    try:
        return " ".join(_named(value).split())
    except Exception:  # whatever a foreign repr raises must not end a report
        return _without_repr(value, limit, depth)


def _first_texts(
    values: Iterable[Any], limit: int, depth: int, longest: int = 80
) -> Iterator[str]:
    """Write values, but no more of them than are shown: some lists hold themselves."""
    length = 0
    for value in values:
        text = shortened(_written(value, longest, depth), longest)
        yield text
        length += len(text) + 2
        if length > limit:
            return


def _without_repr(value: Any, limit: int, depth: int) -> str:
    """Write what Python does not, such as whole numbers of thousands of digits."""
    if type(value) is int:
        context = Context(prec=6, Emax=MAX_EMAX)
        return f"{context.create_decimal(value).normalize(context)}".lower()
    if type(value) is dict and depth:
        names = map(value_text, value)
        texts = _first_texts(value.values(), limit, depth - 1)
        pairs = (f"{name}: {text}" for name, text in zip(names, texts, strict=False))
        return f"{{{', '.join(pairs)}}}"
    return f"<{type(value).__name__}>"


class ShortRepr:
    """Gives a dataclass made with ``repr=False`` a short ``repr``.

    Examples
    --------
    >>> from cvst.proposals import AutoProposer, GaussianProposer
    >>> AutoProposer(), GaussianProposer(n_first=10)
    (AutoProposer(), GaussianProposer(n_first=10))
    """

    def __repr__(self) -> str:
        shown = [
            f"{one.name}={_named(getattr(self, one.name), _exact)}"
            for one in fields(cast(Any, self))
            # By their text: proposers of one's own need not compare.
            if one.repr and _exact(getattr(self, one.name)) != _default_text(one)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _exact(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # more digits than Python writes
        return hex(value) if isinstance(value, int) else _without_repr(value, 80, 1)


def _default_text(one: Field[Any]) -> str | None:
    if one.default is not MISSING:
        return repr(one.default)
    if one.default_factory is not MISSING:
        return repr(one.default_factory())
    return None


def _named(value: Any, text: Callable[[Any], str] = repr) -> str:
    # The repr of a function holds its address, which differs from run to run.
    is_function = callable(value) and hasattr(value, "__qualname__")
    return str(value.__qualname__) if is_function else text(value)
