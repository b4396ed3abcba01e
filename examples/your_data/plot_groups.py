"""
What if rows belong together?
=============================

Several rows of each patient: a model that sees one of them in training and another in
the test is flattered, and a search then prefers models that memorise patients. Pass
``groups``, and no fold splits a patient. (Nor does a subset of the rows, where a race
looks at some; all numbers of neighbours are compared on the folds at once.)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from cvst import RaceGridSearchCV

rng = np.random.default_rng(0)


def visits(n_patients: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, targets and patients of eight visits each."""
    patients = np.repeat(np.arange(n_patients), 8)
    own = rng.normal(size=(n_patients, 3))
    level = rng.normal(size=n_patients)
    X = own[patients] + rng.normal(scale=0.05, size=(len(patients), 3))
    y = np.sin(X[:, 0]) + level[patients] + rng.normal(scale=0.3, size=len(patients))
    return X, y, patients


X, y, patients = visits(100)
X_new, y_new, _ = visits(300)
grid = {"n_neighbors": list(range(1, 81))}
score = "neg_mean_squared_error"

plain = RaceGridSearchCV(
    KNeighborsRegressor(), grid, scoring=score, random_state=0
).fit(X, y)
grouped = RaceGridSearchCV(
    KNeighborsRegressor(), grid, scoring=score, random_state=0
).fit(X, y, groups=patients)

# %%
# Without groups a few neighbours look best: they are other visits of the same patient.

curve = [
    np.mean((KNeighborsRegressor(k).fit(X, y).predict(X_new) - y_new) ** 2)
    for k in grid["n_neighbors"]
]
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(grid["n_neighbors"], curve, color="black", label="error on new patients")
for name, search in {"without groups": plain, "with groups": grouped}.items():
    k = search.best_params_["n_neighbors"]
    print(
        f"{name}: k={k}, error seen {-search.best_score_:.2f}, new {curve[k - 1]:.2f}"
    )
    ax.plot(k, curve[k - 1], "o", markersize=9, label=f"chosen {name}")
ax.set(xlabel="neighbours", ylabel="mean squared error")
ax.legend()
