"""
Can I write my own strategy?
============================

Three methods decide where a race looks, what it drops and when it ends. This one halves
the field whenever the rows double. Plans, budgets, displays and reports work for it as
for the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.displays import SurvivorsDisplay
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


X, y = make_noisy_sinc(600, random_state=0)
grid = {"alpha": np.logspace(-4, 2, 13), "gamma": np.logspace(-2, 3, 11)}
model = KernelRidge(kernel="rbf")
halving = RaceGridSearchCV(model, grid, strategy=Halving(30), random_state=0).fit(X, y)
print(halving.stop_reason_, halving.best_params_)

# %%
# Beside the default, which asks a test before it drops, and lets regions come back.

default = RaceGridSearchCV(model, grid, random_state=0).fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, search, name in zip(
    axes, (halving, default), ("halving", "track and confirm"), strict=True
):
    SurvivorsDisplay.from_search(search).plot(ax)
    ax.set_title(f"{name}: gamma {search.best_params_['gamma']:.3g}", loc="left")

X_test, y_test = make_noisy_sinc(2000, random_state=1)
for name, search in {"halving": halving, "default": default}.items():
    print(f"{name}: r2 {search.score(X_test, y_test):.3f} on fresh rows")
