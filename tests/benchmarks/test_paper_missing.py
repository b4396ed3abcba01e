"""The list of missing runs: cells of the tables, each once, known ones left out."""

from __future__ import annotations

from dataclasses import replace

from items import ITEMS, fits
from methods import METHODS
from missing import PARTS, PROFILE, STORED, Costs, left, timed, undecided
from problems import Problem
from profiles import PROFILES
from runner import Place, Task
from store import Run, Store

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
            has = part if part.beyond else known[task.problem]
            assert set(task.methods) <= {*has.methods, "cvst"}
            assert task.repetition < min(part.repetitions, has.repetitions)
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


def test_a_search_of_another_machine_is_done_unless_speeds_are_compared():
    for name in ("closed", "speeds"):
        (tasks,) = of_first_searches([name]).values()
        elsewhere = {
            replace(task, place=Place("there")).key(task.methods[0]): None
            for task in tasks
        }
        (rest,) = left([name], elsewhere, PLACE, COSTS).values()
        assert len(rest) == (len(tasks) if name == "speeds" else 0)


def test_who_takes_the_seconds_of_a_race_takes_those_of_one_on_the_same_machine():
    (tasks,) = of_first_searches(["today"]).values()
    races = [task for task in tasks if task.methods == ("cvst",)]
    elsewhere = {replace(one, place=Place("there")).key("cvst"): None for one in races}
    (rest,) = left(["today"], elsewhere, PLACE, COSTS).values()
    assert [task.methods for task in rest] == [task.methods for task in tasks]
    # And it is there when they begin.
    first = [task.methods[0] for task in rest if task.repetition == 0]
    assert first == sorted(first, key=lambda method: method != "cvst")


def test_more_data_undecided_rows_and_options_are_asked_for():
    """Repetitions above those of the items, and searches that they do not have."""
    known = Store(STORED).runs()
    names = ["more-data", "options", *(one for one in PARTS if "undecided" in one)]
    found = left(names, known, Place("sixteen-cores"), Costs(known.values()))
    more = found["more-data"]
    assert {task.problem.n_train for task in more} == {2000, 5000}
    assert max(task.repetition for task in more) == 14
    assert {task.problem.task for task in found["options"]} == {"classification"}
    assert {"twenty_steps", "shuffled"} <= {one.methods[0] for one in found["options"]}
    for name in names[2:]:
        rows = undecided(name.removeprefix("undecided-"))
        tasks = found[name]
        asked = {(task.problem.data, task.problem.learner) for task in tasks}
        assert asked <= rows
        assert all(15 <= task.repetition < 50 for task in tasks)
    assert found["undecided-cross-validation"]
