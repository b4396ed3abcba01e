"""Programs of stages, limits around strategies, and pools that grow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.exceptions import InvalidInputError
from cvst.race import (
    CVST,
    AtMost,
    FoldRace,
    LookLosses,
    Problem,
    Program,
    RaceState,
    SubsetLook,
    race,
)
from cvst.race.machinery import Alone
from cvst.report._explain import reason_text, stop_sentence


class Means:
    """Losses with a known mean each, and noise that all rows share."""

    def __init__(self, means):
        self.means = np.asarray(means, dtype=float)
        self.looks = []

    def admit(self, configurations):
        self.means = np.append(self.means, [one["mean"] for one in configurations])

    def observe(self, look):
        self.looks.append(look)
        rows = np.arange(1000)[look.test]
        shared = np.random.default_rng(0).normal(size=1000)[rows]
        own = np.random.default_rng(1).normal(size=(len(self.means), 1000))
        noise = shared + 0.1 * own[look.configurations][:, rows]
        losses = self.means[look.configurations][:, None] + noise
        nothing = np.zeros(len(losses))
        return LookLosses(losses, losses.mean(axis=1), nothing, nothing)


def problem(n_configurations, **options):
    parts = np.array_split(np.arange(200), 5)
    folds = tuple((np.setdiff1d(np.arange(200), part), part) for part in parts)
    return Problem(n_configurations, 200, folds={5: folds}, **options)


def test_a_program_runs_its_stages_in_order_and_passes_survivors_on():
    source = Means([0.0, 0.01, 1.0, 2.0])
    program = Program([SubsetLook(rows=0.2), FoldRace(n_folds=5)])
    states = list(race(RaceState(problem(4)), source, program))
    assert [look.stage for look in source.looks] == ["subset", *["folds"] * 5]
    assert [look.n_train for look in source.looks] == [40, *[160] * 5]
    assert source.looks[0].configurations.tolist() == [0, 1, 2, 3]
    assert source.looks[1].configurations.tolist() == [0, 1]
    assert states[-1].drop_reasons[3] == "paired test"
    assert program.stop_reason(states[-1]) == "all_stages"
    assert program.ranking(states[-1]).tolist()[0] == 0
    planned = program.planned_looks(problem(4))
    assert [look.stage for look in planned] == [look.stage for look in source.looks]


def test_a_stage_that_nothing_enters_is_skipped():
    source = Means([0.0, 1.0])
    empty = FoldRace(5, "never", enter=lambda state: np.empty(0, dtype=np.intp))
    program = Program([SubsetLook(rows=0.2), empty, SubsetLook(0.5, "late")])
    list(race(RaceState(problem(2)), source, program))
    assert [look.stage for look in source.looks] == ["subset", "late"]


def test_a_resumed_program_ends_where_the_first_one_did():
    program = Program([SubsetLook(rows=0.2), FoldRace(n_folds=5)])
    means = np.linspace(0, 0.1, 6)
    states = list(race(RaceState(problem(6)), Means(means), program))
    for state in states[:-1]:
        *_, last = race(state, Means(means), program)
        np.testing.assert_array_equal(last.mean_losses, states[-1].mean_losses)
        np.testing.assert_array_equal(last.active, states[-1].active)


@pytest.mark.parametrize("n_looks", [1, 2, 3])
def test_a_limit_ends_a_race_and_changes_nothing_before(n_looks):
    full = list(race(RaceState(problem(5)), Means(range(5)), CVST(stopping="never")))
    limited = AtMost(CVST(stopping="never"), n_looks)
    cut = list(race(RaceState(problem(5)), Means(range(5)), limited))
    assert len(cut) == min(n_looks, len(full))
    np.testing.assert_array_equal(cut[-1].traces, full[len(cut) - 1].traces)


def test_the_strategys_own_reason_comes_first():
    limited = AtMost(CVST(), 2)
    *_, state = race(RaceState(problem(3)), Means([0, 5, 9]), CVST())
    assert limited.stop_reason(state) == CVST().stop_reason(state)
    assert Alone(CVST()).stop_reason(state) == "single_configuration"


class Proposing(CVST):
    """The paper's race, which two configurations join later."""

    def propose(self, state):
        return [{"mean": -1.0}, {"mean": 3.0}] if state.n_looks == 2 else ()


def test_newcomers_are_numbered_after_the_known_and_can_win():
    source = Means([0.0, 0.1])
    strategy = Proposing(stopping="never", elimination="none", max_steps=6)
    *_, state = race(RaceState(problem(2)), source, strategy)
    assert [len(look.configurations) for look in source.looks] == [2, 2, 4, 4, 4, 4]
    assert state.n_configurations == 4
    assert np.isnan(state.mean_losses[2:, :2]).all()
    assert not state.traces[2:, :2].any()
    assert strategy.ranking(state)[0] == 2
    again = RaceState(state.problem, state.observations, state.proposed)
    np.testing.assert_array_equal(again.active, state.active)
    assert state.until(2).n_configurations == 2


@pytest.mark.parametrize("n_sharing", [0, 3])
def test_the_last_one_is_judged_as_by_tests(monkeypatch, n_sharing):
    """Against itself there is nothing to find: the short way says the same."""

    def run():
        rows = np.array_split(np.arange(1000), 5)
        folds = tuple((np.delete(np.arange(1000), one), one) for one in rows)
        problem = Problem(3, 1000, folds={5: folds})
        strategy = Program([FoldRace(5, "folds", n_sharing=n_sharing)])
        *_, last = race(RaceState(problem), Means([0.0, 0.5, 5.0]), strategy)
        return last.observations

    short = run()
    monkeypatch.setattr(FoldRace, "_is_last", staticmethod(lambda state, look: False))
    for one, other in zip(short, run(), strict=True):
        np.testing.assert_array_equal(one.p_values, other.p_values)
        np.testing.assert_array_equal(one.top, other.top)
        assert one.drops == other.drops
    assert len(short[-1].look.configurations) == 1


def aged(state):
    """Take all that are left; a choice of the user's own."""
    return np.flatnonzero(state.active)


def test_a_program_says_what_its_stages_mean():
    """Pages about a race show sentences, not the names of reasons."""
    program = Program([SubsetLook(rows=0.2), FoldRace(n_folds=5)])
    *_, last = race(RaceState(problem(4)), Means([0.0, 0.01, 1.0, 2.0]), program)
    end = stop_sentence(program.stop_reason(last), last.n_looks, program)
    assert end == "The race ended after 6 looks: all stages are done."
    found = "a paired test found it significantly worse than the leader"
    assert reason_text(last.drop_reasons[3], program) == found


def test_a_program_shows_what_was_set_and_no_address():
    """Plans and reports show it; the same race must look the same in another run."""
    program = Program([SubsetLook(rows=0.3), FoldRace(n_folds=4, enter=aged)])
    assert repr(program) == (
        "Program(program=[SubsetLook(rows=0.3), FoldRace(n_folds=4, enter=aged)])"
    )


class SomethingElse:
    """Has one of the parts of a stage."""

    name = "else"

    def __repr__(self):
        return "SomethingElse()"


class Nameless(FoldRace):
    """A stage without two of its attributes, which are no methods."""

    def __getattribute__(self, key):
        if key in ("name", "enter"):
            raise AttributeError(key)
        return super().__getattribute__(key)

    def __repr__(self):
        return "Nameless()"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            [FoldRace(5), SomethingElse()],
            (
                r"program[1]=SomethingElse() is not a stage: it does not derive from "
                "cvst.race.Stage, and it lacks enter, judge, look, planned_looks."
            ),
        ),
        (
            ["first"],
            (
                "program[0]='first' is not a stage: it does not derive from "
                "cvst.race.Stage, and it lacks name, enter, judge, look, planned_looks."
            ),
        ),
        ([Nameless()], "program[0]=Nameless() is not a stage: it lacks name, enter."),
        ([FoldRace], "it is a class: FoldRace(...) makes an object of it."),
        (FoldRace(5), "is not a list of stages."),
    ],
)
def test_what_is_no_stage_is_told_all_that_is_missing(program, expected):
    """Before anything is fitted, and in one sentence."""
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 10.0]}, strategy=Program(program), random_state=0
    )
    with pytest.raises(InvalidInputError, match=re.escape(expected)):
        search.fit(np.zeros((60, 2)), np.zeros(60))


def test_a_program_looks_for_the_next_look_once():
    """A race asks whether there is one, and then for it."""
    asked = []

    class Watched(SubsetLook):
        def look(self, state, n_looks, members):
            asked.append(state.n_looks)
            return super().look(state, n_looks, members)

    program = Program([Watched(rows=0.2), FoldRace(n_folds=5)])
    list(race(RaceState(problem(4)), Means([0.0, 0.01, 1.0, 2.0]), program))

    assert asked == [0, 1]


def test_a_program_that_was_changed_looks_anew():
    state, program = RaceState(problem(4)), Program([SubsetLook(rows=0.2)])
    assert program.stop_reason(state) is None

    program.program = [SubsetLook(rows=0.5)]

    assert program.next_look(state).n_train == 100
    assert Program([]).stop_reason(state) == "all_stages"
    assert program.next_look(state).n_train == 100
