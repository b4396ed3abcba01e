"""What ensembles of a race's best gain on development tasks, and which are kept.

    python benchmarks/everyday/ensembles.py run out.jsonl --tasks churn-lightgbm …
    python benchmarks/everyday/ensembles.py table
    python benchmarks/everyday/ensembles.py later

``run`` races for some processor seconds, predicts for the best of ten families on four
folds and on the fresh rows, and writes a line for each task: losses on fresh rows of
the winner alone and of ensembles of more and more members that were selected on two or
four folds, and the nested gain with its p-value. ``table`` prints what the stored lines
say, in regrets (``summary.py``). ``later`` prints how races with an ensemble did on the
sixteen later tasks, beside races without and the peers of ``everyday_later.jsonl``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from clocks import count_processor_seconds
from regret_parts import LEAST_GAIN, MOST, Scale
from sklearn.base import clone
from tasks import TASKS

from cvst import RaceSearchCV
from cvst.search._ensemble import greedy_weights
from cvst.statistics import paired_excess_test

RESULTS = Path(__file__).parents[1] / "results"
STORED = RESULTS / "everyday_ensembles.jsonl"
LOSSES = "everyday_*dev*.jsonl", "everyday_*held_out*.jsonl"
LATER = "everyday_later.jsonl", "everyday_later_ensemble.jsonl"

N_FAMILIES, N_FOLDS, LEVEL = 10, 4, 0.05
SHAPES = (1, 4), (3, 4), (5, 4), (8, 4), (8, 2), (8, 1)

# Members of the ensembles that are compared fold by fold.
NESTED = 6

ROUNDS = "n_estimators", "max_iter"

OURS, PEERS = ("race", "race_ensemble"), ("race", "smac", "optuna_tpe_wilcoxon")


def row_losses(task, y, predicted, classes):
    """Return the loss of each row."""
    if task.scoring == "neg_log_loss":
        shares = np.clip(predicted, 1e-15, 1)
        shares /= shares.sum(axis=1, keepdims=True)
        return -np.log(shares[np.arange(len(y)), np.searchsorted(classes, y)])
    if task.scoring == "accuracy":
        return (classes[predicted.argmax(axis=1)] != y).astype(float)
    error = y - predicted
    return error**2 if task.scoring == "neg_mean_squared_error" else np.abs(error)


def best_families(search):
    """Return the parameters of the best, one of each that differ in rounds alone."""
    known, chosen = set(), []
    ranks = search.cv_results_["rank_test_score"]
    for number in np.argsort(ranks, kind="stable"):
        params = search.cv_results_["params"][number]
        key = repr(sorted((k, repr(v)) for k, v in params.items() if k not in ROUNDS))
        if key not in known:
            known.add(key)
            chosen.append(params)
    return chosen[:N_FAMILIES]


def predictions(task, members, folds):
    """Return what members predict out of fold and for fresh rows, and their seconds."""
    X, y, X_fresh, _ = task.rows
    method = "predict_proba" if task.classes else "predict"
    take = (lambda rows: X.iloc[rows]) if hasattr(X, "iloc") else X.__getitem__
    inside, fresh, seconds = [], [], []
    for params in members:
        table, started = None, perf_counter()
        for train, test in folds:
            model = task.estimator.set_params(**clone(params, safe=False))
            found = getattr(model.fit(take(train), y[train]), method)(take(test))
            if table is None:
                table = np.full((len(y), *found.shape[1:]), np.nan)
            table[test] = found
        seconds.append((perf_counter() - started) / len(folds))
        model = task.estimator.set_params(**clone(params, safe=False)).fit(X, y)
        inside.append(table)
        fresh.append(getattr(model, method)(X_fresh))
    return np.array(inside), np.array(fresh), seconds


def line(task, inside, fresh, tests):
    """Return what the ensembles of predictions are worth."""
    _, y, _, y_fresh = task.rows
    classes = np.unique(y) if task.classes else None

    def loss(weights, rows, count):
        mean = np.tensordot(weights, inside[:count, rows], axes=1)
        return row_losses(task, y[rows], mean, classes)

    def selected(parts, count):
        return greedy_weights(
            lambda w: -np.mean([loss(w, rows, count).mean() for rows in parts]), count
        )

    def on_fresh(weights):
        mean = np.tensordot(weights, fresh[: len(weights)], axes=1)
        return float(row_losses(task, y_fresh, mean, classes).mean())

    found = {"task": task.name, "n_members": len(inside), "losses": {}}
    for count, n_folds in SHAPES:
        weights = selected(tests[:n_folds], min(count, len(inside)))
        found["losses"][f"{count} on {n_folds}"] = on_fresh(weights)
    count = min(NESTED, len(inside))
    alone = np.eye(count)[0]
    excess = []
    for place, rows in enumerate(tests):
        weights = selected([*tests[:place], *tests[place + 1 :]], count)
        excess.append(loss(alone, rows, count) - loss(weights, rows, count))
    return found | {
        "alone": on_fresh(alone),
        "ensemble": on_fresh(selected(tests, count)),
        "gain": float(np.mean([one.mean() for one in excess])),
        "p": float(paired_excess_test(np.concatenate(excess)[np.newaxis])[0]),
    }


def run(options):
    count_processor_seconds(1e9)
    for name in options.tasks:
        task = TASKS[name]
        X, y = task.rows[:2]
        search = RaceSearchCV(
            task.estimator,
            task.space,
            time_budget=options.seconds,
            scoring=task.scoring,
            random_state=options.seed,
            refit=False,
        ).fit(X, y)
        # Other folds than those of the race.
        folds = task.folds(options.seed + 1000)[:N_FOLDS]
        members = best_families(search)
        inside, fresh, seconds = predictions(task, members, folds)
        found = line(task, inside, fresh, [test for _, test in folds])
        found |= {"seconds": options.seconds, "fit": float(np.mean(seconds))}
        found |= scale_of(name)
        with options.output.open("a") as file:
            file.write(json.dumps(found) + "\n")


def scale_of(name):
    """Return the loss of default parameters on a task, and the best of any search."""
    known = [
        json.loads(text)
        for pattern in LOSSES
        for path in sorted(RESULTS.glob(pattern))
        for text in path.read_text().splitlines()
    ]
    scale = Scale([one for one in known if one["task"] == name])
    return {"default": scale.default[name], "best": scale.best[name]}


def table():
    """Return mean regrets by the rule that keeps ensembles, and by shape."""
    found = [json.loads(text) for text in STORED.read_text().splitlines()]
    rules = {
        "the winner alone": lambda one: one["alone"],
        "every ensemble": lambda one: one["ensemble"],
        "if the gain is above 0": lambda one: one[
            "ensemble" if one["gain"] > 0 else "alone"
        ],
        f"if also p < {LEVEL}": lambda one: one[
            "ensemble" if one["gain"] > 0 and one["p"] < LEVEL else "alone"
        ],
    }
    lines = ["| ensembles kept | mean regret (at most 2) |", "|---|---|"]
    lines += [f"| {name} | {_mean(found, rule):.3f} |" for name, rule in rules.items()]
    lines += ["", "| members, folds | mean regret (at most 2) |", "|---|---|"]
    for count, n_folds in SHAPES:
        name = f"{count} on {n_folds}"
        mean = _mean(found, lambda one, name=name: one["losses"][name])
        lines.append(f"| {count}, {n_folds} | {mean:.3f} |")
    return "\n".join(lines)


def later():
    """Return what races with and without an ensemble had on the later tasks."""
    peers, ours = (
        [json.loads(text) for text in (RESULTS / name).read_text().splitlines()]
        for name in LATER
    )
    scale = Scale([*peers, *ours])
    lines = [
        "| search | seconds | tasks | mean (at most 2) | median | ensembles kept |",
        "|---|---|---|---|---|---|",
    ]
    groups = [
        *((ours, name, seconds) for seconds in (15, 60) for name in OURS),
        (ours, "smac", 60),
        *((peers, name, seconds) for name in PEERS for seconds in (60, 240)),
    ]
    for runs, name, seconds in groups:
        some = [
            one
            for one in runs
            if (one["search"], one["seconds"], one["seed"]) == (name, seconds, 0)
        ]
        values = [min(MOST, scale(one["task"], one.get("loss"))) for one in some]
        kept = sum("members" in one for one in some) if name == OURS[1] else ""
        where = "16-core machine" if runs is peers else "this machine"
        lines.append(
            f"| {name}, {where} | {seconds} | {len(some)} | {np.mean(values):.3f} | "
            f"{np.median(values):.3f} | {kept} |"
        )
    return "\n".join(lines)


def _mean(found, loss):
    return np.mean([min(MOST, _regret(one, loss(one))) for one in found])


def _regret(one, loss):
    gain = max(one["default"] - one["best"], LEAST_GAIN * abs(one["default"]))
    return (loss - one["best"]) / gain


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("table")
    commands.add_parser("later")
    one = commands.add_parser("run")
    one.add_argument("output", type=Path)
    one.add_argument("--tasks", nargs="+", choices=list(TASKS), required=True)
    one.add_argument("--seconds", type=float, default=36.0)
    one.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "run":
        run(options)
    else:
        print(table() if options.command == "table" else later())


if __name__ == "__main__":
    main()
