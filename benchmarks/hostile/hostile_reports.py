"""What is asked of a search that was fitted: pages, stored races, pictures."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cvst import SimplestNotWorse, displays
from cvst.exceptions import CVSTError
from cvst.report import (
    history,
    html_report,
    notebook_html,
    page_html,
    race_bytes,
    read_race,
    summary,
    write_report,
)

__all__ = ["TELLINGS", "drawn_telling", "told"]

# A page takes as long as many cases.
SHARE = 0.004

# Would be run by a browser if it stood on a page as it is.
MARK = "</title></script><img src=x onerror=boom()>{{ 7 * 7 }}"

HALF = "half a character \ud800"


def _page(**options):
    return lambda search, folder: html_report(search, **options)


def _written(name):
    def write(search, folder):
        path = folder / name if isinstance(name, str) else name
        return write_report(search, path).read_text(encoding="utf-8")

    return write


def _over_another(search, folder):
    path = folder / "page.html"
    path.write_text("mine", encoding="utf-8")
    return write_report(search, path).read_text(encoding="utf-8")


def _stored(**options):
    def store(search, folder):
        page = summary(search, ahead=False)
        (folder / "race.json.gz").write_bytes(race_bytes(page, **options))
        known = read_race(folder / "race.json.gz").html()
        if known != page_html(page, **options):
            raise AssertionError("a stored race has another page")
        return known

    return store


def _pictures(**options):
    def draw(search, folder):
        refused = None
        for name in displays.__all__:
            make = getattr(getattr(displays, name), "from_search", None)
            if make is None:
                continue
            try:
                make(search, **options)
            except CVSTError as error:
                refused = error
            except TypeError as error:
                # Not every picture has every option.
                if "unexpected keyword" not in str(error):
                    raise
        if refused is not None:
            raise refused
        return ""

    return draw


def _simplest(which):
    return lambda search, folder: str(SimplestNotWorse(which)(search.cv_results_))


# What is done with a fitted search, by name; each returns a page or nothing.
TELLINGS = {
    "nothing": None,
    "page": _page(),
    "title to run": _page(title=MARK),
    "half a title": _page(title=HALF),
    "long title": _page(title="x" * 10**5),
    "title of a number": _page(title=3),
    "title of nothing": _page(title=None),
    "command to run": _page(command=MARK),
    "half a command": _page(command=HALF),
    "command of bytes": _page(command=b"cvst"),
    "to a file": _written("page.html"),
    "over another file": _over_another,
    "to a folder": _written("."),
    "to nowhere": _written("nowhere/page.html"),
    "to a long name": _written("x" * 300),
    "to a number": _written(3),
    "to nothing": _written(None),
    "to a NUL": _written("a\0b"),
    "to half a name": _written("\ud800"),
    "stored": _stored(),
    "stored, title to run": _stored(title=MARK),
    "stored, half a title": _stored(title=HALF),
    "stored, title of bytes": _stored(title=b"race"),
    "the simplest": _simplest("level:+"),
    "the simplest by far": _simplest(lambda one: (10**400, -(10**400))),
    "the simplest by nothing": _simplest(lambda one: None),
    "notebook": lambda search, folder: notebook_html(search),
    "history": lambda search, folder: str(history(search)),
    "pictures": _pictures(),
    "pictures of no score": _pictures(score="nonsense"),
    "pictures of no parameter": _pictures(parameters=["nonsense"]),
    "pictures of odd axes": _pictures(x="nonsense", y=3),
}


def drawn_telling(seed: int) -> str:
    """Draw what is asked of the search, mostly nothing."""
    rng = np.random.default_rng([seed, 3])
    if rng.random() >= SHARE:
        return "nothing"
    return list(TELLINGS)[rng.integers(1, len(TELLINGS))]


def told(name: str, search) -> list[str]:
    """Ask, and return what is not explained: nothing if it worked or was refused."""
    if name == "nothing":
        return []
    with TemporaryDirectory() as folder:
        found = _told(name, search, Path(folder))
    return [] if found is None else [f"{name}: {found}"]


def _told(name: str, search, folder: Path) -> str | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            page = TELLINGS[name](search, folder)
            page.encode()
        except CVSTError as error:
            text = str(error)
            return f"not one sentence: {text[:200]!r}" if "\n" in text else None
        except Exception as error:
            return f"raised {type(error).__name__}: {str(error)[:200]!r}"
    if "onerror=boom()>" in page:
        return "the page would be run"
    left = [one.name for one in folder.iterdir() if one.name.startswith(".cvst-")]
    return f"{left} were left" if left else None
