"""The tables of ``large.md``."""

from __future__ import annotations

from typing import Any


def tables(records: list[dict[str, Any]]) -> str:
    """Return the results as tables."""
    heads = "case", "rows", "configurations", "seconds", "final fit", "race's own CPU"
    heads += "peak", "of the data"
    parts = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in records:
        own = one["cpu_seconds"] - one["model_cpu_seconds"]
        share = own / one["cpu_seconds"]
        parts.append(
            f"| {one['case'].split()[0]} | {one['rows']:,} | "
            f"{one['configurations']:,} | {one['seconds']:.1f} | "
            f"{one['refit_seconds']:.1f} | {own:.2f} s, {share:.1%} | "
            f"{one['peak_mb']:,} MB | {one['peak_mb'] / one['data_mb']:.2f} |"
        )
    return "\n".join(parts)
