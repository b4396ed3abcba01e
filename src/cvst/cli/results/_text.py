"""The document of a search as people read it, fresh or from a folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cvst._text import estimate_text, score_text, seconds_text
from cvst.cli.results._looks import looks_table
from cvst.cli.terminal import shown_parameters

__all__ = ["result_text"]


def result_text(summary: Mapping[str, Any], *, is_ours: bool = True) -> str:
    """Return what ``cvst search`` prints at its end.

    Parameters
    ----------
    summary : mapping
        What ``--json`` prints.
    is_ours : bool
        Whether the search ran just now. A document that was read may be a stranger's:
        types are not trusted because it says so.
    """
    who = "Winner" if summary["finished"] else "Leader so far"
    lines = [
        *summary["heading"],
        *(f"Note: {note}" for note in summary["notes"]),
        "",
        looks_table(summary["looks"], "", summary["scoring"]),
        "",
        summary["stop_sentence"],
        f"{who}: {shown_parameters(summary['winner']['params'])}",
        *_expected(summary),
        _score_sentence(summary),
        *_ending(summary, is_ours),
    ]
    return "\n".join(lines)


def _expected(summary: Mapping[str, Any]) -> list[str]:
    """Say what to expect on new rows; folders of older versions do not know it."""
    estimate = summary["winner"].get("estimate")
    # None inside stands for NaN, which JSON does not have.
    if estimate is None or None in estimate.values():
        return []
    name, text = estimate_text(summary["scoring"], estimate, ".4f")
    return [f"Expected on new rows: {name} {text}."]


def _score_sentence(summary: Mapping[str, Any]) -> str:
    winner = summary["winner"]
    score = float("nan") if winner["score"] is None else winner["score"]
    name, value = score_text(summary["scoring"], score, ".4f")
    where = "over its last folds" if winner["over_folds"] else "at its last look"
    return (
        f"Score: {name} {value} {where}, trained on "
        f"{_rows_of_score(summary)} of {summary['data']['rows']:,} rows."
    )


def _rows_of_score(summary: Mapping[str, Any]) -> str:
    """Say how many rows the winner was trained on: folds of one stage may differ."""
    looks, rows = summary["looks"], summary["winner"]["trained_on"]
    # A winner that was not in the last look has the score of an earlier stage.
    if summary["winner"]["over_folds"] and looks[-1]["rows"] == rows:
        last = [look["rows"] for look in looks if look["stage"] == looks[-1]["stage"]]
        if min(last) < max(last):
            return f"{min(last):,} to {max(last):,}"
    return f"{rows:,}"


def _ending(summary: Mapping[str, Any], is_ours: bool = True) -> list[str]:
    lines = []
    seconds, files = summary["seconds"], summary["files"]
    if summary["finished"]:
        lines.append(
            f"Time: {seconds_text(seconds['total'])}, of which "
            f"{seconds_text(seconds['final_fit'])} for the final fit on all rows."
        )
    else:
        # What a clock has chosen without an option that says so cannot be had again.
        words = {word.partition("=")[0] for word in summary["repeat"].split()}
        again = "--max-looks" in words and not words & {"--time-budget", "--budget"}
        what = "To get here again and fit it" if again else "To search again"
        lines.append(
            f"Interrupted after {seconds_text(seconds['total'])}: the leader so far is "
            f"kept, but no final model is fitted. {what}:\n"
            f"  {summary['repeat']}"
        )
        # Folders of older versions do not have the word.
        if summary.get("checkpoint"):
            lines.append(f"To go on with the race:\n  {_going_on(summary)}")
    if files:
        lines.append(f"Files: {', '.join(files)}")
    for model in (name for name in files if name.endswith(".skops")):
        trusted = summary["untrusted_types"]
        if trusted and not is_ours:
            lines.append(
                f"Load the model: skops.io.load({model!r}, trusted=...), with those of "
                f"skops.io.get_untrusted_types(file={model!r}) that you know"
            )
            continue
        extra = f", trusted={trusted!r}" if trusted else ""
        lines.append(f"Load the model: skops.io.load({model!r}{extra})")
    return lines


def _going_on(summary: Mapping[str, Any]) -> str:
    """Return the command again; it may replace the folder that it has just written."""
    command = str(summary["command"])
    words = command.split()
    replaces = bool(summary["files"]) and "--overwrite" not in words
    return f"{command} --overwrite" if replaces else command
