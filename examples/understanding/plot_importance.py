"""
Which parameters matter?
========================

After a search, forests fitted to all configurations tell how much of the variation of
the loss each parameter explains, with an interval for how sure that is.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform, randint
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor

from cvst import RaceRandomSearchCV
from cvst.displays import ContourDisplay, ImportanceDisplay

X, y = make_friedman1(300, noise=1.0, random_state=0)
space = {
    "learning_rate": loguniform(0.005, 1),
    "max_depth": randint(1, 6),
    "subsample": [0.5, 0.75, 1.0],
    "min_samples_leaf": randint(1, 30),
}
search = RaceRandomSearchCV(
    GradientBoostingRegressor(n_estimators=12, random_state=0),
    space,
    n_iter=60,
    random_state=0,
).fit(X, y)
print(search.best_params_)

# %%
# The learning rate decides, with so few rounds. The dark part is what a parameter
# explains without the others.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ImportanceDisplay.from_search(search).plot(ax)

# %%
# What a forest expects over the two that matter most.

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ContourDisplay.from_search(search).plot(ax)
