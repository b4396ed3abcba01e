"""``cvst datasets``: list the data sets that the library can make or fetch."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvst.datasets import DatasetInfo

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "list the data sets of the paper"

EPILOG = """\
examples:
  cvst datasets
  cvst datasets --task regression --notes
  cvst datasets --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--task", choices=("classification", "regression"))
    parser.add_argument("--notes", action="store_true", help="with origin and remarks")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(options: Namespace) -> str:
    """Return the list."""
    # Imported late: --help must not wait for scikit-learn.
    from cvst.cli.terminal import table
    from cvst.datasets import list_datasets

    infos = [info for info in list_datasets() if options.task in (None, info.task)]
    if options.json:
        return json.dumps([_values(info) for info in infos], indent=2)
    header = ["name", "task", "rows", "features", "status", "how to get it"]
    rows = [
        [
            info.name,
            info.task,
            "any" if info.n_samples is None else info.n_samples,
            info.n_features,
            info.status,
            _how(info),
        ]
        for info in infos
    ]
    text = table(header, rows, left=["name", "task", "status", "how to get it"])
    if options.notes:
        text += "\n\n" + "\n".join(_notes(infos))
    return text


def _how(info: DatasetInfo) -> str:
    if info.status == "generated":
        return f"cvst.datasets.{info.name}()"
    if info.status == "unavailable":
        return "-"
    return f"cvst.datasets.fetch_benchmark({info.name!r})"


def _notes(infos: list[DatasetInfo]) -> list[str]:
    return [
        f"{info.name}: {info.origin}." + (f" {info.note}" if info.note else "")
        for info in infos
        if info.origin or info.note
    ]


def _values(info: DatasetInfo) -> dict[str, Any]:
    names = ("name", "task", "n_samples", "n_features", "status", "origin", "note")
    return {name: getattr(info, name) for name in names} | {"how": _how(info)}
