"""Time and memory of the prefix tests, beside a fresh test of every prefix.

All configurations are alike, so that no prefix is significant and the whole table is
walked: the worst case of a step of the race. Run with one thread:

    OPENBLAS_NUM_THREADS=1 python benchmarks/statistics/prefix_tests.py

The repeated test is timed on a few evenly spread prefixes and their mean is multiplied
by the number of prefixes; ``--full`` runs all of them instead (minutes).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import chi2_contingency, friedmanchisquare, kruskal

from cvst.statistics import (
    Significance,
    cochran_q_prefixes,
    cochran_q_test,
    friedman_prefixes,
    kruskal_wallis_prefixes,
    wilson_prefixes,
)

Prefixes = Callable[[np.ndarray], Iterator[Significance]]
Test = Callable[[np.ndarray], float]


def wilson_p_value(outcomes: np.ndarray) -> float:
    wins = outcomes.sum(axis=1)
    return chi2_contingency(np.c_[wins, outcomes.shape[1] - wins]).pvalue


CASES: list[tuple[str, str, Prefixes, Test, str]] = [
    (
        "Friedman",
        "losses",
        friedman_prefixes,
        lambda table: friedmanchisquare(*table).pvalue,
        "scipy friedmanchisquare",
    ),
    (
        "Kruskal-Wallis",
        "losses",
        kruskal_wallis_prefixes,
        lambda table: kruskal(*table).pvalue,
        "scipy kruskal",
    ),
    (
        "Cochran's Q",
        "outcomes",
        cochran_q_prefixes,
        lambda table: cochran_q_test(table).p_value,
        "cochran_q_test",
    ),
    ("Wilson", "outcomes", wilson_prefixes, wilson_p_value, "scipy chi2_contingency"),
]


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def walk(prefixes: Prefixes, table: np.ndarray) -> list[float]:
    return [prefix.p_value for prefix in prefixes(table)]


def peak_memory(prefixes: Prefixes, table: np.ndarray) -> int:
    """Return the bytes held at most beside the table itself."""
    tracemalloc.start()
    for _ in prefixes(table):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def repeated(test: Test, table: np.ndarray, sizes: list[int]) -> tuple[float, list]:
    """Return the seconds for all prefixes, from those in `sizes`, and the p-values."""
    p_values: list[float] = []
    total = seconds(lambda: p_values.extend(test(table[:k]) for k in sizes))
    return total * (len(table) - 2) / len(sizes), p_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configurations", type=int, default=610)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3, help="best of so many walks")
    parser.add_argument("--full", action="store_true", help="time every fresh test")
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    shape = options.configurations, options.points
    tables = {"losses": rng.standard_normal(shape) ** 2}
    tables["outcomes"] = tables["losses"] > 1
    n_sampled = options.configurations - 2 if options.full else 9
    # SciPy's Friedman test wants three configurations, so prefixes start there.
    sizes = np.linspace(3, options.configurations, n_sampled).round().astype(int)

    print(f"{shape[0]} configurations x {shape[1]} points, nothing significant")
    print(f"{'test':16}{'one pass':>10}{'bytes/entry':>13}{'fresh tests':>13}  witness")
    for name, kind, prefixes, test, witness in CASES:
        table = tables[kind]
        one_pass = min(
            seconds(lambda p=prefixes, t=table: walk(p, t))
            for _ in range(options.repeats)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh, expected = repeated(test, table, sizes.tolist())
        actual = np.array(walk(prefixes, table))[sizes - 2]
        np.testing.assert_allclose(actual, expected, rtol=1e-6)
        memory = peak_memory(prefixes, table) / table.size
        print(
            f"{name:16}{one_pass:>8.3f} s{memory:>13.1f}{fresh:>11.1f} s  "
            f"{witness}{'' if options.full else ', from 9 prefixes'}"
        )


if __name__ == "__main__":
    main()
