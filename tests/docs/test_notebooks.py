"""Examples work as notebooks; ``make notebooks`` runs all of those that are built."""

from __future__ import annotations

import ast
import sys

import pytest
from docs_pages import ROOT

EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))


@pytest.fixture(scope="module")
def notebooks():
    """Return the script that opens and runs them."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import notebooks
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return notebooks


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_has_all_of_its_example(path, notebooks):
    """Its cells in turn are the statements of the script, and its words are there."""
    book = notebooks.as_notebook(path)
    code = [cell.source for cell in book.cells if cell.cell_type == "code"]
    script = ast.parse(path.read_text(encoding="utf-8"))
    docstring, *statements = script.body
    assert ast.dump(ast.parse("\n".join(code))) == ast.dump(
        ast.Module(statements, type_ignores=[])
    )
    words = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    assert words[0] == docstring.value.value.strip()
    assert not [text for text in words if text.startswith("#")]


@pytest.mark.parametrize(
    "name", ["first_race/plot_first_race.py", "understanding/plot_safety_zone.py"]
)
def test_short_notebooks_run(name, notebooks, monkeypatch):
    """In a kernel, in an empty folder, with pictures."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    book = notebooks.as_notebook(ROOT / "examples" / name)
    notebooks.run(book)
    assert notebooks.pictures(book) >= 1


def test_a_notebook_that_fails_is_seen(notebooks, tmp_path):
    """Else they would always pass."""
    path = tmp_path / "plot_wrong.py"
    path.write_text('"""\nWhat?\n=====\n"""\n\nx = 1\n\n# %%\n# More.\n\nprint(y)\n')
    book = notebooks.as_notebook(path)
    assert [cell.cell_type[0] for cell in book.cells] == list("mcmc")
    with pytest.raises(notebooks.nbclient.exceptions.CellExecutionError, match="'y'"):
        notebooks.run(book)
