"""
How likely is a late winner lost?
=================================

What the paper's race can and cannot miss is known before any data are seen: for some
steps no configuration can be dropped, and after that the chance of losing a good one
has a bound.
"""

import matplotlib.pyplot as plt

from cvst.displays import ErrorBoundDisplay, SafetyZoneDisplay, SequentialTestDisplay
from cvst.statistics import WaldTest
from cvst.theory import drop_error_bound, safety_zone

for steps in (10, 20):
    print(
        f"{steps} steps: no configuration is dropped before step {safety_zone(steps):.2f}; a "
        f"configuration that is top in 9 of 10 steps from then on is lost with "
        f"probability at most {drop_error_bound(0.9, max_steps=steps):.3f}"
    )

# %%
# Four histories, and the line below which a configuration is dropped.

histories = {
    "constant winner": "1111111111",
    "late winner": "0011111111",
    "wavering": "0101101011",
    "constant loser": "0000000000",
}
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
SequentialTestDisplay.from_test(
    WaldTest(10),
    [[mark == "1" for mark in history] for history in histories.values()],
    labels=list(histories),
).plot(ax)

# %%
# More steps and a smaller loser level make the zone longer, and the race slower.

SafetyZoneDisplay.from_levels().plot()

# %%

ErrorBoundDisplay.from_levels().plot()
