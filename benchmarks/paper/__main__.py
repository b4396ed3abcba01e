"""Reproduce the tables and figures of the paper.

    python benchmarks/paper list
    python benchmarks/paper table1 --profile laptop --jobs 2
    python benchmarks/paper noisy-sinc more-data --only learner=SVR --seconds 3600
    python benchmarks/paper all --profile smoke --output results
    python benchmarks/paper page

Each search adds a line to ``runs.csv`` in the output folder at once, and what is there
is not run again: an interrupted run goes on where it stopped. Real data sets are read
from the folder that CVST_DATA_HOME names.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
if __name__ == "__main__":
    # One thread per process; this must be known before NumPy is loaded.
    os.environ.update(dict.fromkeys(THREADS, "1"))

from folds import FoldTask, by_fold, run_folds  # noqa: E402 - see above
from items import ITEMS, Fit, fits  # noqa: E402 - see above
from methods import METHODS  # noqa: E402 - see above
from profiles import PROFILES, Profile  # noqa: E402 - see above
from runner import Place, plan, run  # noqa: E402 - see above
from store import Store  # noqa: E402 - see above

OUTPUT = Path(__file__).parents[1] / "results" / "paper"
FILTERS = ("data", "learner", "method", "d", "noise", "n_train")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python benchmarks/paper",
        description="Reproduce the tables and figures of the paper.",
    )
    result.add_argument(
        "items",
        nargs="+",
        metavar="ITEM",
        choices=["list", "all", "page", *ITEMS],
        help="a table or figure; list says which; page renders what is known",
    )
    result.add_argument("--profile", choices=PROFILES, default="laptop")
    result.add_argument("--jobs", type=count, default=2, help="processes (default 2)")
    result.add_argument("--repetitions", type=count, help="other than the profile's")
    result.add_argument(
        "--only",
        type=filters,
        default={},
        metavar="NAME=VALUE,...",
        help=f"only some: {', '.join(FILTERS)}; a name may come several times",
    )
    result.add_argument("--seconds", type=float, help="begin no search later than this")
    result.add_argument(
        "--machine",
        default="",
        help="name of this machine: seconds are compared within one only",
    )
    result.add_argument(
        "--device",
        default="",
        help="a card, such as cuda; runs only KRR and KLR, and only our own searches",
    )
    result.add_argument(
        "--by-fold",
        action="store_true",
        help="cut full cross-validation into its folds, for the longest searches",
    )
    result.add_argument("--output", type=Path, default=OUTPUT, help="folder of results")
    return result


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 on.")
    return int(text)


def filters(text: str) -> dict[str, set[str]]:
    """Read ``data=blocks,data=bumps,learner=KRR``."""
    found: dict[str, set[str]] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if name not in FILTERS or not sign:
            raise argparse.ArgumentTypeError(
                f"{part!r} must be NAME=VALUE with a name out of {', '.join(FILTERS)}."
            )
        if name == "method" and value not in METHODS:
            raise argparse.ArgumentTypeError(
                f"{value!r} must be one of {', '.join(METHODS)}."
            )
        found.setdefault(name, set()).add(value)
    return found


def wanted(fit: Fit, only: dict[str, set[str]]) -> Fit | None:
    """Return what the filters leave of a problem, None if nothing."""
    for name in FILTERS:
        if name == "method" or name not in only:
            continue
        if str(getattr(fit.problem, name)) not in only[name]:
            return None
    methods = only.get("method")
    left = tuple(m for m in fit.methods if methods is None or m in methods)
    return replace(fit, methods=left) if left else None


def chosen_profile(options: argparse.Namespace) -> Profile:
    profile = PROFILES[options.profile]
    if options.repetitions is None:
        return profile
    k = options.repetitions
    return replace(
        profile,
        repetitions=k,
        small_repetitions=k,
        toy_repetitions=k,
        more_repetitions=(k,) * len(profile.more_rows),
    )


def list_items(profile: Profile) -> None:
    """Print each item with the searches that it needs."""
    for name, item in ITEMS.items():
        needed = fits([name], profile)
        searches = sum(len(fit.methods) * fit.repetitions for fit in needed)
        needs = (
            f"{searches} searches on {len(needed)} problems" if needed else "no search"
        )
        print(f"{name:<20} {item.title} ({needs})")


def show(names: list[str], output: Path, profile: Profile, jobs: int) -> None:
    """Run the small experiments of items and draw their figures."""
    # Imported only where needed: searches do without matplotlib.
    for name in names:
        if ITEMS[name].has_curves:
            import curves

            curves.run(name, output, profile, jobs)
        if ITEMS[name].has_figure:
            import figures

            figures.draw(name, output, profile)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    options = parser().parse_args(arguments)
    profile = chosen_profile(options)
    if "list" in options.items:
        list_items(profile)
        return 0
    names = list(ITEMS) if "all" in options.items else options.items
    names = [name for name in dict.fromkeys(names) if name != "page"]
    options.output.mkdir(parents=True, exist_ok=True)
    store = Store(options.output / "runs.csv")
    needed = [wanted(fit, options.only) for fit in fits(names, profile)]
    place = Place(options.machine, options.device)
    tasks = plan([fit for fit in needed if fit], profile, store.runs(), place)
    try:
        cut: list[FoldTask] = []
        if options.by_fold:
            tasks, cut = by_fold(tasks)
        failures = run(tasks, store, options.jobs, options.seconds)
        failures += run_folds(cut, store.path, options.jobs, options.seconds)
    except KeyboardInterrupt:
        print("Stopped. What is finished is kept; run again to go on.", file=sys.stderr)
        return 130
    for failure in dict.fromkeys(failures):
        print(failure, file=sys.stderr)
    show(names, options.output, profile, options.jobs)
    if "page" in options.items or "all" in options.items:
        import pages

        pages.render(options.output, profile)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
