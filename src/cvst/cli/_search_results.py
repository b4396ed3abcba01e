"""What ``cvst search`` found: as a document, as files and as text."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from cvst import __version__
from cvst.cli._job import Job, plan_job
from cvst.cli._options import repeat_command
from cvst.cli._output import json_bytes, model_bytes, results_csv, write_folder
from cvst.cli._summary import (
    plain,
    race_steps,
    score_name,
    steps_table,
    stop_sentence,
)
from cvst.cli._text import duration, shown_parameters
from cvst.report import html_report

__all__ = ["heading", "plan_text", "result_text", "summarise", "write_results"]


def summarise(options: Namespace, job: Job, finished: bool) -> dict[str, Any]:
    """Return all there is to tell, as plain values by name."""
    search, learning, prefix = job.search, job.learning, job.prepared.prefix
    short = {
        name.removeprefix(prefix): value for name, value in search.best_params_.items()
    }
    return {
        "cvst_version": __version__,
        "python_version": sys.version.split()[0],
        "command": shlex.join(["cvst", *options.arguments]),
        "repeat": repeat_command(options, search),
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
        "scoring": score_name(options.scoring, learning.target.task),
        "strategy": options.strategy,
        "seed": options.seed,
        "steps": [_step(step, prefix) for step in race_steps(search)],
        "stop_reason": search.stop_reason_,
        "finished": finished,
        "winner": {
            "params": short,
            "score": search.best_score_,
            "trained_on": search.best_score_n_train_,
        },
        "n_survivors": len(search.surviving_params_),
        "seconds": {
            "total": job.seconds,
            "final_fit": getattr(search, "refit_time_", None),
        },
        "notes": job.notes,
        "files": [],
        "untrusted_types": [],
    }


def _step(step: Any, prefix: str) -> dict[str, Any]:
    values = {name: getattr(step, name) for name in step.__slots__}
    leader = {name.removeprefix(prefix): v for name, v in step.leader.items()}
    return {**values, "leader": leader}


def write_results(folder: Path, job: Job, summary: dict[str, Any], title: str) -> None:
    """Write the results, and put the names of the files into the summary."""
    contents = {
        "winner.json": json_bytes(
            {
                "model": summary["model"],
                "params": summary["winner"]["params"],
                "score": summary["winner"]["score"],
                "scoring": summary["scoring"],
                "trained_on": summary["winner"]["trained_on"],
            }
        ),
        "cv_results.csv": results_csv(job.search.cv_results_),
        "command.txt": f"{summary['repeat']}\n".encode(),
    }
    if summary["finished"]:
        content, unknown = model_bytes(job.search.best_estimator_)
        contents["model.skops"] = content
        summary["untrusted_types"] = unknown
    report = _report(job, summary["repeat"], title)
    if report is not None:
        contents["report.html"] = report
    summary["files"] = [str(folder / name) for name in [*contents, "summary.json"]]
    contents["summary.json"] = json_bytes(summary)
    write_folder(folder, contents)


def _report(job: Job, command: str, title: str) -> bytes | None:
    """Return the page of the race, or note what it takes."""
    try:
        return html_report(job.search, title=title, command=command).encode()
    except ImportError as error:
        job.notes.append(f"There is no report.html. {error}")
        return None


def result_text(options: Namespace, job: Job, summary: dict[str, Any]) -> str:
    """Return the result as people read it."""
    search = job.search
    prefix = job.prepared.prefix
    score = summary["scoring"]
    who = "Winner" if summary["finished"] else "Leader so far"
    lines = [
        *heading(options, job),
        "",
        steps_table(race_steps(search), prefix, score),
        "",
        stop_sentence(search),
        f"{who}: {shown_parameters(search.best_params_, prefix)}",
        _score_sentence(job, score),
        *_ending(job, summary),
    ]
    return "\n".join(lines)


def _score_sentence(job: Job, score: str) -> str:
    search = job.search
    folds = search.race_.observations[-1].look.is_fold
    where = "over the last folds" if folds else "at the last look"
    n_train, n_rows = search.best_score_n_train_, len(job.learning.X)
    return (
        f"Score: {score} {search.best_score_:.4f} {where}, trained on {n_train:,} of "
        f"{n_rows:,} rows."
    )


def plan_text(options: Namespace, job: Job) -> str:
    """Say what the race would be."""
    plan = plan_job(job)
    if options.json:
        return json.dumps(plain(plan.to_dict()), indent=2)
    return "\n".join([*heading(options, job), "", str(plan)])


def heading(options: Namespace, job: Job) -> list[str]:
    """Say what was recognised, before the race or above its result."""
    learning = job.learning
    shape = f"{len(learning.X):,} rows, {learning.X.shape[1]} columns to learn from"
    count = f"{job.n_configurations:,} configurations"
    return [
        f"Data: {options.data}, {shape}.",
        learning.target.sentence,
        *job.prepared.sentences,
        f"Model: {options.model}, {count}: {job.grid.text}",
        *(f"Note: {note}" for note in job.notes),
    ]


def _ending(job: Job, summary: dict[str, Any]) -> list[str]:
    lines = []
    if summary["finished"]:
        final = summary["seconds"]["final_fit"]
        lines.append(
            f"Time: {duration(job.seconds)}, of which {duration(final)} for the final "
            "fit on all rows."
        )
    else:
        lines.append(
            f"Interrupted after {duration(job.seconds)}: the leader so far is kept, "
            "but no final model is fitted. To get here again and fit it:\n"
            f"  {summary['repeat']}"
        )
    if summary["files"]:
        lines.append(f"Written: {', '.join(summary['files'])}")
    if summary["finished"] and summary["files"]:
        trusted = summary["untrusted_types"]
        model = next(name for name in summary["files"] if name.endswith(".skops"))
        extra = f", trusted={trusted!r}" if trusted else ""
        lines.append(f"Load the model: skops.io.load({model!r}{extra})")
    return lines
