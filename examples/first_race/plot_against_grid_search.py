"""
Is the winner as good as that of GridSearchCV?
==============================================

The same 64 configurations of kernel ridge regression, searched by full five-fold
cross-validation and by a race, on three draws of the data.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV

from cvst import RaceGridSearchCV
from cvst.datasets import make_noisy_sinc

grid = {"alpha": np.logspace(-4, 2, 8), "gamma": np.logspace(-2, 3, 8)}
model = KernelRidge(kernel="rbf")
X_test, y_test = make_noisy_sinc(3000, random_state=99)

seconds: dict[str, list[float]] = {"GridSearchCV": [], "RaceGridSearchCV": []}
errors: dict[str, list[float]] = {"GridSearchCV": [], "RaceGridSearchCV": []}
for seed in range(3):
    X, y = make_noisy_sinc(300, random_state=seed)
    for search in (
        GridSearchCV(model, grid, scoring="neg_mean_squared_error"),
        RaceGridSearchCV(
            model, grid, scoring="neg_mean_squared_error", random_state=seed
        ),
    ):
        began = process_time()
        search.fit(X, y)
        name = type(search).__name__
        seconds[name].append(process_time() - began)
        errors[name].append(mean_squared_error(y_test, search.predict(X_test)))

for name in seconds:
    print(f"{name}: {np.mean(seconds[name]):.2f} s, error {np.mean(errors[name]):.4f}")

# %%
# Each line joins the two searches of one draw. The errors are those of the winners on
# fresh rows. The two often pick other configurations, about as good.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, values, title in zip(
    axes, (seconds, errors), ("processor seconds", "test error"), strict=True
):
    for pair in zip(*values.values(), strict=True):
        ax.plot([0, 1], pair, "o-", color="tab:blue", alpha=0.6)
    ax.set(title=title, xlim=(-0.6, 1.6))
    ax.set_xticks([0, 1], list(values))
axes[0].set_yscale("log")
highest = max(map(max, errors.values()))
_ = axes[1].set_ylim(0, 1.15 * highest)
