"""The document of a search as people read it, fresh or from a folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cvst.cli.results._looks import steps_table
from cvst.cli.terminal import duration, shown_parameters

__all__ = ["result_text"]


def result_text(summary: Mapping[str, Any]) -> str:
    """Return what ``cvst search`` prints at its end.

    Parameters
    ----------
    summary : mapping
        What ``--json`` prints.
    """
    who = "Winner" if summary["finished"] else "Leader so far"
    lines = [
        *summary["heading"],
        *(f"Note: {note}" for note in summary["notes"]),
        "",
        steps_table(summary["steps"], "", summary["scoring"]),
        "",
        summary["stop_sentence"],
        f"{who}: {shown_parameters(summary['winner']['params'])}",
        _score_sentence(summary),
        *_ending(summary),
    ]
    return "\n".join(lines)


def _score_sentence(summary: Mapping[str, Any]) -> str:
    winner = summary["winner"]
    score = "unknown" if winner["score"] is None else f"{winner['score']:.4f}"
    where = "over the last folds" if winner["over_folds"] else "at the last look"
    return (
        f"Score: {summary['scoring']} {score} {where}, trained on "
        f"{_rows_of_score(summary)} of {summary['data']['rows']:,} rows."
    )


def _rows_of_score(summary: Mapping[str, Any]) -> str:
    """Say how many rows the winner was trained on: folds of one stage may differ."""
    steps, rows = summary["steps"], summary["winner"]["trained_on"]
    # Who did not run the last step has the score of an earlier stage.
    if summary["winner"]["over_folds"] and steps[-1]["rows"] == rows:
        last = [step["rows"] for step in steps if step["stage"] == steps[-1]["stage"]]
        if min(last) < max(last):
            return f"{min(last):,} to {max(last):,}"
    return f"{rows:,}"


def _ending(summary: Mapping[str, Any]) -> list[str]:
    lines = []
    seconds, files = summary["seconds"], summary["files"]
    if summary["finished"]:
        lines.append(
            f"Time: {duration(seconds['total'])}, of which "
            f"{duration(seconds['final_fit'])} for the final fit on all rows."
        )
    else:
        lines.append(
            f"Interrupted after {duration(seconds['total'])}: the leader so far is "
            "kept, but no final model is fitted. To get here again and fit it:\n"
            f"  {summary['repeat']}"
        )
    if files:
        lines.append(f"Files: {', '.join(files)}")
    for model in (name for name in files if name.endswith(".skops")):
        trusted = summary["untrusted_types"]
        extra = f", trusted={trusted!r}" if trusted else ""
        lines.append(f"Load the model: skops.io.load({model!r}{extra})")
    return lines
