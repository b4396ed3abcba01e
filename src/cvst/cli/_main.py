"""The parser, the printing and the exit codes of all commands."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from cvst import __version__
from cvst.cli._completion import SHELLS, completion_script
from cvst.cli._errors import Interrupted, NotWritten, one_sentence
from cvst.cli._extras import MissingExtraError
from cvst.cli._printing import one_line, others_aside, say
from cvst.cli.commands import COMMANDS
from cvst.exceptions import CVSTError

__all__ = ["build_parser", "main"]

# argparse's own code for a wrong command line, and the shells' code for Ctrl-C.
BAD_INPUT = 2
INTERRUPTED = 130

# How often a thread of GNU OpenMP looks whether the others are done before it sleeps:
# what it takes by itself for more threads than cores. It does not know of other
# processes, and waits 300 times as long beside them.
SPINS = "1000"

SAFE_PATH = "PYTHONSAFEPATH"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Print the sentence and leave."""
        say(f"{self.prog}: {message}. See {self.prog} --help.", sys.stderr)
        sys.exit(BAD_INPUT)


class PrintCompletion(argparse.Action):
    """Prints the completion script of a shell and leaves."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 # argparse's signature
        values: Any,
        option_string: str | None = None,  # noqa: ARG002 # argparse's signature
    ) -> None:
        """Print and leave."""
        try:
            say(completion_script(parser, str(values)))
        except MissingExtraError as error:
            parser.exit(BAD_INPUT, f"cvst: {error}\n")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = Parser(
        prog="cvst",
        description="Hyper-parameter search that races configurations on growing "
        "subsets of the data.",
        epilog="Each command has a --help of its own, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"cvst {__version__}")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        help="print a script that completes this command line in the shell",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP.capitalize() + ".",
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            # A new option could change what an abbreviation means, and the command that
            # repeats a search is edited by whole names.
            allow_abbrev=False,
        )
        module.add_arguments(command)
        command.add_argument(
            "--traceback", action="store_true", help="show where an error came from"
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Returns
    -------
    int
        0 if all went well, 2 after an error that the user can mend or an exit of the
        model's, 130 after Ctrl-C.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Also in a file or pipe: what a model prints is to be seen while it runs.
        sys.stdout.reconfigure(line_buffering=True)
    if "OMP_WAIT_POLICY" not in os.environ:
        # Read when the library is loaded, which has not been imported yet.
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    try:
        with _safe_path():
            return _run(arguments)
    except OSError as error:
        if "--traceback" in arguments:
            raise
        # Not of the command, but of printing what it has to say.
        say(f"cvst: standard output: {one_sentence(error)}", sys.stderr)
        return BAD_INPUT


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the current folder off the path of all processes that are started.

    A ``signal.py`` beside the data would be imported by whatever runs ``python -c``:
    workers of a race, those of an estimator of its own, and what joblib counts files
    with.
    """
    # Left alone if it is there: whoever calls ``main`` has the environment as before.
    added = SAFE_PATH not in os.environ
    os.environ.setdefault(SAFE_PATH, "1")
    try:
        yield
    finally:
        if added:
            os.environ.pop(SAFE_PATH, None)


def _kept(options: argparse.Namespace) -> str:
    """Say what is left of a command that was interrupted before it knew anything."""
    goes_on = _goes_on(options)
    return f"interrupted.{goes_on}" if goes_on else "interrupted, nothing to keep."


def _goes_on(options: argparse.Namespace) -> str:
    """Say how a command that was broken off goes on, if it does."""
    checkpoint = getattr(options, "checkpoint", None)
    if checkpoint is None or not checkpoint.exists():
        return ""
    return f" The same command goes on with '{checkpoint}'."


def _run(arguments: list[str]) -> int:
    options = build_parser().parse_args(arguments)
    options.arguments = arguments
    try:
        with others_aside() if options.json else nullcontext():
            text = COMMANDS[options.command].run(options)
        say(text)
    except Interrupted as interrupted:
        say(interrupted.text)
        return INTERRUPTED
    except NotWritten as lost:
        say(lost.text)
        _complain(options, lost.sentence)
        return BAD_INPUT
    except KeyboardInterrupt:
        _complain(options, _kept(options))
        return INTERRUPTED
    except (CVSTError, ValueError, OSError) as error:
        # A ValueError comes from scikit-learn or a model that dislikes its input.
        if options.traceback:
            raise
        _complain(options, one_sentence(error))
        return BAD_INPUT
    except BaseException as error:
        # An exit of the model's, even with 0, is no success, and compiled code panics
        # with what is no Exception. Before the first look is over, it comes up to here.
        if isinstance(error, Exception) or options.traceback:
            raise
        name, said = type(error).__name__, one_sentence(error)
        told = name if said == name else f"{name}: {said}"
        _complain(options, f"broken off by {told.rstrip('.')}.{_goes_on(options)}")
        return BAD_INPUT
    return 0


def _complain(options: argparse.Namespace, sentence: str) -> None:
    """Print a sentence about a command; names with line breaks do not break it."""
    for name in options.arguments:
        if "\n" in name:
            sentence = sentence.replace(name, one_line(name))
    say(f"cvst {options.command}: {sentence}", sys.stderr)
