"""
How long will it take?
======================

``plan`` times a few small fits and forecasts the race, before anything is raced.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.displays import TimeConsumptionDisplay

X, y = make_noisy_sinc(1000, random_state=0)
grid = {"alpha": np.logspace(-4, 2, 13), "gamma": np.logspace(-2, 3, 11)}
search = RaceGridSearchCV(
    KernelRidge(kernel="rbf"), grid, strategy="cvst", random_state=0
)
plan = search.plan(X, y)
print(plan)

# %%
# The plan is a bound for the looks and a guess for the times: a race may end early.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
TimeConsumptionDisplay.from_plan(plan).plot(ax)

# %%
# What it took in the end.

search.fit(X, y)
print(f"{search.n_looks_} looks of at most 10, {search.race_.elapsed:.1f} s")
