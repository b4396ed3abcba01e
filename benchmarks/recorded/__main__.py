"""Record a few hundred races, and compare two recordings.

    python benchmarks/recorded record before.json.gz
    python benchmarks/recorded record after.json.gz --only 'svm|pipeline'
    python benchmarks/recorded compare before.json.gz after.json.gz

How to use it
-------------
A change of structure must not change results. Record all races before it and after it,
on the same machine with the same versions of the libraries, and compare: whatever the
searches found, saw on the way, warned of or refused has to be the same, floats bit for
bit (``--tolerance 1e-12`` forgives the last digits, relative to the larger number and
at least to 1). Where the change renames something, say so in ``reading.py``: that is
the only file that knows names of fields, and its tables translate the older recording.
``--quiet-texts`` leaves out the wording of warnings and errors, which may change, but
not their kinds and number; ``--ignore warning_places`` lets them point elsewhere.

The races are defined in ``races.py`` and the files named there: all evaluators, all
strategies, all scores, odd input and input that is refused. All seeds are fixed, there
are no time budgets, and everything runs in one thread but for the races that have two
workers. A recording takes a minute and a half of one core.

``record`` tells the slowest races. ``compare`` prints for every race that differs in
which fields, with the old and the new value, and ends with status 1 if any does. Races
that only one recording has are told; they count as a difference unless ``--common``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
if __name__ == "__main__":
    # One thread per process; this must be known before NumPy is loaded.
    os.environ.update(dict.fromkeys(THREADS, "1"))

from comparing import differences  # noqa: E402 - see above
from races import RACES  # noqa: E402 - see above
from recording import record_one  # noqa: E402 - see above

N_SLOWEST = 10


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python benchmarks/recorded",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="run all races and store the outcome")
    record.add_argument("output", type=Path)
    record.add_argument("--only", default="", metavar="REGEX", help="races by name")
    compare = commands.add_parser("compare", help="tell what differs")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    compare.add_argument("--tolerance", type=float, default=0.0)
    compare.add_argument("--quiet-texts", action="store_true")
    compare.add_argument("--ignore", default="", metavar="REGEX", help="fields by path")
    compare.add_argument("--common", action="store_true")
    commands.add_parser("list", help="print the names of all races")
    return result


def record_races(output: Path, only: str) -> int:
    names = [name for name in RACES if re.search(only, name)]
    if not names:
        print(f"--only {only!r} matches none of {len(RACES)} races; try 'list'.")
        return 2
    recorded, seconds = {}, {}
    for name in names:
        start = time.process_time()
        recorded[name] = record_one(RACES[name])
        seconds[name] = time.process_time() - start
    # Neither a name nor a date in the header: the same races give the same file.
    text = json.dumps(recorded, indent=0, separators=(",", ":"))
    output.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    size = output.stat().st_size / 1e6
    total = sum(seconds.values())
    print(f"{len(names)} races in {total:.0f} s of processor time, {size:.2f} MB")
    for name in sorted(seconds, key=lambda name: -seconds[name])[:N_SLOWEST]:
        print(f"{seconds[name]:8.1f} s  {name}")
    return 0


def compare_recordings(arguments: argparse.Namespace) -> int:
    old, new = _load(arguments.old), _load(arguments.new)
    n_different = 0
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            where = arguments.new if name in new else arguments.old
            print(f"{name}\n    only in {where}")
            n_different += not arguments.common
            continue
        found = differences(
            old[name],
            new[name],
            arguments.tolerance,
            arguments.quiet_texts,
            arguments.ignore,
        )
        if found:
            n_different += 1
            print(name, *(f"    {line}" for line in found), sep="\n")
    n_races = len({*old, *new})
    print(f"{n_different} of {n_races} races differ")
    return 1 if n_different else 0


def _load(path: Path) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return recorded


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    if arguments.command == "list":
        print(*RACES, sep="\n")
        return 0
    if arguments.command == "record":
        return record_races(arguments.output, arguments.only)
    return compare_recordings(arguments)


if __name__ == "__main__":
    sys.exit(main())
