"""From plain values to one page that needs nothing but a browser."""

from __future__ import annotations

import base64
import gzip
import json
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cvst._searched import FittedSearch
from cvst._text import about_seconds, seconds_text
from cvst.report._summary import summary
from cvst.report._words import as_file, as_text, encodable

__all__ = ["fragments", "html_report", "page_html", "script_json", "write_report"]

# Enough to tell configurations apart; more digits would double the page.
DIGITS = 6
TITLE = "Race of configurations"


def html_report(
    search: FittedSearch, *, title: str = TITLE, command: str | None = None
) -> str:
    """Return a fitted search as one self-contained, interactive HTML page.

    The page makes no request: drawing library, style and data are inside. It needs
    the extra ``cvst[report]``.

    Parameters
    ----------
    search : RaceGridSearchCV or RaceRandomSearchCV
        A fitted search.
    title : str
        Heading of the page.
    command : str, optional
        The command line that repeats the search, if there was one.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> page = html_report(search.fit(*load_iris(return_X_y=True)), title="Iris")
    >>> "<title>Iris</title>" in page
    True
    """
    return page_html(summary(search, command=command), title=title)


def write_report(
    search: FittedSearch,
    path: str | os.PathLike[str],
    *,
    title: str = TITLE,
    command: str | None = None,
) -> Path:
    """Write :func:`html_report` to a file that is complete or not there.

    Parameters
    ----------
    search : RaceGridSearchCV or RaceRandomSearchCV
        A fitted search.
    path : str or path
        Where to write.
    title : str
        Heading of the page.
    command : str, optional
        The command line that repeats the search, if there was one.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    InvalidInputError
        If no file can be written there, or title or command is not a text.
    """
    target = as_file(path)
    page = html_report(search, title=title, command=command)
    # In the same folder: only there is it one step to put it in place of an old one.
    handle, name = tempfile.mkstemp(prefix=".cvst-", suffix=".html", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        # A temporary file is private; a report is as readable as any other file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    # An interrupt, too, must not leave half a page behind.
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def page_html(page: dict[str, Any], *, title: str = TITLE, live: bool = False) -> str:
    """Return the page of a summary.

    Parameters
    ----------
    page : dict
        What :func:`~cvst.report.summary` or :func:`~cvst.report.race_summary`
        returned.
    title : str
        Heading of the page.
    live : bool
        Whether the page asks its server for news.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from cvst.race import Problem, RaceState
    >>> from cvst.report import race_summary
    >>> state = RaceState(Problem(n_configurations=2, n_samples=100))
    >>> page = race_summary(state, [{"C": 1}, {"C": 2}], [0, 1])
    >>> page_html(page, title="Before the start")[:15]
    '<!DOCTYPE html>'
    """
    title = as_text("title", title)
    environment = _environment()
    scripts = ("details", "table", "charts", "paths", "parameters", "page")
    template = environment.get_template("report.html.j2")
    text = template.render(
        page=page,
        title=title,
        live=live,
        style=_asset("report.css"),
        script="\n".join(_asset(f"{name}.js") for name in scripts),
        data=script_json(page),
        plotly=_plotly(),
    )
    return encodable(text)


def fragments(page: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that are text, as a live page replaces them."""
    environment = _environment()
    return {
        name: str(environment.get_template(f"{name}.html.j2").render(page=page))
        for name in ("race", "repeat")
    }


def script_json(value: Any) -> str:
    r"""Write JSON that can stand inside a script element, numbers shortened.

    Examples
    --------
    >>> script_json({"a": "</script>", "b": 0.123456789})
    '{"a":"\\u003c/script\\u003e","b":0.123457}'
    """
    # NaN is not JSON: a browser would refuse all of the data because of one.
    text = json.dumps(
        _shortened(value), allow_nan=False, ensure_ascii=False, separators=(",", ":")
    )
    # Inside JSON these occur in strings only, where an escape means the same.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, float):
        # 3.0 is written as 3, which is shorter and the same in JavaScript.
        short = float(f"{value:.{DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            "Reports are written with jinja2, which is not installed. Install it with "
            "the extra cvst[report]."
        ) from error
    environment = Environment(
        loader=PackageLoader("cvst.report"),
        autoescape=True,
        # A name that a template gets wrong raises, and leaves no gap.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["digits"] = _digits
    environment.filters["duration"] = seconds_text
    environment.filters["about"] = about_seconds
    return environment


def _digits(value: float | None, digits: int = 5) -> str:
    return "—" if value is None else f"{value:.{digits}g}"


@cache
def _asset(name: str) -> str:
    return files("cvst.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    """Return plotly.js, compressed: a third of its size, unpacked by the browser."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "Reports draw with plotly, which is not installed. Install it with the "
            "extra cvst[report]."
        ) from error
    # No time stamp: the same race gives the same file.
    packed = gzip.compress(get_plotlyjs().encode(), mtime=0)
    return base64.b64encode(packed).decode()
