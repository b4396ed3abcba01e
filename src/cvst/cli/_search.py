"""``cvst search``: race the configurations of a model on a table."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from cvst import __version__
from cvst.cli._errors import Interrupted
from cvst.cli._forecast import Forecast
from cvst.cli._job import Job, make_job, planned_sizes, run_job
from cvst.cli._live import RaceView
from cvst.cli._models import MODELS
from cvst.cli._output import (
    check_folder,
    json_bytes,
    model_bytes,
    results_csv,
    write_folder,
)
from cvst.cli._summary import (
    plain,
    race_steps,
    score_name,
    steps_table,
    stop_sentence,
)
from cvst.cli._tables import FORMATS
from cvst.cli._text import duration, shown_parameters

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "find the best configuration of a model for a table"

_NAMES = "\n".join(f"  {model.name:<11} {model.about}" for model in MODELS.values())

EPILOG = f"""\
models:
{_NAMES}
  or an import path such as package.module:Class, together with --grid

grids, in the text or in a YAML, JSON or TOML file:
  alpha=logspace(-5, 5, 11)     11 values from 10^-5 to 10^5
  gamma=geomspace(0.01, 10, 4)  0.01, 0.1, 1, 10
  nu=linspace(0.1, 0.9, 9)      0.1, 0.2, ..., 0.9
  max_depth=range(2, 10, 2)     2, 4, 6, 8
  kernel=[rbf, linear]          these two
  C=loguniform(0.1, 100)        drawn at random, like uniform(low, high) and
                                randint(low, high); --n-iter says how often

examples:
  cvst search houses.csv --target price --model boosting
  cvst search iris.parquet -t species -m svm --jobs 2 --out results
  cvst search wine.csv -t quality -m krr -g 'alpha=logspace(-3, 3, 7) gamma=[0.1, 1]'
  cvst search visits.csv.gz -t ill -m forest --groups patient --scoring neg_log_loss
  cvst search load.feather -t power -m ridge --time-order hour --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    endings = ", ".join(FORMATS)
    parser.add_argument("data", metavar="DATA", help=f"a table: {endings}; or gzipped")
    parser.add_argument(
        "-t", "--target", required=True, metavar="COL", help="column to predict"
    )
    parser.add_argument(
        "-m", "--model", required=True, metavar="MODEL", help="one of those below"
    )
    parser.add_argument(
        "-g", "--grid", metavar="GRID", help="what to try: text or a file (see below)"
    )
    parser.add_argument(
        "--n-iter", type=int, metavar="N", help="draw N configurations of the grid"
    )
    _add_data_arguments(parser)
    _add_race_arguments(parser)
    _add_output_arguments(parser)


def _add_data_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the data")
    group.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="recognised from the target unless given",
    )
    group.add_argument(
        "--groups", metavar="COL", help="rows with the same value here stay together"
    )
    group.add_argument(
        "--time-order",
        nargs="?",
        const=True,
        default=False,
        metavar="COL",
        help="rows are in order of time, or shall be sorted by this column",
    )
    group.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COL",
        help="column to leave out; may be repeated",
    )
    group.add_argument(
        "--raw",
        action="store_true",
        help="give the columns to the model as they are: no filling of gaps, no "
        "scaling, no encoding",
    )


def _add_race_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the race")
    group.add_argument(
        "-s",
        "--scoring",
        metavar="SCORE",
        help="a score of scikit-learn's (default: accuracy or r2)",
    )
    group.add_argument(
        "--strategy", default="cvst", metavar="NAME", help="who decides (default: cvst)"
    )
    group.add_argument("--steps", type=int, metavar="S", help="steps of a full race")
    group.add_argument(
        "--window", type=int, metavar="W", help="steps compared by early stopping"
    )
    group.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="workers; -1 for all cores"
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of all that is random (0)"
    )


def _add_output_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the results")
    group.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for winner.json, model.skops, cv_results.csv, summary.json and "
        "command.txt",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace results in that folder"
    )
    group.add_argument("--json", action="store_true", help="print JSON for machines")
    group.add_argument(
        "--quiet", action="store_true", help="show nothing while the race runs"
    )


def run(options: Namespace) -> str:
    """Race, write the results and return what to print."""
    if options.out is not None:
        check_folder(options.out, options.overwrite)
    job = make_job(options)
    finished = run_job(job, _view(options, job))
    summary = _summary(options, job, finished)
    if options.out is not None:
        _write(options.out, job, summary)
    text = (
        json.dumps(plain(summary), indent=2)
        if options.json
        else _text(options, job, summary)
    )
    if not finished:
        raise Interrupted(text)
    return text


def _view(options: Namespace, job: Job) -> RaceView | None:
    if options.json or options.quiet:
        return None
    forecast = Forecast(planned_sizes(job), len(job.learning.X))
    prefix, count = job.prepared.prefix, job.n_configurations
    return RaceView(heading(options, job), prefix, forecast, count)


def command_line(options: Namespace) -> str:
    """Return the command to repeat the search, as a shell takes it."""
    return shlex.join(["cvst", *options.arguments])


def _summary(options: Namespace, job: Job, finished: bool) -> dict[str, Any]:
    search, learning, prefix = job.search, job.learning, job.prepared.prefix
    short = {
        name.removeprefix(prefix): value for name, value in search.best_params_.items()
    }
    return {
        "cvst_version": __version__,
        "python_version": sys.version.split()[0],
        "command": command_line(options),
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


def _write(folder: Path, job: Job, summary: dict[str, Any]) -> None:
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
        "command.txt": f"{summary['command']}\n".encode(),
    }
    if summary["finished"]:
        content, unknown = model_bytes(job.search.best_estimator_)
        contents["model.skops"] = content
        summary["untrusted_types"] = unknown
    summary["files"] = [str(folder / name) for name in [*contents, "summary.json"]]
    contents["summary.json"] = json_bytes(summary)
    write_folder(folder, contents)


def _text(options: Namespace, job: Job, summary: dict[str, Any]) -> str:
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
    n_train, n_rows = search.best_score_n_train_, len(job.learning.X)
    return (
        f"Score: {score} {search.best_score_:.4f} at the last look, trained on "
        f"{n_train:,} of {n_rows:,} rows."
    )


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
            "but no final model is fitted. To fit it, pass its parameters as --grid."
        )
    if summary["files"]:
        lines.append(f"Written: {', '.join(summary['files'])}")
    if summary["finished"] and summary["files"]:
        trusted = summary["untrusted_types"]
        model = next(name for name in summary["files"] if name.endswith(".skops"))
        extra = f", trusted={trusted!r}" if trusted else ""
        lines.append(f"Load the model: skops.io.load({model!r}{extra})")
    return lines
