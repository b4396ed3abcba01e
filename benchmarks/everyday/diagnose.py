"""Find where the race's regret comes from: search, selection or cost.

    python benchmarks/everyday/diagnose.py out.jsonl --seconds 60 --seeds 0

Each line holds one search on a development task: what was seen of each family, who won,
and the loss on fresh rows of the best few, each fitted on all training rows. What is in
the file already is not run again.
"""

from __future__ import annotations

import argparse
import json
import pickle
import warnings
from base64 import b64encode
from pathlib import Path
from time import perf_counter as clock
from typing import Any

import numpy as np
import one_thread  # noqa: F401 - before NumPy
from tasks import ABSOLUTE, ACCURACY, LOG_LOSS, Task, chosen_tasks

import cvst
from cvst.race.machinery import ProposeAndConfirm

# How many of the first fold are judged, besides those that were confirmed.
N_BEST = 8

# Seconds for the judging of one search.
LONGEST = 90.0


def diagnosed(
    task: Task, seconds: float, seed: int, longest: float = LONGEST
) -> dict[str, Any]:
    """Return the line of a search."""
    X, y = task.rows[:2]
    search = cvst.RaceSearchCV(
        task.estimator,
        task.space,
        time_budget=seconds,
        scoring=task.scoring,
        random_state=seed,
        refit=False,
    )
    start = clock()
    search.fit(X, y)
    used = clock() - start
    state = search.race_
    strategy = ProposeAndConfirm(None, rounds=tuple(search._rounds()))
    record = strategy._record(state)
    winner = int(strategy.ranking(state)[0])
    shown = []
    for number, family in enumerate(record.families):
        if not family.is_seen:
            continue
        line: dict[str, Any] = {
            "family": number,
            "first": family.rungs[family.highest].look,
        }
        line["rungs"] = {rung: one.loss for rung, one in family.rungs.items()}
        line["folds"] = {fold: one.loss for fold, one in family.folds.items()}
        sight = family.rungs[family.highest]
        # Most rounds have place 0; fewer come after it.
        line["place"] = [family.members.index(sight.best), len(family.members)]
        line["seconds"] = sum(
            one.seconds for one in (*family.rungs.values(), *family.folds.values())
        )
        shown.append(line)
    best = record.on_rung(0)[:N_BEST]
    judged = {record.family_of[winner], *best}
    judged |= {line["family"] for line in shown if line["folds"]}
    start = clock()
    best_first = {number: place for place, number in enumerate(record.on_rung(0))}

    def key(one: dict[str, Any]) -> tuple[Any, ...]:
        last = best_first.get(one["family"], len(best_first))
        return one["family"] != record.family_of[winner], -len(one["folds"]), last

    for line in sorted(shown, key=key):
        number = line["family"]
        if number in judged and clock() - start < longest:
            line["member"] = member = _member(record, number, winner)
            text = pickle.dumps(state.configurations[member])
            losses = _fresh_losses(task, state.configurations[member])
            line["test"] = float(losses.mean())
            if number == record.family_of[winner]:
                mine = losses
            line["error"] = float((losses - mine).std() / len(losses) ** 0.5)
            line["params"] = b64encode(text).decode()
    stages: dict[str, float] = {}
    for one in state.observations:
        stages[one.look.stage] = stages.get(one.look.stage, 0.0) + one.seconds
    return {
        "task": task.name,
        "seconds": seconds,
        "seed": seed,
        "used": used,
        "winner": record.family_of[winner],
        "fits": record.worked,
        "looks": len(state.observations),
        "stages": stages,
        "sizes": strategy._sizes(state.problem),
        "default": task.judged({}),
        "families": shown,
    }


def _fresh_losses(task: Task, params: dict[str, Any]) -> np.ndarray:
    """Return the losses on the fresh rows, one by one."""
    X, y, X_test, y_test = task.rows
    fitted = task.estimator.set_params(**params).fit(X, y)
    if task.scoring == LOG_LOSS:
        chances = fitted.predict_proba(X_test)
        places = np.searchsorted(fitted.classes_, y_test)
        share = chances[np.arange(len(y_test)), places] / chances.sum(axis=1)
        return -np.log(np.clip(share, np.finfo(chances.dtype).eps, 1))
    predicted = fitted.predict(X_test)
    if task.scoring == ACCURACY:
        return (predicted != y_test).astype(float)
    gaps = np.abs(predicted - y_test)
    return gaps if task.scoring == ABSOLUTE else gaps**2


def _member(record: Any, number: int, winner: int) -> int:
    """Return the member of a family that would be chosen."""
    family = record.families[number]
    if winner in family.members:
        return winner
    if family.folds:
        return min(family.members, key=record.mean_fold_loss)
    return family.rungs[family.highest].best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--tasks", nargs="+", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = set()
    if options.output.exists():
        lines = map(json.loads, options.output.read_text().splitlines())
        known = {(one["task"], one["seed"]) for one in lines}
    for seed in options.seeds:
        for task in chosen_tasks("dev", options.tasks):
            if (task.name, seed) in known:
                continue
            line = diagnosed(task, options.seconds, seed)
            with options.output.open("a") as file:
                file.write(json.dumps(line, default=float) + "\n")
            print(task.name, seed, line["used"], flush=True)


if __name__ == "__main__":
    main()
