"""Shell completion, written from the parser."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cvst.cli._models import MODELS

__all__ = ["SHELLS", "completion_script"]

SHELLS = ("bash", "zsh", "fish")

# Words for options whose values the parser leaves open.
WORDS = {"--model": tuple(MODELS)}


@dataclass(frozen=True, slots=True)
class Option:
    """An option as a shell completes it.

    Attributes
    ----------
    names : tuple of str
        Short and long.
    words : tuple of str
        Possible values, if they are known.
    takes_value : bool
        Whether a value follows.
    about : str
        The help text.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    takes_value: bool
    about: str


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return a script to be sourced by the shell."""
    commands = _commands(parser)
    if shell == "fish":
        return "\n".join(_fish(commands))
    script = _bash(commands)
    # Zsh runs completions written for Bash once it is told to.
    load = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
    return f"{load}{script}" if shell == "zsh" else script


def _commands(
    parser: argparse.ArgumentParser,
) -> dict[str, tuple[str, list[Option]]]:
    """Return help and options of each command; the program itself has no name."""
    commands = {"": ("", list(_options(parser)))}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {
                choice.dest: choice.help or "" for choice in action._choices_actions
            }
            for name, command in action.choices.items():
                commands[name] = (about.get(name, ""), list(_options(command)))
    return commands


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if not action.option_strings:
            continue
        names = tuple(action.option_strings)
        known = action.choices or next((WORDS[n] for n in names if n in WORDS), ())
        yield Option(
            names=names,
            words=tuple(str(word) for word in known),
            takes_value=action.nargs != 0,
            about=action.help or "",
        )


def _bash(commands: dict[str, tuple[str, list[Option]]]) -> str:
    names = " ".join(name for name in commands if name)
    cases = []
    for name, (_, options) in commands.items():
        for option in options:
            if option.words:
                pattern = "|".join(f"{name}:{flag}" for flag in option.names)
                cases.append(f'    {pattern}) words="{" ".join(option.words)}" ;;')
        flags = " ".join(flag for option in options for flag in option.names)
        cases.append(f'    {name}:--flags) words="{flags}" ;;')
    body = "\n".join(cases)
    return f"""\
_cvst_words() {{
  local words=""
  case "$1:$2" in
{body}
  esac
  printf '%s' "$words"
}}
_cvst() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {names} " in *" $word "*) command="$word"; break ;; esac
  done
  local words="$(_cvst_words "$command" "${{COMP_WORDS[COMP_CWORD-1]}}")"
  if [[ -z "$words" ]]; then
    if [[ "$current" == -* ]]; then
      words="$(_cvst_words "$command" --flags)"
    elif [[ -z "$command" ]]; then
      words="{names}"
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _cvst cvst"""


def _fish(commands: dict[str, tuple[str, list[Option]]]) -> Iterator[str]:
    for name, (about, _) in commands.items():
        if name:
            yield (
                "complete -c cvst -n __fish_use_subcommand -f -a "
                f"{name} -d {shlex.quote(about)}"
            )
    for name, (_, options) in commands.items():
        where = (
            f"__fish_seen_subcommand_from {name}" if name else "__fish_use_subcommand"
        )
        for option in options:
            parts = [f"complete -c cvst -n {shlex.quote(where)}"]
            for flag in option.names:
                kind = "-l" if flag.startswith("--") else "-s"
                parts.append(f"{kind} {flag.lstrip('-')}")
            if option.words:
                parts.append(f"-x -a {shlex.quote(' '.join(option.words))}")
            elif option.takes_value:
                parts.append("-r")
            parts.append(f"-d {shlex.quote(option.about)}")
            yield " ".join(parts)
