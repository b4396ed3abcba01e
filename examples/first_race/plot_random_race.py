"""
How many draws can I afford?
============================

A random search rarely draws more than some tens of configurations, because each costs a
full cross-validation. In a race most draws cost one fit on a fifth of the rows.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceRandomSearchCV
from cvst.displays import SlicesDisplay

X, y = make_classification(1500, 12, n_informative=6, flip_y=0.1, random_state=0)
space = {
    "max_depth": randint(1, 25),
    "min_samples_leaf": randint(1, 120),
    "ccp_alpha": loguniform(1e-5, 0.1),
    "criterion": ["gini", "entropy"],
}
search = RaceRandomSearchCV(
    DecisionTreeClassifier(random_state=0),
    space,
    n_iter=300,
    scoring="neg_log_loss",
    random_state=0,
)
search.fit(X, y)
print(search.best_params_)

# %%
# What did 300 draws cost, in fits on all rows? A fit on a fifth counts as a fifth, which
# is about right for trees.

looks = [observation.look for observation in search.race_.observations]
cost = sum(len(look.configurations) * look.n_train / len(X) for look in looks)
folds = 300 * 5 * 0.8  # each on four fifths of the rows
print(f"in fits on all rows: {cost:.0f}; five folds of 300 draws take {folds:.0f}")

# %%
# One panel for each parameter. Blue points have as much evidence as the winner.

SlicesDisplay.from_search(search).plot()
plt.gcf().set_size_inches(9, 5)
