"""Every block of Python in the readme and the pages runs, in the order of its page.

What a page leaves unsaid stands in a comment that readers do not see,
``<!-- python … -->``; a block that begins with the line ``# not run`` is skipped, with
its reason behind it.
"""

from __future__ import annotations

import argparse
import doctest
import re
import shlex
import sys
import types
import warnings
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

from cvst.cli import build_parser

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "examples", "api"} & set(path.relative_to(ROOT).parts[:-1])
)
BLOCK = re.compile(
    r"^```(?P<kind>[\w{}]+)\n(?P<shown>.*?)^```|^<!-- python\n(?P<hidden>.*?)^-->",
    re.DOTALL | re.MULTILINE,
)
# These two have tests of their own, beside the code that they are about.
ELSEWHERE = {"spaces.md", "proposing.md"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def python_blocks(path):
    """Return the code of a page as (line, text), hidden code included."""
    text = path.read_text(encoding="utf-8")
    return [
        (text[: match.start()].count("\n") + 2, match["shown"] or match["hidden"])
        for match in BLOCK.finditer(text)
        if match["hidden"] or match["kind"] == "python"
    ]


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


def with_code(pages):
    return [path for path in pages if python_blocks(path)]


def run(block, line, path, names):
    """Run one block, as a session if it is written as one."""
    place = f"{name_of(path)}, line {line}"
    if ">>>" in block:
        test = doctest.DocTestParser().get_doctest(block, names, place, place, line)
        found = doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
        names.update(test.globs)
        assert found.failed == 0, place
    else:
        text = "\n" * (line - 1) + block
        # What this module imports from the future is not what a reader has.
        exec(compile(text, place, "exec", dont_inherit=True), names)


def first_of_their_kind(pages):
    """Leave out pages whose code is the beginning of that of another one."""
    codes = {path: "".join(block for _, block in python_blocks(path)) for path in pages}
    return [
        path
        for path in pages
        if not any(
            other is not path and codes[other].startswith(codes[path])
            for other in pages
        )
    ]


@pytest.mark.parametrize(
    "path",
    first_of_their_kind([one for one in with_code(PAGES) if one.name not in ELSEWHERE]),
    ids=name_of,
)
def test_code_runs(path, tmp_path, monkeypatch, capsys):
    """The first page also shows what its code prints."""
    code = "".join(block for _, block in python_blocks(path))
    if "import xgboost" in code or "from xgboost" in code:
        pytest.importorskip("xgboost")  # the test group has it on Linux alone
    if "from dask.distributed" in code:
        pytest.importorskip("distributed")
    if "DaskLGBM" in code and not sys.platform.startswith("linux"):
        pytest.skip("estimators that train on Dask are tested on Linux")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # classes of a page must be found by pickle
    monkeypatch.setitem(sys.modules, "page", module)
    names = vars(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, block in python_blocks(path):
            capsys.readouterr()
            if not block.startswith("# not run"):
                run(block, line, path, names)
            text = path.read_text(encoding="utf-8").partition(f"{block}```\n\n")[2]
            if path.name == "getting_started.md" and text.startswith("```text\n"):
                shown = BLOCK.match(text)["shown"]
                assert differences(capsys.readouterr().out, shown) == []
    plt.close("all")


# What no machine of ours can run in a test, with the reason that the page gives.
NOT_RUN = {
    "docs/user_guide/clusters.md": [
        "it needs a cluster",
        "it needs Kubernetes",
        "it needs SLURM",
        "Ray need not be installed",
    ],
    "docs/user_guide/datasets.md": ["it downloads"],
    "docs/user_guide/gpu.md": ["it needs a card"],
    "docs/user_guide/loggers.md": ["MLflow is tested in an environment of its own"],
}


def test_few_blocks_are_not_run_and_say_why():
    """A block that nobody runs may be wrong for long."""
    found = {}
    for path in PAGES:
        for _, block in python_blocks(path):
            if block.startswith("# not run"):
                reason = block.splitlines()[0].partition(": ")[2]
                found.setdefault(name_of(path), []).append(reason)
    assert found == NOT_RUN


def test_blocks_are_found():
    """The pattern sees shown and hidden code; else nothing would be tested."""
    assert len(with_code(PAGES)) > 20
    text = "a\n```python\nx = 1\n```\n<!-- python\ny = 2\n-->\n```text\nz\n```\n"
    kinds = [match["kind"] or "hidden" for match in BLOCK.finditer(text)]
    assert kinds == ["python", "hidden", "text"]


def test_outputs_are_compared():
    """Else a page could show anything."""
    assert differences("seen: 99 rows\n", "seen: 98 rows\n") == []
    assert differences("seen: 99 rows\n", "seen: 50 rows\n")
    assert differences("seen: 99 rows\n", "saw: 99 rows\n")
    assert differences("seen: 99 rows\nmore\n", "seen: 99 rows\n")


# Commands ---------------------------------------------------------------------------


def commands():
    """Return the commands of all pages, as (page, words)."""
    found = []
    for path in [*PAGES, ROOT / "benchmarks" / "README.md"]:
        for match in BLOCK.finditer(path.read_text(encoding="utf-8")):
            if match["kind"] not in {"shell", "bash", "console"}:
                continue
            prompt = match["kind"] == "console"
            lines = match["shown"].splitlines()
            found += [
                (name_of(path), words)
                for text in lines
                if not prompt or text.startswith("$ ")
                if (words := shlex.split(text.removeprefix("$ "), comments=True))
            ]
    return found


class RefusedError(Exception):
    """A command line that the parser does not take."""


@pytest.mark.parametrize(
    ("page", "words"),
    [one for one in commands() if one[1][0] == "cvst"],
    ids=lambda one: " ".join(one) if isinstance(one, list) else one,
)
def test_commands_of_the_pages_are_understood(page, words, monkeypatch):
    def refuse(self, message):
        raise RefusedError(f"{page}: {message}")

    monkeypatch.setattr(argparse.ArgumentParser, "error", refuse)
    pipe = words.index("|") if "|" in words else len(words)
    if "--print-completion" in words:
        return
    build_parser().parse_args(words[1:pipe])


def test_scripts_and_targets_of_the_pages_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    seen = 0
    for page, words in commands():
        if words[0] == "make":
            assert words[1] in targets, page
        elif words[0] == "python" and not words[1].startswith("-"):
            assert (ROOT / words[1]).exists(), f"{page}: {words[1]}"
        else:
            continue
        seen += 1
    assert seen > 8


def test_pages_do_not_name_this_machine():
    """No page has a path or an address that only exists here."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/work/|/tmp/|/root/|simple/", text), name_of(path)


def links(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text)


# Written by the build, so that they are not here when tests run.
BUILT = ("examples/", "api/")


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    for link in links(path):
        if "://" in link or link.startswith(("mailto:", *BUILT)):
            continue
        target = (path.parent / link).resolve()
        inside = target.relative_to(ROOT.resolve()).as_posix()
        if inside.startswith(("docs/examples", "docs/api")):
            continue
        assert target.exists() or Path(f"{target}.md").exists(), link
