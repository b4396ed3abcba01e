"""
Why was my configuration dropped?
=================================

A race drops a configuration when a test on the same rows finds it worse than the
leader. The learning curves show what the race saw, and ``cv_results_`` has the reason.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.displays import LearningCurvesDisplay

X, y = make_noisy_sinc(800, random_state=0)
grid = {"alpha": np.logspace(-4, 2, 13), "gamma": np.logspace(-2, 3, 11)}
search = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, random_state=0)
search.fit(X, y)

# %%
# Ask for one: ``alpha=100`` with a wide kernel.

results = search.cv_results_
mine = next(
    number
    for number, params in enumerate(results["params"])
    if params["alpha"] == 100 and params["gamma"] == 0.01
)
print(
    "dropped in look", results["dropped_at"][mine], "by", results["drop_reason"][mine]
)
print(
    f"its score {results['mean_test_score'][mine]:.3f}, best {search.best_score_:.3f}"
)

# %%
# The bars are standard errors of the mean losses. All configurations meet the same
# rows, so the tests see differences that are far smaller than the bars.

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
LearningCurvesDisplay.from_search(search).plot(ax)
