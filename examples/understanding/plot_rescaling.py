"""
Does C mean the same on a subset?
=================================

A support vector machine weighs ``C`` times a *sum* of losses against a penalty. With a
tenth of the rows the sum is a tenth, so the same ``C`` regularises ten times as much.
The paper's race rescales such parameters to the rows of each look.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from cvst import RaceGridSearchCV

X, y = make_classification(
    4000, 60, n_informative=10, flip_y=0.1, class_sep=0.5, random_state=0
)
X_test, y_test = X[2000:], y[2000:]
X, y = X[:2000], y[:2000]
values = np.logspace(-5, 2, 22)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, rescaled in zip(axes, (False, True), strict=True):
    for size in (200, 500, 2000):
        factor = 2000 / size if rescaled else 1
        losses = [
            log_loss(
                y_test,
                LogisticRegression(C=C * factor, max_iter=500)
                .fit(X[:size], y[:size])
                .predict_proba(X_test),
            )
            for C in values
        ]
        ax.plot(values, losses, label=f"{size} rows")
        ax.plot(values[np.argmin(losses)], min(losses), "o", color="black")
    ax.set(
        xscale="log",
        xlabel="C in the grid",
        title="C times 2000 / rows" if rescaled else "C as it is",
        ylim=(0.4, 1.2),
    )
axes[0].set_ylabel("log loss on fresh rows")
axes[0].legend()

# %%
# Which parameters a race rescales is in ``rescale_``: the exponent of the share of rows.

search = RaceGridSearchCV(
    LogisticRegression(max_iter=500), {"C": values}, strategy="cvst", random_state=0
).fit(X, y)
print(search.rescale_, search.best_params_)
