"""What the paper says of its theory and of single races, held against our numbers."""

from __future__ import annotations

from claims import FAR_MORE, Claim, Evidence, share
from curves import MANY_ROWS, load
from sure import AS_SAID, NO, OTHERWISE, PARTLY, YES, above, mostly

__all__ = ["theory_claims"]

# Change points up to which the open test drops nobody, by the number of steps.
SAFE_CHANGE_POINTS = {10: 2, 20: 7}
# Widths (log10) between which the paper sees the coarse and the fine optimum.
COARSE_WIDTHS, FINE_WIDTHS = (-1.5, -0.3), (-2.5, -1.7)
# Grid points by which the optimum of another draw may miss the paper's.
WIDTH_SLACK = 0.25
SMALLEST_FINE = 200
# "Rapid": twice the steps leave at most this share of the speed.
FALLEN = 0.5
# Appendix B: steps, survivors and winner.
APPENDIX_STEPS, APPENDIX_LEFT = 4, 13
APPENDIX_WINNER = (-2.1, 0.40)


def optimum_moves(evidence: Evidence) -> Claim:
    claim = Claim(
        "width-curves",
        "the best log10 sigma lies first in the coarse plateau (-1.5 to -0.3), then, "
        "beyond 200 rows, in the fine one (-2.5 to -1.7)",
    )
    found = load("width-curves", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    found = found[found["n_train"] != MANY_ROWS]
    means = found.groupby(["n_train", "log10_sigma"])["error"].mean().unstack()
    best = means.idxmin(axis=1)
    coarse = best[best.index < SMALLEST_FINE]
    fine = best[best.index > SMALLEST_FINE]
    hits = [
        COARSE_WIDTHS[0] - WIDTH_SLACK <= width <= COARSE_WIDTHS[1] + WIDTH_SLACK
        for width in coarse
    ] + [FINE_WIDTHS[0] <= width <= FINE_WIDTHS[1] for width in fine]
    text = ", ".join(f"{n:,} rows: {width + 0.0:.1f}" for n, width in best.items())
    return Claim(claim.item, claim.words, f"best log10 sigma: {text}", share(hits))


def race_like_appendix_b(evidence: Evidence) -> Claim:
    claim = Claim(
        "example-run",
        f"stops after {APPENDIX_STEPS} steps with {APPENDIX_LEFT} configurations; the "
        "winner is log10 sigma = -2.1, nu = 0.40, its last error 0.0138",
    )
    race = load("example-run", evidence.output_dir, evidence.profile.name)
    if race.empty:
        return claim
    steps = int(race["step"].max())
    last = race[race["step"] == steps]
    left = int((last["dropped"] == 0).sum())
    winner = race[race["winner"] == 1].iloc[0]
    found = {
        "steps": (steps, APPENDIX_STEPS),
        "left": (left, APPENDIX_LEFT),
        "log10 sigma": (round(float(winner["log10_sigma"]), 1), APPENDIX_WINNER[0]),
        "nu": (round(float(winner["nu"]), 2), APPENDIX_WINNER[1]),
    }
    error = last[last["winner"] == 1]["mean_loss"].iloc[0]
    text = ", ".join(
        f"{name} {ours:g}" + ("" if ours == theirs else f" instead of {theirs:g}")
        for name, (ours, theirs) in found.items()
    )
    text += (
        f", the winner's last error {error:.4f} (another draw of the data, window "
        f"{int(winner['window'])})"
    )
    hits = [ours == theirs for ours, theirs in found.values()]
    return Claim(claim.item, claim.words, text, share(hits))


def safety_zone(evidence: Evidence) -> Claim:
    claim = Claim(
        "false-negatives",
        "open test: no false negatives up to change point 2 of 10 steps and 7 of 20",
    )
    found = load("false-negatives", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    hits, texts = [], []
    for steps, last in SAFE_CHANGE_POINTS.items():
        here = found[(found["test"] == "open") & (found["max_steps"] == steps)]
        inside = here[here["change_point"] <= last]["rate"].max()
        beyond = here[here["change_point"] > last]["rate"].max()
        hits.append(bool(inside == 0 and beyond > 0))
        texts.append(
            f"{steps} steps: {inside:g} up to {last}, up to {beyond:.2f} later"
        )
    return Claim(claim.item, claim.words, "; ".join(texts), share(hits))


def closed_drops_more(evidence: Evidence) -> Claim:
    claim = Claim("false-negatives", "closed test: far more false negatives")
    found = load("false-negatives", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    # Exact chances: those that are equal are open, as nothing is left to find out.
    setting = ["max_steps", "change_point", "win_probability_before"]
    chances = found.pivot_table(index=setting, columns="test", values="exact")
    ratio = chances["closed"].mean() / chances["open"].mean()
    sides = {
        str(key): above((more, more), 0)
        for key, more in (chances["closed"] - chances["open"]).items()
    }
    hits, misses = (list(sides.values()).count(side) for side in (AS_SAID, OTHERWISE))
    text = (
        f"by exact chances more in {hits} of {len(sides)} settings, fewer in {misses}; "
        f"{chances['closed'].mean():.2f} on average against "
        f"{chances['open'].mean():.2f} (open), {ratio:.1f} times as many"
    )
    verdict = mostly(sides)
    if verdict == YES and (misses or ratio < FAR_MORE):
        verdict = PARTLY
    return Claim(claim.item, claim.words, text, verdict)


def bound_converges(evidence: Evidence) -> Claim:
    claim = Claim("error-bound", "pi = 0.95: the error nearly converges to 0.05")
    found = load("error-bound", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    line = found[found["win_probability"] == 0.95].sort_values("max_steps").iloc[-1]
    text = f"{line['bound']:.4f} at {int(line['max_steps'])} steps"
    verdict = YES if abs(line["bound"] - 0.05) < 0.01 else NO
    return Claim(claim.item, claim.words, text, verdict)


def closed_is_faster(evidence: Evidence) -> Claim:
    claim = Claim(
        "speed-simulation",
        "the closed test is much faster; both gain most with 10 to 20 steps",
    )
    found = load("speed-simulation", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    medians = found.pivot_table(
        index=["problem", "max_steps"], columns="test", values="median"
    )
    faster = medians["closed"] > medians["open"]
    peaks = found.loc[found.groupby(["test", "problem"])["median"].idxmax()]
    early = peaks["max_steps"] <= 20
    text = (
        f"faster in {int(faster.sum())} of {len(faster)} settings; "
        f"peak within 20 steps in {int(early.sum())} of {len(early)} curves"
    )
    return Claim(claim.item, claim.words, text, share([*faster, *early]))


def rapid_decline(evidence: Evidence) -> Claim:
    claim = Claim(
        "speed-simulation",
        "a rapid decline towards higher numbers of steps, both tests",
    )
    found = load("speed-simulation", evidence.output_dir, evidence.profile.name)
    if found.empty:
        return claim
    hits, ratios = [], []
    for _, curve in found.sort_values("max_steps").groupby(["test", "problem"]):
        medians = curve["median"].to_numpy()
        peak = int(medians.argmax())
        tail = medians[peak:]
        # It falls all the way, and twice the steps of the peak have lost half.
        twice = curve["max_steps"].to_numpy() >= 2 * curve["max_steps"].iloc[peak]
        if not twice.any():
            return claim
        ratios.append(float(medians[twice][0] / medians[peak]))
        hits.append(bool((tail[1:] < tail[:-1]).all() and ratios[-1] <= FALLEN))
    text = (
        f"falls all the way and to half or less by twice the steps of the peak in "
        f"{sum(hits)} of {len(hits)} curves (to {min(ratios):.2f} to "
        f"{max(ratios):.2f} of it)"
    )
    return Claim(claim.item, claim.words, text, share(hits))


def theory_claims(evidence: Evidence) -> list[Claim]:
    """Return what is said about theory, curves and single races."""
    return [
        optimum_moves(evidence),
        safety_zone(evidence),
        closed_drops_more(evidence),
        bound_converges(evidence),
        closed_is_faster(evidence),
        rapid_decline(evidence),
        race_like_appendix_b(evidence),
    ]
