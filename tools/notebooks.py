"""Open and run the notebooks of the gallery, each in a kernel of its own.

    python tools/notebooks.py docs/examples     # those of the site, after `make docs`
    python tools/notebooks.py examples          # the same cells, read off the scripts

A notebook passes if it is valid, every cell runs, and a picture comes out.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import nbclient
import nbformat

__all__ = ["as_notebook", "pictures", "run"]

# The longest that a cell of an example may take, on a busy machine.
TIMEOUT = 300


def as_notebook(path: Path) -> Any:
    """Return an example as a notebook: its text and its code in turn.

    The docstring is the first text, and what follows ``# %%`` in comments is text
    until the first line that is no comment.
    """
    _, opening, rest = path.read_text(encoding="utf-8").split('"""', 2)
    cells = [nbformat.v4.new_markdown_cell(opening.strip())]
    for number, block in enumerate(re.split(r"^# %%.*\n", rest, flags=re.MULTILINE)):
        words, code = "", block
        if number:
            found = re.match(r"(?:#.*\n)*", block)
            words, code = (found[0], block[found.end() :]) if found else ("", block)
        if words:
            text = re.sub(r"^# ?", "", words, flags=re.MULTILINE)
            cells.append(nbformat.v4.new_markdown_cell(text.strip()))
        if code.strip():
            cells.append(nbformat.v4.new_code_cell(code.strip()))
    return nbformat.v4.new_notebook(cells=cells)


def read(path: Path) -> Any:
    """Return a notebook, or an example as one."""
    if path.suffix == ".py":
        return as_notebook(path)
    return nbformat.read(path, as_version=4)


def run(book: Any) -> None:
    """Run all cells in a folder that has nothing else, as after a download."""
    nbformat.validate(book)
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(book, timeout=TIMEOUT, resources=resources).execute()


def pictures(book: Any) -> int:
    """Return how many pictures the cells have drawn."""
    return sum(
        "image/png" in output.get("data", {})
        for cell in book.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )


def found_in(folders: list[Path]) -> list[Path]:
    """Return notebooks below the folders; where there are none, examples."""
    books = sorted(path for one in folders for path in one.rglob("plot_*.ipynb"))
    scripts = sorted(path for one in folders for path in one.rglob("plot_*.py"))
    return books or scripts


def main() -> int:
    """Run what lies below some folders; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", type=Path, nargs="+")
    paths = found_in(parser.parse_args().folders)
    if not paths:
        print("No notebooks there.")
        return 1
    failed = []
    for path in paths:
        start, book = perf_counter(), read(path)
        try:
            run(book)
            result = f"{pictures(book)} pictures"
        except nbclient.exceptions.CellExecutionError as error:
            result = f"FAILED\n{error}"
        if result.startswith(("FAILED", "0 ")):
            failed.append(path)
        print(f"{path}: {perf_counter() - start:.0f} s, {result}", flush=True)
    print(f"{len(paths)} notebooks, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
