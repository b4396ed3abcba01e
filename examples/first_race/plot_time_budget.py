"""
What do I get in six seconds?
=============================

``RaceSearchCV`` needs no grid: it takes a suggested space and proposes configurations
while it races, until the time is up. The final fit is included.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cvst import RaceSearchCV
from cvst.displays import IncumbentDisplay, ParallelCoordinatesDisplay
from cvst.spaces import suggest

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = HistGradientBoostingClassifier(random_state=0)
print(suggest(model, n_samples=len(X)))

# %%
# The default parameters take part, and win unless they are beaten. How far the search
# gets depends on the machine, and 143 test rows tell such losses apart to about .02.

search = RaceSearchCV(model, time_budget=6, scoring="neg_log_loss", random_state=0)
search.fit(X, y)
default = model.fit(X, y)
default_loss = log_loss(y_test, default.predict_proba(X_test))
print(search.best_params_)
print(f"configurations tried: {search.race_.n_configurations}")
print(f"test log loss {-search.score(X_test, y_test):.4f}, default {default_loss:.4f}")

# %%
# Every look at a configuration is a point; the line is the loss of the one that would
# have won then. It is broken where losses were measured on other rows.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
IncumbentDisplay.from_search(search).plot(ax)

# %%
# All configurations side by side, the better the darker.

ParallelCoordinatesDisplay.from_search(search).plot()
plt.gcf().set_size_inches(10, 4.5)
