"""Shell completion: shtab writes the scripts from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cvst.cli._extras import need
from cvst.cli.models import MODELS

__all__ = ["SHELLS", "completion_script"]

SHELLS = ("bash", "zsh", "fish")

# Arguments that name files or folders.
FILES = {"checkpoint", "data", "folder", "grid", "html", "out"}

# The parser leaves the model open, since it may be an import path; these are offered.
_NAMES = " ".join(MODELS)
MODEL_NAMES = {"bash": "_cvst_models", "zsh": f"({_NAMES})", "fish": _NAMES}
BASH_MODELS = f"_cvst_models() {{ compgen -W '{_NAMES}' -- \"$1\"; }}"


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return a script to be read by the shell."""
    shtab = need("shtab", "Shell completion")
    for action in _actions(parser):
        # shtab reads these attributes; the parser itself does not know them.
        if "--model" in action.option_strings:
            action.complete = MODEL_NAMES  # type: ignore[attr-defined]
        elif action.dest in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    preamble = {"bash": BASH_MODELS}
    return str(shtab.complete(parser, shell, preamble=preamble)).rstrip()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
