"""Pages, their tables, and the scripts that make them, for the tests of this folder."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from itertools import zip_longest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def script(name):
    """Import a script of the benchmarks with the modules that lie beside it.

    Folders have modules of equal names: neither path nor modules stay.
    """
    path = ROOT / "benchmarks" / name
    beside = {one.stem for one in path.parent.glob("*.py")}
    hidden = {one: sys.modules.pop(one) for one in beside if one in sys.modules}
    kept = sys.path[:]
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses ask for it
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = kept
        for one in beside:
            sys.modules.pop(one, None)
        sys.modules.update(hidden)
    return module


def records(name):
    """Return the lines of a result file."""
    text = (RESULTS / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def plain(name):
    """Return the text of a page without line breaks."""
    return " ".join(page(name).split())


def cells(text, start):
    """Return the cells of the table row that begins with some text."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| {start} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def tables(text):
    """Return the tables of a page as lists of lines; code is left out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    found, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            found.append(rows)
            rows = []
    return found


def differences(told, shown):
    """Return lines of an output that are not as a page shows them.

    Words are equal; numbers may be off by a tenth, since on other machines a test at
    the edge of its level may go the other way.
    """
    pairs = list(zip_longest(told.splitlines(), shown.splitlines(), fillvalue=""))
    number = re.compile(r"\d+")
    same = [
        number.sub("", one) == number.sub("", other)
        and np.allclose(
            [int(value) for value in number.findall(one)],
            [int(value) for value in number.findall(other)],
            rtol=0.1,
        )
        for one, other in pairs
    ]
    return [pair for pair, equal in zip(pairs, same, strict=True) if not equal]
