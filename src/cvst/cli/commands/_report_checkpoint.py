"""What ``cvst report`` does with a checkpoint: tell how far the race is."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from cvst import load_checkpoint
from cvst._text import counted, seconds_text
from cvst.cli._extras import MissingExtraError
from cvst.cli.results import plain, write_file
from cvst.cli.terminal import shown_parameters
from cvst.exceptions import CheckpointError, CVSTError, InvalidInputError
from cvst.report import page_html
from cvst.search import Checkpoint

__all__ = ["report_checkpoint"]

# The heading of a page tells whose it is.
MARK, HEAD_BYTES = b"a race of cvst</title>", 5000


def report_checkpoint(options: Namespace) -> str:
    """Write the page of a race that may still run, and return how far it is."""
    path: Path = options.folder
    target: Path = options.html or path.with_name(path.name + ".html")
    asked = options.html is not None
    # Those who follow a race call this again and again: its own page is replaced.
    if target.exists() and not options.overwrite and (asked or not _is_ours(target)):
        raise InvalidInputError(
            f"{'--html ' if asked else ''}'{target}' exists already. Choose another "
            "name with --html, or allow it with --overwrite."
        )
    checkpoint = load_checkpoint(path)
    try:
        document, content = _told(checkpoint, target)
        text = json.dumps(document, indent=2) if options.json else _text(document)
    except CVSTError:
        raise
    except ImportError as error:
        raise MissingExtraError(str(error)) from error
    except Exception as error:
        # Whoever can write a file can write checksums too, and anything shows here.
        raise CheckpointError(
            f"'{path}' is damaged: it cannot be read "
            f"({type(error).__name__}: {error}). Name another file."
        ) from error
    if content is not None:
        write_file(target, content)
    return text


def _told(checkpoint: Checkpoint, target: Path) -> tuple[dict[str, Any], bytes | None]:
    """Return what there is to tell, and the page if there is one."""
    document = _document(checkpoint)
    if not checkpoint.n_looks_:
        return document, None
    page = checkpoint.summary()
    document |= {"stop_sentence": page["stop_sentence"], "files": [str(target)]}
    title = f"{checkpoint.path.name}: a race of cvst"
    # A path may hold bytes that are not text, which Python keeps as surrogates.
    return document, page_html(page, title=title).encode(errors="backslashreplace")


def _is_ours(path: Path) -> bool:
    """Return whether a file is an earlier page of a race, which may be replaced."""
    with path.open("rb") as file:
        return MARK in file.read(HEAD_BYTES)


def _document(checkpoint: Checkpoint) -> dict[str, Any]:
    state, (n_done, n_total) = checkpoint.race_, checkpoint.n_under_way
    document = {
        "checkpoint": str(checkpoint.path),
        "search": checkpoint.settings,
        "n_configurations": state.n_configurations,
        "n_samples": state.problem.n_samples,
        "n_looks": state.n_looks,
        "n_active": state.n_left,
        "n_waiting": state.n_waiting,
        "stop_reason": checkpoint.stop_reason_,
        "stop_sentence": "No look is finished yet.",
        "under_way": {"done": n_done, "total": n_total} if n_total else None,
        "seconds": checkpoint.seconds,
        "leader": None,
        "score": None,
        "files": [],
    }
    if state.n_looks:
        document["leader"] = checkpoint.best_params_
        document["score"] = checkpoint.best_score_
    values: dict[str, Any] = plain(document)
    return values


def _text(document: dict[str, Any]) -> str:
    search, under_way = document["search"], document["under_way"]
    configurations = counted(document["n_configurations"], "configuration")
    rows = counted(document["n_samples"], "row")
    lines = [
        f"{search['kind']} of {search['estimator']}: {configurations} on {rows}.",
        document["stop_sentence"],
    ]
    if under_way and document["stop_reason"] is None:
        lines.append(
            f"Look {document['n_looks'] + 1} is under way: {under_way['done']:,} of "
            f"{counted(under_way['total'], 'configuration')} are done."
        )
    if document["leader"] is not None:
        who = "Leader so far" if document["stop_reason"] is None else "Winner"
        score = document["score"]
        # JSON has no NaN; ``plain`` writes None.
        shown = "unknown" if score is None else f"{score:.4f}"
        left, n_waiting = f"{document['n_active']:,}", document["n_waiting"]
        waiting = f", {n_waiting:,} not looked at yet" if n_waiting else ""
        lines += [
            f"{who}: {shown_parameters(document['leader'])}",
            f"Score: {shown}; {left} of {configurations} are left{waiting}.",
        ]
    lines.append(f"Time: {seconds_text(document['seconds'])} up to the last record.")
    lines += [f"Files: {name}" for name in document["files"]]
    return "\n".join(lines)
