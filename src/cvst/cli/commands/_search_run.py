"""What ``cvst search`` does: race, write the results, tell of them."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from cvst._text import seconds_text
from cvst.cli._errors import Interrupted, NotWritten, one_sentence
from cvst.cli.commands._job import Job, make_job, run_job
from cvst.cli.commands._search_document import (
    heading,
    plan_text,
    summarise,
    write_results,
)
from cvst.cli.commands._termination import termination_as_interrupt
from cvst.cli.results import check_folder, result_text
from cvst.cli.terminal import RaceView, live_page
from cvst.exceptions import CVSTError
from cvst.report.machinery import score_name

__all__ = ["run_search"]


def run_search(options: Namespace) -> str:
    """Race, write the results and return what to print."""
    if options.out is not None:
        # First of all, since after hours of racing it would be too late.
        check_folder(options.out, options.overwrite)
    with termination_as_interrupt():
        job = make_job(options)
        if options.plan:
            return plan_text(options, job)
        try:
            return _raced(options, job)
        except KeyboardInterrupt:
            if not hasattr(job.search, "best_params_"):
                raise
            raise Interrupted(_cut_short(options, job)) from None


def _raced(options: Namespace, job: Job) -> str:
    title = f"{options.model} for {job.learning.target.name}"
    with live_page(options.live, title, score_name(job.search)) as page:
        finished = run_job(job, _view(options, job))
        summary = summarise(options, job, finished)
        if page is not None:
            page.finish(job.search, command=summary["repeat"])
    lost = " ".join(
        sentence
        for sentence in (_failed(job), _write(options.out, job, summary, title))
        if sentence
    )
    if job.failure is not None and options.traceback:
        raise job.failure
    text = _text(options, summary)
    if lost:
        raise NotWritten(text, lost)
    if not finished:
        raise Interrupted(text)
    return text


def _failed(job: Job) -> str:
    """Return a sentence about what ended the race or the final fit, if anything did."""
    error = job.failure
    if error is None:
        return ""
    what = "The race ended early"
    if job.search.stop_reason_ != "failed":
        what = "The winner could not be fitted on all rows"
    said = one_sentence(error)
    if isinstance(error, CVSTError) or not str(error):
        return f"{what}: {said}"
    return f"{what}: {type(error).__name__}: {said}"


def _cut_short(options: Namespace, job: Job) -> str:
    """Return what is known of a race that was over when the interrupt came."""
    finished = hasattr(job.search, "best_estimator_")
    if options.out is not None:
        job.notes.append(
            f"The interrupt came before all was done: '{options.out}' may hold no "
            "results, or older ones. Whatever is there is complete."
        )
    return _text(options, summarise(options, job, finished))


def _text(options: Namespace, summary: dict[str, Any]) -> str:
    return json.dumps(summary, indent=2) if options.json else result_text(summary)


def _write(folder: Path | None, job: Job, summary: dict[str, Any], title: str) -> str:
    """Write the results if asked to; if that fails, return a sentence about it."""
    if folder is None:
        return ""
    try:
        write_results(folder, job, summary, title)
    except OSError as error:
        # Hours of racing must not be lost to a full disk: the winner is still told.
        summary["files"] = []
        why = error.strerror or str(error)
        return (
            f"The results could not be written to '{folder}': {why}. What was there "
            "before is unchanged."
        )
    return ""


def _view(options: Namespace, job: Job) -> RaceView | None:
    if options.json or options.quiet:
        return None
    measuring = ""
    if options.time_budget is not None and not job.proposes:
        budget = seconds_text(options.time_budget)
        measuring = f"Small fits are timed, to choose a race that fits into {budget}"
    return RaceView(
        heading(options, job),
        job.prepared.prefix,
        # Those that are proposed are not known before the race begins.
        0 if job.proposes else job.n_configurations or 0,
        measuring=measuring,
    )
