"""The list of missing runs: cells of the tables, each once, known ones left out."""

from __future__ import annotations

from dataclasses import replace

from items import ITEMS, fits
from methods import METHODS
from missing import PARTS, PROFILE, Costs, left, timed
from problems import Problem
from profiles import PROFILES
from runner import Place, Task
from store import Run

PLACE = Place("here")
COSTS = Costs([])


def of_first_searches(names):
    """Return what is left of some parts where nothing was run."""
    return left(names, {}, PLACE, COSTS)


def test_every_part_is_made_of_cells_of_its_items():
    """No search is asked for that its items do not have, and none that is twice."""
    assert set(PROFILES) > {PROFILE.name}
    keys = []
    for name, tasks in of_first_searches(list(PARTS)).items():
        part = PARTS[name]
        assert set(part.items) <= set(ITEMS)
        assert set(part.methods) <= set(METHODS)
        known = {fit.problem: fit for fit in fits(list(part.items), PROFILE)}
        assert tasks
        for task in tasks:
            assert set(task.methods) <= {*known[task.problem].methods, "cvst"}
            assert task.repetition < min(
                part.repetitions, known[task.problem].repetitions
            )
        keys += [task.key(task.methods[0]) for task in tasks]
    assert len(keys) == len(set(keys))


def test_what_is_known_is_left_out():
    (tasks,) = of_first_searches(["closed"]).values()
    done = {task.key(task.methods[0]): None for task in tasks[::2]}
    (rest,) = left(["closed"], done, PLACE, COSTS).values()
    assert [task.key(task.methods[0]) for task in rest] == [
        task.key(task.methods[0]) for task in tasks[1::2]
    ]


def test_a_guess_grows_with_the_rows_and_counts_the_part_of_a_grid_that_is_run():
    blank = dict.fromkeys(Run.__dataclass_fields__, "")
    run = Run(**blank | {
        "data": "blocks", "learner": "KRR", "n_train": "500", "method": "plain_grid",
        "seconds": "610", "n_looks": "30", "n_configurations": "610",
        "machine": "sixteen-cores",
    })  # fmt: skip
    costs = Costs([run])
    task = Task(Problem("blocks", "KRR", 500), 0, ("plain_grid",), PROFILE, PLACE)
    assert costs(task) == 30
    twice = replace(task, problem=Problem("blocks", "KRR", 1000))
    assert costs(twice) == 30 * 2**2.5
    race = replace(run, method="cvst", seconds="8")
    outliers = Costs([race])
    assert outliers(replace(task, methods=("outliers",))) == 16


def test_a_search_in_the_time_of_the_race_is_told_the_seconds_of_another_file():
    """Its own file of runs has no line of the race, which is not run again."""
    task = Task(Problem("blocks", "KRR", 500), 0, ("optuna",), PROFILE, PLACE)
    blank = dict.fromkeys(Run.__dataclass_fields__, "")
    race = Run(**blank | {"seconds": "8"})
    assert timed(task, {task.key("cvst"): race}).seconds == 8
    assert timed(task, {}).seconds == float("inf")
