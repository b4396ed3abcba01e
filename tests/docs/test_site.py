"""The site's own code, without building it: every public name and page has a place."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import cvst

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def extension(name):
    path = DOCS / "_extensions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_entry(tmp_path):
    """Witness: the ``__all__`` of every package that can be imported."""
    api = extension("public_api")
    api.write_pages(tmp_path)
    pages = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.rst")}
    entries = {
        f"{module}.{name}"
        for text in pages.values()
        for module in re.findall(r"^\.\. currentmodule:: (\S+)$", text, re.M)
        for name in re.findall(
            r"^\.\. (?:auto(?:class|function|exception|data)|py:data):: (\w+)$",
            text,
            re.M,
        )
    }
    for found in pkgutil.iter_modules(cvst.__path__, prefix="cvst."):
        if found.name.split(".")[1].startswith("_") or found.name in api.NOT_PUBLIC:
            continue
        for name in importlib.import_module(found.name).__all__:
            home = api.homes()[found.name, name]
            assert home in entries, f"{found.name}.{name}"
            assert f"<{home}>`" in pages[found.name]
    assert all(f"cvst.{name}" in entries for name in cvst.__all__)


def test_the_policy_names_what_is_not_public():
    """Witness: the packages that get no pages."""
    text = (ROOT / "docs" / "developer" / "deprecation.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^- \*\*Not public\*\* (.*)$", text, re.MULTILINE)
    named = re.findall(r"`(cvst\.\w+)`", line)
    assert sorted(named) == sorted(extension("public_api").NOT_PUBLIC)


def test_pages_that_are_gone_are_removed(tmp_path):
    (tmp_path / "name.cvst.old.rst").write_text("old")
    extension("public_api").write_pages(tmp_path)
    assert not (tmp_path / "name.cvst.old.rst").exists()


def test_methods_of_scikit_learn_are_not_described_again():
    text = extension("public_api").page_of("cvst.RaceGridSearchCV")
    assert ".. automethod:: RaceGridSearchCV.plan" in text
    assert "predict_proba" not in text


def toctrees():
    """Return which pages each page lists."""
    block = re.compile(r"```{toctree}\n(.*?)```", re.S)
    listed = {}
    for path in DOCS.rglob("*.md"):
        if "_build" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for body in block.findall(text):
            names = [line for line in body.splitlines() if line and line[0] != ":"]
            listed[path] = [(path.parent / name).resolve() for name in names]
    return listed


def test_every_page_is_in_one_menu():
    places = [place for one in toctrees().values() for place in one]
    assert len(places) == len(set(places))
    pages = {
        path.with_suffix("").resolve()
        for path in DOCS.rglob("*.md")
        if not {"_build", "examples", "api"} & set(path.relative_to(DOCS).parts)
        and path.name not in {"_unreleased.md"}
    }
    assert pages - set(places) == {(DOCS / "index").resolve()}


def test_links_between_pages_stay_on_the_site():
    """A page cannot link to Markdown outside the site: Sphinx would not find it."""
    for path in DOCS.rglob("*.md"):
        made = {"_build", "examples", "api", "_unreleased.md"}
        if made & set(path.relative_to(DOCS).parts):
            continue
        for link in re.findall(r"\]\(([^)#:\s]+\.md)[)#]", path.read_text("utf-8")):
            target = (path.parent / link).resolve()
            assert target.is_relative_to(DOCS), f"{path}: {link}"
            assert target.exists(), f"{path}: {link}"


def test_fragments_are_gathered_by_kind(tmp_path):
    (tmp_path / "b.added.md").write_text("[Second](docs/user_guide/second.md).\n")
    (tmp_path / "a.added.md").write_text("First.\n")
    (tmp_path / "c.fixed.md").write_text("A fault.\n")
    text = extension("fragments").unreleased(tmp_path)
    added = "- First.\n- [Second](user_guide/second.md).\n"
    assert text == f"### Added\n\n{added}\n### Fixed\n\n- A fault.\n"


def test_numbers_stay_with_their_units():
    joined, space = extension("hard_spaces").joined, "\N{NO-BREAK SPACE}"
    assert joined("-0.33 % in 15 s and 2 sets") == (
        f"-0.33{space}% in 15{space}s and 2 sets"
    )
    assert joined("1 GB/s, 5 s.") == f"1 GB/s, 5{space}s."


def test_fragments_have_a_kind_that_is_known():
    kinds = extension("fragments").KINDS
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = [one["directory"] for one in settings["tool"]["towncrier"]["type"]]
    assert declared == list(kinds)
    for path in (ROOT / "changelog.d").glob("*.md"):
        assert path.name.split(".")[-2] in kinds, path.name


EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_draws(path):
    """Each is a page of its own: a question, a picture, in a folder with a heading."""
    text = path.read_text(encoding="utf-8")
    title, line = text.splitlines()[1:3]
    assert title.endswith("?")
    assert line == "=" * len(title)
    assert ".plot(" in text or "plt." in text
    assert (path.parent / "GALLERY_HEADER.rst").exists()
    compile(text, str(path), "exec")


def test_the_gallery_has_all_three_searches():
    assert 10 <= len(EXAMPLES) <= 14
    text = "".join(path.read_text("utf-8") for path in EXAMPLES)
    for name in ("RaceGridSearchCV(", "RaceRandomSearchCV(", "RaceSearchCV("):
        assert name in text


def test_every_example_has_a_place_in_its_folder():
    order = extension("example_order")
    assert sorted(order.ORDER) == sorted(path.stem for path in EXAMPLES)
    first = min((path.name for path in EXAMPLES), key=order.place)
    assert first == "plot_first_race.py"


def test_an_example_that_takes_long_is_a_warning(monkeypatch):
    """The clock is set by hand: what is compared is the time between two calls."""
    times, said = extension("example_times"), []
    monkeypatch.setattr(times, "_warn", said.append)
    for name, taken in (("quick", times.LONGEST - 1), ("slow", times.LONGEST + 1)):
        for when, now in (("before", 100.0), ("after", 100.0 + taken)):
            monkeypatch.setattr(times, "process_time", lambda now=now: now)
            times.watch({}, f"plot_{name}.py", when)
    assert times.LONGEST == 30
    [warning] = said
    assert warning.startswith("plot_slow.py took 31 s of the processor")


def test_the_gallery_watches_the_time_of_every_example():
    """Witness: the settings as text, since Sphinx is not installed here."""
    text = (DOCS / "conf.py").read_text("utf-8")
    assert '"reset_modules": ("matplotlib", "seaborn", example_times.watch)' in text
    assert '"reset_modules_order": "both"' in text


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert cvst.__version__ == project["version"]
    base = project["version"].split(".dev")[0]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {base}\n" in citation
    assert f'version: "{base}"' in (ROOT / "conda/recipe.yaml").read_text("utf-8")
    assert f"\n  url: {project['urls']['Paper']}\n" in citation


def test_the_recipe_needs_what_the_package_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    [run] = re.findall(r"  run:\n((?:    - .*\n)+)", recipe)
    needed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    assert needed == {*project["dependencies"], "python>=${{python_min}}"}
    assert f'python_min: "{project["requires-python"].strip(">=")}"' in recipe


def test_pages_and_examples_use_public_names_only():
    """What the deprecation policy covers is what readers are told to import."""
    api = extension("public_api")
    known = {
        f"{package}.{name}"
        for package, names in api.documented_names().items()
        for name in names
    }
    imports = re.compile(
        r"^(?:>>> |\.\.\. )?\s*from (cvst[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.M
    )
    pages = [ROOT / "README.md", ROOT / "tools" / "consumer.py"]
    pages += [*(ROOT / "examples").rglob("*.py"), *DOCS.rglob("*.md")]
    used = {}
    for path in pages:
        text = re.sub(r"<!-- python.*?-->", "", path.read_text("utf-8"), flags=re.S)
        for package, several, line in imports.findall(text):
            for name in re.findall(r"[\w*]+", re.sub(r"#.*", "", several or line)):
                used.setdefault(f"{package}.{name}", path.name)
    assert len(used) > 50
    stars = {f"{package}.*" for package in api.documented_names()}
    assert {name: used[name] for name in set(used) - known - stars} == {}


def addresses_of_ours(urls, texts):
    """Return addresses with the name of the project that ``urls`` does not begin."""
    found = {
        address
        for text in texts
        for address in re.findall(r"https?://[^\s)\"'>`]+", text)
        if re.search(r"\bcvst\b", address)
    }
    return {one for one in found if not one.startswith(tuple(urls))}


def test_addresses_of_the_project_are_those_of_its_metadata():
    """Nobody invents one: what is not in ``[project.urls]`` is nowhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = ["README.md", "CITATION.cff", "SECURITY.md", "CONTRIBUTING.md"]
    paths = [*(ROOT / name for name in names), ROOT / "conda" / "recipe.yaml"]
    paths += [*(ROOT / ".github").rglob("*.yml"), *DOCS.rglob("*.md")]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.exists()]
    assert len(texts) > 50
    urls = project["urls"].values()
    assert addresses_of_ours(urls, texts) == set()
    wrong = "https://example.org/someone/cvst/issues"
    assert addresses_of_ours(urls, [*texts, f"see {wrong}"]) == {wrong}
    assert addresses_of_ours([*urls, "https://example.org/someone/"], [wrong]) == set()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_of_others_are_named_by_a_commit(path):
    """A tag can be moved, to other code than was looked at."""
    used = re.findall(r"uses: (.+)", path.read_text("utf-8"))
    assert used
    pinned = r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
    assert all(re.fullmatch(pinned, one) for one in used), used
