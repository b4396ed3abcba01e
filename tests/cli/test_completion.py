from __future__ import annotations

import shutil
import subprocess

import pytest

from cvst.cli import build_parser
from cvst.cli._completion import completion_script
from cvst.cli._models import MODELS


def complete(words: list[str]) -> list[str]:
    """Ask a real Bash what it would offer for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"{completion_script(build_parser(), 'bash')}\n"
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        '_cvst; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-uc", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cvst", ""], ["search", "plan", "demo", "datasets"]),
        (["cvst", "se"], ["search"]),
        (["cvst", "--ver"], ["--version"]),
        (["cvst", "--print-completion", ""], ["bash", "zsh", "fish"]),
        (["cvst", "search", "a.csv", "--ta"], ["--target", "--task"]),
        (["cvst", "search", "a.csv", "--task", "r"], ["regression"]),
        (["cvst", "search", "a.csv", "-m", ""], list(MODELS)),
        (["cvst", "search", "a.csv", "--model", "nu"], ["nusvm", "nusvr"]),
        (["cvst", "search", "a.c"], []),
        (["cvst", "plan", "--bud"], ["--budget"]),
    ],
)
def test_bash_offers_what_fits(words, offered):
    assert complete(words) == offered


def test_fish_knows_which_options_take_a_value():
    lines = completion_script(build_parser(), "fish").split("\n")
    [target] = [line for line in lines if "-l target " in line]
    [raw] = [line for line in lines if "-l raw " in line]
    assert " -r " in target
    assert " -r " not in raw


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")]
)
def test_scripts_are_valid_in_their_shell(shell, check, cvst, tmp_path):
    result = cvst("--print-completion", shell)
    assert result.code == 0
    assert "--target" in result.out or "-l target" in result.out
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    path = tmp_path / "script"
    path.write_text(result.out, encoding="utf-8")
    subprocess.run([shell, check, str(path)], check=True)
