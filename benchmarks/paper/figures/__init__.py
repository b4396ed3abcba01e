"""The figures of the paper, drawn from what is stored; nothing is fitted here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from profiles import Profile

from figures.benchmarks import benchmark, competitors, outliers_benchmark
from figures.races import example_run, trace_matrix, width_curves
from figures.survivors import remaining, remaining_outliers
from figures.theory import error_bound, false_negatives, speed_simulation
from figures.toys import example_data, more_data, noisy_sinc, noisy_sine, outliers_toy

__all__ = ["FIGURES", "draw", "folder_of_pages"]

Drawer = Callable[[Path, Profile, Path], Iterator[Path]]

REPOSITORY = Path(__file__).parents[3]
USUAL_OUTPUT = REPOSITORY / "benchmarks" / "results" / "paper"
PAGES = REPOSITORY / "docs" / "paper"

FIGURES: dict[str, tuple[Drawer, ...]] = {
    "width-curves": (width_curves,),
    "trace-matrix": (trace_matrix,),
    "example-data": (example_data,),
    "noisy-sine": (noisy_sine,),
    "noisy-sinc": (noisy_sinc,),
    "remaining": (remaining,),
    "more-data": (more_data,),
    "benchmark": (benchmark,),
    "competitors": (competitors,),
    "outliers-toy": (outliers_toy, partial(remaining_outliers, toy=True)),
    "outliers-benchmark": (outliers_benchmark, partial(remaining_outliers, toy=False)),
    "false-negatives": (false_negatives,),
    "error-bound": (error_bound,),
    "speed-simulation": (speed_simulation,),
    "example-run": (example_run,),
}


def folder_of_pages(output_dir: Path, profile: Profile) -> Path:
    """Return where pages go: into the documentation, or beside a trial's results."""
    is_usual = Path(output_dir).resolve() == USUAL_OUTPUT.resolve()
    if is_usual and profile.name != "smoke":
        return PAGES
    return Path(output_dir) / f"pages-{profile.name}"


def draw(item: str, output_dir: Path, profile: Profile) -> list[Path]:
    """Draw the figures of an item; none if what they show was not run.

    Raises
    ------
    KeyError
        If the item has no figure.
    """
    folder = folder_of_pages(output_dir, profile) / "figures"
    return [
        path
        for drawer in FIGURES[item]
        for path in drawer(Path(output_dir), profile, folder)
    ]
