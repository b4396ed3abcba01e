"""The tables of ``large.md``."""

from __future__ import annotations

from math import log
from typing import Any


def tables(records: list[dict[str, Any]]) -> str:
    """Return the results as tables: races first, then the race's own work."""
    races = [one for one in records if not one["case"].startswith("trivial")]
    ladders = [one for one in records if one["case"].startswith("trivial")]
    return "\n\n".join([_races(races), _ladders(ladders)])


def plain_table(fits: list[dict[str, Any]], races: list[dict[str, Any]]) -> str:
    """Return the peaks of fits alone, beside those of the races that end with them."""
    raced = {one["case"]: one for one in races}
    lines = _head("final fit alone", "rows", "peak", "data", "with the race")
    for one in sorted(fits, key=lambda one: str(one["case"])):
        race = raced[one["case"]]
        lines.append(
            f"| {one['case'].split()[0]} | {one['rows']:,} | {one['peak_mb']:,} MB | "
            f"{one['peak_mb'] / one['data_mb']:.2f} times | "
            f"{race['peak_mb'] / race['data_mb']:.2f} times |"
        )
    return "\n".join(lines)


def own(one: dict[str, Any]) -> float:
    """Return the CPU seconds outside fits and predictions."""
    return float(one["cpu_seconds"] - one["model_cpu_seconds"])


def _races(records: list[dict[str, Any]]) -> str:
    lines = _head(
        "case", "rows", "configurations", "CPU s", "race's own", "peak", "data"
    )
    for one in records:
        # Where work is shared there is no telling fits from the race.
        known = one["model_cpu_seconds"] > 0
        share = f"{own(one) / one['cpu_seconds']:.1%}" if known else "not split"
        large = one["data_mb"] >= 100
        ratio = f"{one['peak_mb'] / one['data_mb']:.2f} times" if large else "small"
        lines.append(
            f"| {one['case'].split()[0]} | {one['rows']:,} | "
            f"{one['configurations']:,} | {one['cpu_seconds']:.1f} | {share} | "
            f"{one['peak_mb']:,} MB | {ratio} |"
        )
    return "\n".join(lines)


def _ladders(records: list[dict[str, Any]]) -> str:
    """Return the CPU time of the race itself, with slopes on log-log axes."""
    lines = _head("rows", "configurations", "own CPU s", "slope", "peak")
    last: dict[str, Any] | None = None
    for one in sorted(records, key=_place):
        lines.append(_rung(one, last))
        last = one
    return "\n".join(lines)


def _rung(one: dict[str, Any], last: dict[str, Any] | None) -> str:
    slope = ""
    for name in ("rows", "configurations"):
        other = "configurations" if name == "rows" else "rows"
        if last is not None and one[other] == last[other] and one[name] > last[name]:
            slope = f"{log(own(one) / own(last)) / log(one[name] / last[name]):.2f}"
    return (
        f"| {one['rows']:,} | {one['configurations']:,} | {own(one):.2f} | {slope} | "
        f"{one['peak_mb']:,} MB |"
    )


def _head(*names: str) -> list[str]:
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def _place(one: dict[str, Any]) -> tuple[bool, int, int]:
    """Return where a rung stands: rows grow first, then configurations."""
    return one["configurations"] != 200, one["rows"], one["configurations"]
