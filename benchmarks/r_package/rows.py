"""Write the rows of a speed task for R: ``python rows.py FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))

from tasks import N_TEST, TASKS


def write(path: str) -> None:
    """Write training rows, then fresh ones; the target is the last column."""
    task = TASKS["krr"]
    X, y = task.draw(task.n_samples + N_TEST, 0)
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.17g")


if __name__ == "__main__":
    write(sys.argv[1])
