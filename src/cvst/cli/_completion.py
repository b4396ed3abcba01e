"""Shell completion, written from the parser."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cvst.cli.models import MODELS

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
    return f"{_lookup(commands)}\n{(_zsh if shell == 'zsh' else _bash)(commands)}"


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
        # Older spellings work, but nobody should learn them.
        if not action.option_strings or action.help == argparse.SUPPRESS:
            continue
        names = tuple(action.option_strings)
        known = action.choices or next((WORDS[n] for n in names if n in WORDS), ())
        yield Option(
            names=names,
            words=tuple(str(word) for word in known),
            takes_value=action.nargs != 0,
            about=action.help or "",
        )


def _lookup(commands: dict[str, tuple[str, list[Option]]]) -> str:
    """Return a function, for Bash and zsh alike, that prints what may follow a word."""
    cases = []
    for name, (_, options) in commands.items():
        for option in options:
            if option.words:
                pattern = "|".join(f"{name}:{flag}" for flag in option.names)
                cases.append(f'    {pattern}) found="{" ".join(option.words)}" ;;')
        flags = " ".join(flag for option in options for flag in option.names)
        cases.append(f'    {name}:--flags) found="{flags}" ;;')
    body = "\n".join(cases)
    # Zsh keeps the command line in a variable "words", which must not be hidden.
    return f"""\
_cvst_words() {{
  local found=""
  case "$1:$2" in
{body}
  esac
  printf '%s' "$found"
}}"""


def _bash(commands: dict[str, tuple[str, list[Option]]]) -> str:
    names = " ".join(name for name in commands if name)
    return f"""\
_cvst() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {names} " in *" $word "*) command="$word"; break ;; esac
  done
  local found="$(_cvst_words "$command" "${{COMP_WORDS[COMP_CWORD-1]}}")"
  if [[ -z "$found" ]]; then
    if [[ "$current" == -* ]]; then
      found="$(_cvst_words "$command" --flags)"
    elif [[ -z "$command" ]]; then
      found="{names}"
    fi
  fi
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}}
complete -o default -F _cvst cvst"""


def _zsh(commands: dict[str, tuple[str, list[Option]]]) -> str:
    names = " ".join(name for name in commands if name)
    return f"""\
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
_cvst() {{
  local command="" word found
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case " {names} " in *" $word "*) command="$word"; break ;; esac
  done
  found="$(_cvst_words "$command" "${{words[CURRENT-1]}}")"
  if [[ -z "$found" ]]; then
    if [[ "${{words[CURRENT]}}" == -* ]]; then
      found="$(_cvst_words "$command" --flags)"
    elif [[ -z "$command" ]]; then
      found="{names}"
    fi
  fi
  if [[ -n "$found" ]]; then
    compadd -- ${{=found}}
  else
    _files
  fi
}}
compdef _cvst cvst"""


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
