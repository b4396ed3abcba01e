"""
What if the rows are a time series?
===================================

With ``ordering="given"`` every look trains on the past and tests on the future, and the
folds run forward too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from cvst import RaceGridSearchCV

rng = np.random.default_rng(0)
n = 900
days = np.arange(n)
signal = 0.003 * days + np.sin(2 * np.pi * days / 365)
noise = np.convolve(rng.normal(size=n + 29), np.ones(30) / 6, mode="valid")
y = signal + noise
X = np.column_stack([days % 365, days])

model = make_pipeline(SplineTransformer(degree=3, extrapolation="linear"), Ridge())
grid = {
    "splinetransformer__n_knots": [3, 5, 8, 13, 20],
    "ridge__alpha": np.logspace(-3, 4, 15),
}
searches = {}
for ordering in ("shuffled", "given"):
    search = RaceGridSearchCV(
        model,
        grid,
        ordering=ordering,
        scoring="neg_mean_squared_error",
        random_state=0,
    )
    searches[ordering] = search.fit(X[:700], y[:700])

# %%
# Shuffled rows leak: neighbours in time are nearly equal, so that wiggly models look
# good. They are not, for the days to come.

fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(days, y, ".", color="0.75", markersize=3)
ax.axvline(700, color="0.4", linestyle=":")
for ordering, search in searches.items():
    prediction = search.predict(X)
    error = np.mean((prediction[700:] - y[700:]) ** 2)
    ax.plot(days, prediction, label=f"{ordering}: {error:.2f} on the days to come")
    print(ordering, search.best_params_, f"seen {-search.best_score_:.2f}")
ax.set(xlabel="day", ylim=(y.min() - 2, y.max() + 2))
ax.legend()
