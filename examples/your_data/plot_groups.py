"""
What if rows belong together?
=============================

Several rows of each patient: a model that sees one of them in training and another in
the test is flattered, and a search then prefers models that memorise patients. Pass
``groups``, and no patient is split: neither by a fold, nor by a subset of the rows on
which a race takes its first looks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

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


X, y, patients = visits(400)
X_new, y_new, _ = visits(300)
tree = DecisionTreeRegressor(random_state=0)
grid = {"min_samples_leaf": list(range(1, 81))}
score = "neg_mean_squared_error"

plain = RaceGridSearchCV(tree, grid, scoring=score, random_state=0).fit(X, y)
grouped = RaceGridSearchCV(tree, grid, scoring=score, random_state=0).fit(
    X, y, groups=patients
)

# %%
# The first looks are on subsets. With groups their rows are those of whole patients,
# eight for each:

for observation in grouped.race_.observations[:3]:
    look = observation.look
    print(
        f"{look.stage}: {len(look.configurations)} sizes of leaves, "
        f"{look.n_train // 8} patients to learn from, {look.n_test // 8} to be judged by"
    )

# %%
# Without groups small leaves look best: they hold the other visits of a patient.

sizes = grid["min_samples_leaf"]
curve = []
for size in sizes:
    tree.set_params(min_samples_leaf=size).fit(X, y)
    curve.append(np.mean((tree.predict(X_new) - y_new) ** 2))
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(sizes, curve, color="black", label="error on new patients")
for name, search in {"without groups": plain, "with groups": grouped}.items():
    size = search.best_params_["min_samples_leaf"]
    new = curve[sizes.index(size)]
    print(
        f"{name}: leaves of {size}, error seen {-search.best_score_:.2f}, new {new:.2f}"
    )
    ax.plot(size, new, "o", markersize=9, label=f"chosen {name}")
ax.set(xlabel="smallest size of a leaf", ylabel="mean squared error")
ax.legend()
