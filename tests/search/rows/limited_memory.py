"""Race on a Parquet data set in a process with little memory; run by a test.

``python limited_memory.py FOLDER --extra BYTES`` allows BYTES beyond what the
process has after a small race, and shows that all rows do not fit. Without a
limit all rows are loaded, and raced in memory. Prints the results as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.datasets import open_dataset
from cvst.race import TrackAndConfirm

MOST_ROWS = 3_000
LACKS_MEMORY = 3
GRID = {"max_depth": [1, 2, 3, 4, 6, 8], "min_samples_leaf": [1, 5, 20, 50, 100]}


def data_bytes() -> int:
    """Return the private memory of this process that counts for the limit."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmData")]
    return 1024 * int(line.split()[1])


def raced(X, y) -> RaceGridSearchCV:
    """Race on three thousand rows."""
    search = RaceGridSearchCV(
        DecisionTreeClassifier(max_features=10),
        GRID,
        strategy=TrackAndConfirm(max_rows=MOST_ROWS),
        random_state=0,
        refit=False,
    )
    return search.fit(X, y)


def fits(folder: str) -> bool:
    """Return whether all rows can be read, tried by a process that may die of it."""
    pid = os.fork()
    if pid == 0:
        try:
            pd.read_parquet(folder, use_threads=False)
        except MemoryError:  # pyarrow's own derives from it
            os._exit(LACKS_MEMORY)
        except OSError as error:
            # Its reader of Parquet tells of lacking memory as of a broken file.
            os._exit(LACKS_MEMORY if "bad_alloc" in str(error) else 1)
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # Code that cannot tell of it ends the process.
    if code not in (0, LACKS_MEMORY, -signal.SIGABRT):
        raise RuntimeError(f"reading all rows ended with {code}")
    return code == 0


def main() -> None:
    """Race, with a limit or without."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--extra", type=int, default=0)
    options = parser.parse_args()
    answer = {}
    if options.extra:
        # Each thread that begins later would take a stack and an arena of its own.
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        # Libraries and their threads are there before the limit is set.
        X, y = open_dataset(options.folder, "y")
        raced(X[np.arange(0, len(X), 1000)], y[::1000])
        np.ones((500, 20_000)) @ np.ones(20_000)
        free = resource.getrlimit(resource.RLIMIT_DATA)
        limit = data_bytes() + options.extra
        resource.setrlimit(resource.RLIMIT_DATA, (limit, free[1]))
        X, y = open_dataset(options.folder, "y", max_rows=MOST_ROWS)
    else:
        table = pd.read_parquet(options.folder)
        answer["bytes"] = int(table.memory_usage(index=False).sum())
        X, y = table.drop(columns="y"), table["y"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = raced(X, y)
    if options.extra:
        # After the race: pyarrow keeps some of what it got.
        answer["all rows"] = "fit" if fits(options.folder) else "do not fit"
        resource.setrlimit(resource.RLIMIT_DATA, free)
    answer["best_params"] = search.best_params_
    answer["results"] = {
        name: np.asarray(values).tolist()
        for name, values in search.cv_results_.items()
        if "time" not in name and not name.startswith(("param", "drop_reason"))
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
