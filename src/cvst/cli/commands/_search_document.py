"""What ``cvst search`` found: as a document, as files and as text."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from cvst import __version__
from cvst._searched import FittedSearch
from cvst._text import counted
from cvst.cli._printing import one_line
from cvst.cli.commands._job import Job, plan_job
from cvst.cli.commands._repeat import program, repeat_command
from cvst.cli.results import (
    RACE_FILE,
    SUMMARY_FILE,
    ModelNotSavedError,
    RaceLook,
    json_bytes,
    model_bytes,
    plain,
    race_looks,
    results_csv,
    stop_sentence,
    write_folder,
)
from cvst.displays import TimeConsumptionDisplay
from cvst.race import Look
from cvst.race.machinery import deciding_looks
from cvst.report import page_html, race_bytes
from cvst.report import summary as report_summary
from cvst.report.machinery import score_name

__all__ = ["heading", "plan_text", "summarise", "write_results"]

# Folds of a plain search to compare with: the default of GridSearchCV.
N_FOLDS = 5


def summarise(options: Namespace, job: Job, finished: bool) -> dict[str, Any]:
    """Return all there is to tell, as JSON has it."""
    search, learning, prefix = job.search, job.learning, job.prepared.prefix
    short = {
        name.removeprefix(prefix): value for name, value in search.best_params_.items()
    }
    document = {
        "cvst_version": __version__,
        "python_version": sys.version.split()[0],
        "command": shlex.join([*program(), *options.arguments]),
        "repeat": repeat_command(options, search, search.strategy_.proposes),
        "heading": _recognised(options, job),
        "data": {
            "file": options.data,
            "sha256": job.sha256,
            "rows": len(learning.X),
            "columns": list(learning.X.columns),
        },
        "target": learning.target.name,
        "task": learning.target.task,
        "model": options.model,
        "preparation": job.prepared.sentences,
        "grid": job.grid.text,
        "n_configurations": len(search.cv_results_["params"]),
        "scoring": score_name(search),
        "strategy": job.strategy,
        "random_state": options.random_state,
        "checkpoint": None if options.checkpoint is None else str(options.checkpoint),
        "looks": [_look(look, prefix) for look in race_looks(search)],
        "stop_reason": search.stop_reason_,
        "stop_sentence": stop_sentence(search),
        "finished": finished,
        "winner": {
            "params": short,
            "estimate": _estimate(search),
            "score": search.best_score_,
            "trained_on": search.best_score_n_train_,
            "over_folds": _deciding_look(search).is_fold,
        },
        "n_survivors": len(search.surviving_params_),
        "seconds": {
            "total": job.seconds,
            "final_fit": getattr(search, "refit_time_", None),
        },
        "plain_search": {
            "n_folds": N_FOLDS,
            "estimated_seconds": TimeConsumptionDisplay.from_search(
                search, n_folds=N_FOLDS
            ).cross_validation_seconds,
        },
        "notes": job.notes,
        # Filled in by ``write_results``, if there is a folder to write to.
        "files": [],
        "untrusted_types": [],
    }
    values: dict[str, Any] = plain(document)
    return values


def _estimate(search: FittedSearch) -> dict[str, Any] | None:
    """Return what to expect on new rows, None where that is not known."""
    told = search.best_score_estimate_
    names = ("value", "low", "high", "level", "optimism", "growth")
    return None if told is None else {name: getattr(told, name) for name in names}


def _deciding_look(search: FittedSearch) -> Look:
    """Return the last of the looks that make the score of the winner."""
    state = search.race_
    looks = np.flatnonzero(state.present[search.best_index_])
    look: Look = state.observations[deciding_looks(state, looks)[-1]].look
    return look


def _look(look: RaceLook, prefix: str) -> dict[str, Any]:
    values = {name: getattr(look, name) for name in look.__slots__}
    leader = {name.removeprefix(prefix): v for name, v in look.leader.items()}
    return {**values, "leader": leader}


def write_results(folder: Path, job: Job, summary: dict[str, Any], title: str) -> None:
    """Write the results, and put the names of the files into the summary."""
    page = report_summary(job.search, command=summary["repeat"])
    contents = {
        "winner.json": json_bytes(
            {
                "model": summary["model"],
                "params": summary["winner"]["params"],
                "estimate": summary["winner"]["estimate"],
                "score": summary["winner"]["score"],
                "scoring": summary["scoring"],
                "trained_on": summary["winner"]["trained_on"],
            }
        ),
        "cv_results.csv": results_csv(job.search.cv_results_),
        # A file's name may be any bytes: a shell wants these, a page what can be shown.
        "command.txt": f"{summary['repeat']}\n".encode(errors="surrogateescape"),
        RACE_FILE: race_bytes(page, title=title),
    }
    # Without the final fit there is no model.
    if summary["finished"]:
        try:
            content, unknown = model_bytes(job.search.best_estimator_)
        except ModelNotSavedError as error:
            # A model that skops does not understand must not cost the other results.
            summary["notes"].append(str(error))
        else:
            contents["model.skops"] = content
            summary["untrusted_types"] = unknown
    try:
        contents["report.html"] = page_html(page, title=title).encode(
            errors="backslashreplace"
        )
    except ImportError as error:
        summary["notes"].append(f"There is no report.html. {error}")
    # Before the summary is written: it lists all files, itself among them.
    summary["files"] = [str(folder / name) for name in [*contents, SUMMARY_FILE]]
    contents[SUMMARY_FILE] = json_bytes(summary)
    write_folder(folder, contents)


def plan_text(options: Namespace, job: Job) -> str:
    """Say what the race would be."""
    plan = plan_job(job)
    if options.json:
        return json.dumps(plain(plan.to_dict()), indent=2)
    return "\n".join([*heading(options, job), "", str(plan)])


def heading(options: Namespace, job: Job) -> list[str]:
    """Say what was recognised, before the race."""
    return [*_recognised(options, job), *(f"Note: {note}" for note in job.notes)]


def _recognised(options: Namespace, job: Job) -> list[str]:
    learning = job.learning
    rows = counted(len(learning.X), "row")
    columns = counted(learning.X.shape[1], "column")
    shape = f"{rows}, {columns} to learn from"
    how = "configurations proposed while racing"
    if job.n_configurations is not None:
        how = counted(job.n_configurations, "configuration")
        how += " proposed while racing" if job.proposes else ""
    groups = []
    if learning.groups is not None:
        n_groups = counted(len(set(learning.groups.tolist())), "group")
        groups = [f"{n_groups} by {options.groups!r}: none of them is split."]
    lines = [
        f"Data: {options.data}, {shape}.",
        learning.target.sentence,
        *groups,
        *job.prepared.sentences,
        f"Model: {options.model}, {how}: {job.grid.text}",
    ]
    return [one_line(line) for line in lines]
