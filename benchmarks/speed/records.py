"""The rows of the speed tables on disk: one per search and repetition, only added."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = ["Record", "Records"]


@dataclass(frozen=True)
class Record:
    """One measured search.

    Attributes
    ----------
    seconds, wall_seconds : float
        Processor time, and time on the clock.
    peak_mb, base_mb : float
        Largest memory of the process, and what it held before the search.
    error : float
        Of the winner on fresh rows; NaN where there is none.
    load : float
        Load average of the machine, of one minute, when the search ended.
    """

    task: str
    method: str
    repetition: int
    n_samples: int
    n_configurations: int
    seconds: float
    wall_seconds: float
    peak_mb: float
    base_mb: float
    error: float
    params: str
    note: str
    load: float
    date: str
    versions: str

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What is measured once only."""
        return self.task, self.method, self.repetition, self.n_samples


KINDS = {"str": str, "int": int, "float": float}


class Records:
    """All rows of one file; measured again, the latest counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[tuple[str, str, int, int], Record] = {}
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    values = {
                        f.name: KINDS[f.type](row[f.name]) for f in fields(Record)
                    }
                    record = Record(**values)
                    self.rows[record.key] = record

    def add(self, record: Record) -> None:
        """Keep a row, here and on disk."""
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, [f.name for f in fields(Record)])
            if is_new:
                writer.writeheader()
            writer.writerow(asdict(record))
        self.rows[record.key] = record

    def of(self, task: str, method: str) -> list[Record]:
        """Return the repetitions of a search."""
        return [
            record
            for record in self.rows.values()
            if record.task == task and record.method == method
        ]
