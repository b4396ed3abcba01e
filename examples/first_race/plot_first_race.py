"""
What happens in a race?
=======================

A grid of 99 support vector machines on handwritten digits. The race looks at all of
them on a fifth of the rows, at the best and their relatives on two fifths, and lets the
last ones run cross-validation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from cvst import RaceGridSearchCV
from cvst.displays import SurvivorsDisplay, TracesDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, train_size=700, random_state=0)

grid = {"C": np.logspace(-1, 4, 11).tolist(), "gamma": np.logspace(-5, -1, 9).tolist()}
search = RaceGridSearchCV(SVC(), grid, random_state=0).fit(X, y)
print(search.best_params_)
print(f"test error {1 - search.score(X_test, y_test):.3f}")

# %%
# Each look has a stage, rows to train on, and configurations that take part.

for observation in search.race_.observations:
    look = observation.look
    print(
        f"{look.stage:8s} {look.n_train:4d} rows, {len(look.configurations):3d} "
        f"configurations, {len(observation.drops):3d} dropped"
    )

# %%
# Few of the 99 are ever fitted on most of the rows. That is where the time is saved.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
SurvivorsDisplay.from_search(search).plot(ax)

# %%
# The same race, configuration by configuration: black where one was among the best of a
# look, orange where not, grey once it was dropped.

TracesDisplay.from_search(search).plot()
