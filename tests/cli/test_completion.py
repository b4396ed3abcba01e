"""Completion, asked of the real shells; those that are missing are named."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys

import pytest

from cvst.cli import build_parser
from cvst.cli._completion import SHELLS, completion_script
from cvst.cli.models._catalogue import MODELS
from cvst.search import STRATEGIES

CASES = [
    ("cvst ", ["search", "report", "plan", "demo", "datasets"]),
    ("cvst se", ["search"]),
    ("cvst --ver", ["--version"]),
    ("cvst --print-completion ", ["bash", "zsh", "fish"]),
    ("cvst search a.csv --ta", ["--target", "--task"]),
    ("cvst search a.csv --task r", ["regression"]),
    ("cvst search a.csv -m ", list(MODELS)),
    ("cvst search a.csv --model nu", ["nusvm", "nusvr"]),
    ("cvst search a.csv --strategy ", list(STRATEGIES)),
    ("cvst search a.csv --fi", ["--fit-timeout"]),
    ("cvst report results --h", ["--help", "--html"]),
    ("cvst plan --time-b", ["--time-budget"]),
    ("cvst plan --bud", []),
    ("cvst search table", ["table.csv", "table.parquet"]),
]


def bash(script, line, folder):
    """Ask a real Bash what it would offer for the last word."""
    *words, last = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in (*words, last))
    # Where the function offers nothing, Bash goes on to names of files.
    ask = (
        f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}\n"
        '_shtab_cvst; ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$2"))\n'
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-uc", ask, "bash", "", last],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return done.stdout.split()


def fish(script, line, folder):
    """Ask a real fish; its answers carry a description after a tab.

    Newer ones also offer what has the word in its middle, where nothing begins so.
    """
    typed = line.split(" ")[-1]
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'"],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    answers = [answer.split("\t")[0] for answer in done.stdout.splitlines()]
    return [answer for answer in answers if answer.startswith(typed)]


# Completion in zsh is off until it is asked for, usually in .zshrc.
ZSH_START = "autoload -Uz compinit; compinit -u"

SPY = """
compadd() {
  local -a fitting
  builtin compadd -O fitting "$@"
  print -rl -- $fitting >> .offered
}
"""


def zsh(script, line, folder):
    """Type into a real zsh, and write down what reaches its list of choices."""
    path = folder / ".script"
    path.write_text(script, encoding="utf-8")
    (folder / ".spy").write_text(SPY, encoding="utf-8")
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "200", "LINES": "50"}
    main, side = pty.openpty()
    with subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=folder,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(side)
        try:
            # What is typed before the shell listens would be lost.
            os.write(main, b"PROMPT='REA''DY'; bindkey '^D' list-choices\n")
            read_until(main, "READY")
            start = f'{ZSH_START}; eval "$(<{path})"; source {folder}/.spy'
            os.write(main, f"{start}; PROMPT='SOUR''CED'\n".encode())
            read_until(main, "SOURCED")
            os.write(main, f"{line}\x04\x15print EN''D\n".encode())
            read_until(main, "END")
        finally:
            process.kill()
            os.close(main)
    # Files are offered again and again while the list stays empty.
    return set((folder / ".offered").read_text(encoding="utf-8").split())


def read_until(screen, mark):
    shown = ""
    while mark not in shown:
        assert select.select([screen], [], [], 30)[0], f"no {mark} after {shown!r}"
        shown += os.read(screen, 65536).decode(errors="replace")


ASK = {"bash": bash, "zsh": zsh, "fish": fish}


@pytest.mark.parametrize(("line", "offered"), CASES)
@pytest.mark.parametrize("shell", SHELLS)
def test_shells_offer_what_fits(shell, line, offered, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(
            f"NO {shell.upper()}: its completion is not tested. Install {shell}."
        )
    for name in ("table.csv", "table.parquet", "other.txt"):
        (tmp_path / name).touch()
    script = completion_script(build_parser(), shell)
    assert sorted(ASK[shell](script, line, tmp_path)) == sorted(offered)


def test_without_shtab_a_sentence_says_what_to_install(cvst, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    result = cvst("--print-completion", "bash")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "cvst: Shell completion needs the package 'shtab', which is not installed. "
        "Run: pip install 'cvst[cli]'\n"
    )


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")]
)
def test_scripts_are_valid_in_their_shell(shell, check, cvst, tmp_path):
    result = cvst("--print-completion", shell)
    assert result.code == 0
    assert "--target" in result.out or "-l target" in result.out
    if shutil.which(shell) is None:
        pytest.skip(f"NO {shell.upper()}: its script is not read. Install {shell}.")
    path = tmp_path / "script"
    path.write_text(result.out, encoding="utf-8")
    subprocess.run([shell, check, str(path)], check=True)
