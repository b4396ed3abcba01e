"""What ``cvst search`` does: race, write the results, tell of them."""

from __future__ import annotations

import json
from argparse import Namespace

from cvst.cli._errors import Interrupted
from cvst.cli.commands._job import Job, make_job, run_job
from cvst.cli.commands._search_document import (
    heading,
    plan_text,
    summarise,
    write_results,
)
from cvst.cli.results import check_folder, result_text
from cvst.cli.terminal import RaceView, live_page

__all__ = ["run_search"]


def run_search(options: Namespace) -> str:
    """Race, write the results and return what to print."""
    if options.out is not None:
        check_folder(options.out, options.overwrite)
    job = make_job(options)
    if options.plan:
        return plan_text(options, job)
    title = f"{options.model} for {job.learning.target.name}"
    with live_page(options.live, title) as page:
        finished = run_job(job, _view(options, job))
        summary = summarise(options, job, finished)
        if page is not None:
            page.finish(job.search, command=summary["repeat"])
    if options.out is not None:
        write_results(options.out, job, summary, title)
    text = json.dumps(summary, indent=2) if options.json else result_text(summary)
    if not finished:
        raise Interrupted(text)
    return text


def _view(options: Namespace, job: Job) -> RaceView | None:
    if options.json or options.quiet:
        return None
    return RaceView(heading(options, job), job.prepared.prefix, job.n_configurations)
