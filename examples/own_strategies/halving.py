"""A strategy of one's own: halve the field whenever the rows double.

>>> from cvst import RaceGridSearchCV
>>> from cvst.datasets import make_noisy_sinc
>>> from sklearn.kernel_ridge import KernelRidge
>>> X, y = make_noisy_sinc(400, random_state=0)
>>> grid = {"gamma": [0.01, 0.1, 1, 10, 100, 1000], "alpha": [0.01, 0.1, 1]}
>>> search = RaceGridSearchCV(
...     KernelRidge(kernel="rbf"), grid, strategy=Halving(), random_state=0)
>>> search.fit(X, y).stop_reason_
'one is left'
"""

from __future__ import annotations

import numpy as np

from cvst.race import Look, LookLosses, RaceState, Strategy, Verdict


class Halving(Strategy):
    """Keep the better half on rows that double, until one configuration is left."""

    def __init__(self, first_rows: int = 15) -> None:
        self.first_rows = first_rows

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when one is left, or when more than half of the rows were used."""
        if state.active.sum() == 1:
            return "one is left"
        used = state.subset_sizes.max(initial=0)
        return "the rows are used up" if 2 * used > state.problem.n_samples else None

    def next_look(self, state: RaceState) -> Look:
        """Train on twice the rows, test on all others."""
        n_train = self.first_rows * 2**state.n_looks
        rows = state.problem.prefix(n_train)
        return Look(*rows, n_train, np.flatnonzero(state.active), stage="halving")

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Drop the worse half."""
        order = np.argsort(seen.mean_losses)
        top = np.zeros(len(order), dtype=bool)
        top[order[: (len(order) + 1) // 2]] = True
        drops = dict.fromkeys(look.configurations[~top].tolist(), "worse half")
        return Verdict(top, np.full(len(order), np.nan), drops)
