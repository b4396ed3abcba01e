"""
How does the paper's race work, in five pictures?
=================================================

The pictures with which the paper explains its race, drawn from real races: what is saved
against cross-validation, one step, the paths that survive, the time of a race, and the
parts that can be replaced.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.kernel_ridge import KernelRidge

from cvst import CVST, CrossValidation, RaceGridSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.displays import SurvivingPathsDisplay
from cvst.statistics import friedman_prefixes
from cvst.theory import safety_zone, time_of_race

BLUE, ORANGE, GREY, DARK = "#0072B2", "#D55E00", "#BBBBBB", "#444444"
N, K, S = 400, 31, 10
X, y = make_noisy_sinc(N, dimension=3, noise=0.2, random_state=0)
widths = np.logspace(-2, 3, K)
searches = {
    name: RaceGridSearchCV(
        KernelRidge(kernel="rbf", alpha=0.1),
        {"gamma": widths},
        strategy=strategy,
        random_state=0,
    ).fit(X, y)
    for name, strategy in {
        "5-fold cross-validation": CrossValidation(5),
        "the race": CVST(stopping="never"),
    }.items()
}

# %%
# **Five-fold against the race.** Cross-validation fits every configuration, here a width
# of the kernel, on nearly all rows, five times. The race begins with few rows and drops
# what is significantly worse. Below, the area of a box is the time of a learner whose
# cost grows with the cube of the rows: width for one fit, height for the configurations.
# Early stopping is off here, so that all ten steps are seen.

fig, axes = plt.subplots(
    2, 2, figsize=(9, 6.2), layout="constrained", sharey="row", sharex="row"
)
for (above, below), (name, search) in zip(axes.T, searches.items(), strict=True):
    looks = search.race_.observations
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(looks)))
    start = 0.0
    for seen, shade in zip(looks, shades, strict=True):
        numbers = seen.look.configurations
        above.plot(widths[numbers], seen.mean_losses, ".-", color=shade, lw=1, ms=4)
        cost = (seen.look.n_train / N) ** 3
        below.bar(start, len(numbers), cost, align="edge", color=shade, ec="white")
        start += cost
    total = sum(len(o.look.configurations) * (o.look.n_train / N) ** 3 for o in looks)
    above.set(xscale="log", title=name, xlabel="gamma")
    below.set_xlabel(
        f"time of one configuration, in fits on all rows; area {total:.0f}"
    )
axes[0, 0].set_ylabel("loss of a fold or step")
axes[1, 0].set_ylabel("configurations")

# %%
# **One step.** All configurations still in the race learn from the same rows. Their losses
# on the other rows, sorted by their mean, go to a test that takes in one after the other
# until it sees a difference: those before it are *top*, the others *flop*. The column of
# tops and flops joins the traces, and a sequential test over each trace drops the losers.

n_train = N // 2
models = [
    KernelRidge(kernel="rbf", alpha=0.1, gamma=gamma).fit(X[:n_train], y[:n_train])
    for gamma in widths
]
losses = np.array([(model.predict(X[n_train:]) - y[n_train:]) ** 2 for model in models])
order = np.argsort(losses.mean(axis=1))
p_values = [one.p_value for one in friedman_prefixes(losses[order])]
level = 0.05 / (K - 1)
n_top = 1 + next((i for i, p in enumerate(p_values) if p < level), K - 1)

fig, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 4.2), layout="constrained", width_ratios=[4, 2.4, 2.4]
)
left.imshow(np.sqrt(losses[order][:, :60]), aspect="auto", cmap="Greys", vmax=1)
left.axhline(n_top - 0.5, color=ORANGE)
left.set(
    title="1. losses on the rows left out",
    xlabel="rows (60 of them)",
    ylabel="configurations, best first",
)
places = np.arange(2, K + 1)
middle.semilogx(np.maximum(p_values, 1e-12), places, "o-", color=BLUE, ms=3)
middle.axvline(level, color=DARK, ls="--", lw=1)
middle.axhline(n_top + 0.5, color=ORANGE)
middle.text(2e-12, n_top - 0.5, "top", color=BLUE)
middle.text(2e-12, n_top + 2.5, "flop", color=ORANGE)
middle.set(title="2. p-value of the first k", xlabel="dashed: the level", ylabel="k")
middle.invert_yaxis()
state = searches["the race"].race_
marks = np.full((K, len(state.observations)), 2)
for column, seen in enumerate(state.observations):
    marks[seen.look.configurations, column] = np.where(seen.top, 0, 1)
colours = plt.matplotlib.colors.ListedColormap([BLUE, ORANGE, "#EEEEEE"])
right.imshow(marks, aspect="auto", cmap=colours, vmin=0, vmax=2)
right.set_xticks(range(marks.shape[1]), range(1, marks.shape[1] + 1))
right.set(
    title="3. traces: top, flop, dropped",
    xlabel="step",
    ylabel="configurations by gamma",
)

# %%
# **Paths.** How likely is a winner dropped that flops until the end of the safety zone?
# Lemma 2 counts the ways through the grid that stay above the line: a flop leads to the
# right, a top up and to the right.

fig, ax = plt.subplots(figsize=(8, 5.2), layout="constrained")
SurvivingPathsDisplay.from_levels(20).plot(ax)

# %%
# **The time of a race.** Each step costs the configurations still there times one fit on
# its subset. The paper assumes that all of them stay up to the end of the safety zone,
# and a share of them after it; so the number of steps that fits into a budget is known
# before the race.

zone, share = safety_zone(S), 0.2
n_left = np.where(np.arange(1, S + 1) <= zone, K, share * K)
one_fit = (np.arange(1, S + 1) / (S + 1)) ** 3
total = time_of_race(S, 1.0, K, survival_rate=share, safety_rate=zone / S, complexity=3)

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
steps = np.arange(1, S + 1)
ax.bar(steps, K * one_fit, color="none", ec=GREY, label="if nothing were dropped")
ax.bar(steps, n_left * one_fit, color=BLUE, label=f"the race, {total:.0f} in all")
ax.axvspan(0.4, zone, color="#F3E3C3", lw=0, zorder=0, label="safety zone")
ax.set(
    xlabel="step",
    xticks=steps,
    ylabel="time, in fits on all rows",
    title=f"cubic learner, {K} configurations, {share:.0%} left after the zone",
)
ax.legend(loc="upper center")

# %%
# **The parts.** A step is a chain of tests, each with the result of the one before it, so
# that each can be exchanged. The names are arguments of :class:`cvst.CVST` or of the
# search.

boxes = (
    ("subset", "schedule", "growing\nsubsets"),
    ("models,\nlosses", "scoring", "squared, 0/1,\nlog loss, ..."),
    ("top or\nflop?", "similarity", "Friedman, Cochran,\noutliers, ..."),
    ("loser over\nall steps?", "elimination", "open, closed,\nnone"),
    ("survivors\nalike?", "stopping", "similar traces,\nnever"),
    ("winner", "winner", "mean rank"),
)
fig, ax = plt.subplots(figsize=(11, 3.4), layout="constrained")
for place, (question, argument, choices) in enumerate(boxes):
    x = 2.0 * place
    colour = BLUE if place < 5 else DARK
    ax.add_patch(
        FancyBboxPatch((x, 0), 1.4, 1, boxstyle="round,pad=0.06", fc="white", ec=colour)
    )
    ax.text(x + 0.7, 0.5, question, ha="center", va="center")
    ax.text(x + 0.7, -0.28, argument, ha="center", family="monospace", color=colour)
    ax.text(x + 0.7, -0.4, choices, ha="center", va="top", fontsize="small", color=DARK)
    if place:
        ends = (x - 0.53, 0.5), (x - 0.07, 0.5)
        ax.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=12))
back = FancyArrowPatch(
    (8.7, 1.07), (0.7, 1.07), connectionstyle="arc3,rad=0.16", arrowstyle="-|>",
    mutation_scale=12, color=BLUE,
)  # fmt: skip
ax.add_patch(back)
ax.text(4.7, 1.85, "no: next step, with more rows", ha="center", color=BLUE)
ax.text(9.7, 0.66, "yes", ha="center", fontsize="small")
ax.set(xlim=(-0.3, 11.7), ylim=(-1.1, 2.1))
ax.set_axis_off()
