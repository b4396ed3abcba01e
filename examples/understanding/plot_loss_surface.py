"""
Is my grid wide enough?
=======================

The winner should lie inside the grid, not at its edge. Here the first grid is too
narrow, and the picture shows it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.displays import LossSurfaceDisplay

X, y = make_noisy_sinc(600, random_state=0)
model = KernelRidge(kernel="rbf")
narrow = {"alpha": np.logspace(-2, 2, 12), "gamma": np.logspace(-3, 0, 12)}
wide = {"alpha": np.logspace(-6, 2, 12), "gamma": np.logspace(-2, 3, 12)}

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, grid, title in zip(axes, (narrow, wide), ("too narrow", "wider"), strict=True):
    search = RaceGridSearchCV(
        model, grid, scoring="neg_mean_squared_error", random_state=0
    ).fit(X, y)
    LossSurfaceDisplay.from_search(search, x="gamma", y="alpha").plot(ax)
    ax.set_title(f"{title}: best loss {-search.best_score_:.4f}", loc="left")
    print(title, search.best_params_)

# %%
# Hatched configurations were dropped; their losses were measured on fewer rows. The
# report (``cvst.report.write_report``) says the same in a sentence, with values to try.
