"""A source release has what its tests read."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="needs the checkout",
)
def test_it_has_all_that_the_checkout_has():
    """Pages, results and scripts are compared by tests, which are in it too."""
    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = said["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = {name.split("/")[0] for name in listed.stdout.splitlines()}
    missing = tracked - {name.removeprefix("/") for name in included}
    # Hatch adds two of them by itself; the last is for machines that test a checkout.
    assert missing <= {"pyproject.toml", ".gitignore", ".ci"}
    assert all((ROOT / name.removeprefix("/")).exists() for name in included)


def ready_to_publish():
    path = ROOT / "tools" / "ready_to_publish.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def complete(tmp_path):
    """Return a folder with what is read before publishing, and nothing missing."""
    place = "https://example.org/a"
    lines = "".join(f'{one} = "{place}"\n' for one in ready_to_publish().ADDRESSES)
    texts = {
        "pyproject.toml": f'[project]\nversion = "0.1.0"\n[project.urls]\n{lines}',
        "README.md": f"![A]({place}/a.svg) [B]({place}/B.md), [above](#top)\n",
        "CITATION.cff": f"title: a\nrepository-code: {place}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_nothing_is_missing_where_all_is_filled_in(complete):
    tool = ready_to_publish()
    assert tool.missing(complete) == []
    assert "may be published" in tool.report([])


@pytest.mark.parametrize(
    ("name", "there", "instead", "told"),
    [
        *(
            ("pyproject.toml", f'{one} = "https:', f'{one} = "', f"has no {one}.")
            for one in ("Homepage", "Repository", "Documentation", "Issues")
        ),
        ("pyproject.toml", 'version = "0.1.0"', 'version = "0.1.0.dev0"', "0.1.0.dev0"),
        ("README.md", "](https://example.org/a/B.md", "](B.md", "relative links"),
        ("CITATION.cff", "repository-code: https", "# https", "no repository-code"),
    ],
)
def test_what_is_missing_is_named(complete, name, there, instead, told):
    text = (complete / name).read_text("utf-8")
    assert text.count(there) == 1
    (complete / name).write_text(text.replace(there, instead), "utf-8")
    tool = ready_to_publish()
    [said] = tool.missing(complete)
    assert told in said
    assert tool.report([said]).startswith("NOT READY TO PUBLISH\n")


def test_the_checkout_lacks_no_more_than_the_page_on_releases_says():
    """Witness: the metadata as they are, read another way."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    tool = ready_to_publish()
    lacking = {one for one in tool.ADDRESSES if f"\n{one} = " not in text}
    said = " ".join(tool.missing(ROOT))
    assert {one for one in tool.ADDRESSES if f"has no {one}." in said} == lacking
    assert ("is one of development" in said) == ('.dev0"' in text)


def test_the_workflow_refuses_before_it_builds():
    """And the page on releases has a line for each address that is asked for."""
    steps = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    asked = steps.index("run: python tools/ready_to_publish.py")
    assert asked < steps.index("run: make release") < steps.index("gh-action-pypi")
    page = (ROOT / "docs/developer/release.md").read_text("utf-8")
    for one in ready_to_publish().ADDRESSES:
        assert f'\n{one} = ""' in page
