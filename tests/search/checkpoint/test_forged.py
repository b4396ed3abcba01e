"""Files with good checksums and values that no search writes."""

from __future__ import annotations

import json
import struct

import pytest

from cvst import RaceGridSearchCV
from cvst.exceptions import CheckpointError
from cvst.race import CVST, RaceState
from cvst.search.checkpoint._records import Reading, Writer, first_line, read_records

from .conftest import Told, exact_result

GRID = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 20]}


def search(path, **options):
    options = {"random_state": 0, "max_looks": 3, "checkpoint": path, **options}
    return RaceGridSearchCV(Told(), GRID, **options)


@pytest.fixture
def broken_off(tmp_path, rows, fits):
    """Return records of a race: one look is over, and another under way."""
    path = tmp_path / "whole"

    def stop():
        raise KeyboardInterrupt

    fits.at[10] = stop
    with pytest.raises(KeyboardInterrupt):
        search(path, on_interrupt="raise").fit(*rows)
    records = list(read_records(path, Reading()))
    # Groups of the look that is over are of no use.
    over = [one.kind for one in records].index("looks")
    records = [*records[:2], *records[over:]]
    assert [one.kind for one in records][1:4] == ["begin", "looks", "groups"]
    return [(one.kind, one.fields, one.arrays) for one in records]


def write(path, records):
    writer, parts = Writer(), [first_line()]
    for kind, fields, arrays in records:
        sizes = [len(one) for one in arrays]
        told = json.dumps({"kind": kind, "fields": fields, "bytes": sizes}).encode()
        parts += writer.framed([struct.pack("<I", len(told)), told, *arrays])
    path.write_bytes(b"".join(parts))
    return path


def forge(records, place, value):
    kind, *steps, last = place
    target = next(fields for one, fields, _ in records if one == kind)
    for step in steps:
        target = target[step]
    if value is None:
        del target[last]
    else:
        target[last] = value


SEEN, LOOK = ("looks", "looks", 0, "seen"), ("looks", "looks", 0, "look")
DONE = ("groups", "outcomes", 0)

FORGED = [
    (("begin", "problem"), 1),
    (("begin", "problem", "constant_loss"), None),
    (("begin", "problem", "seconds"), "x"),
    (("begin", "strategy"), 1),
    (("begin", "spent"), {"$float": "nan"}),
    (("begin", "spent"), None),
    (("begin", "budget"), {}),
    (("begin", "budget"), {"in_turn": [99]}),
    (("begin", "budget"), {"in_turn": ["x"]}),
    (("begin", "budget"), {"raced": [], "left_out": [], "strategy": "", "model": {}}),
    (("begin", "budget"), {"raced": [99], "left_out": [], "strategy": "", "model": {}}),
    (("begin", "budget"), {"raced": [1], "left_out": [1], "strategy": "", "model": {}}),
    ((*LOOK, "n_train"), "x"),
    ((*LOOK, "n_train"), 10**6),
    ((*LOOK, "fold"), {}),
    ((*LOOK, "is_fold"), "x"),
    ((*LOOK, "stage"), {"$map": []}),
    ((*LOOK, "configurations"), 3),
    ((*LOOK, "train"), {"$slice": [0, 10**12, 1]}),
    ((*LOOK, "train"), {"$slice": ["a", None, None]}),
    ((*LOOK, "test"), {"$slice": [0, 2, 1]}),
    ((*LOOK, "test", "rows"), 0),
    ((*LOOK, "test", "rows", "dtype"), "<f8"),
    ((*SEEN, "elapsed"), []),
    ((*SEEN, "seconds"), {"$int": "0x" + "f" * 5000}),
    ((*SEEN, "mean_losses"), [1, 2, 3]),
    ((*SEEN, "top"), 1e308),
    ((*SEEN, "scores"), {}),
    ((*SEEN, "kept"), [1]),
    ((*SEEN, "losses"), None),
    ((*SEEN, "drops"), {"$map": [[2**70, "x"]]}),
    ((*SEEN, "drops"), {"$map": [[99, "x"]]}),
    ((*SEEN, "drops"), {"$map": [[True, "x"]]}),
    ((*SEEN, "failures"), {"$map": [[99, "x"]]}),
    ((*SEEN, "failures"), {"$map": [[0, 5]]}),
    ((*SEEN, "other_scores"), 1),
    (("looks", "looks", 0, "joined"), 1),
    ((*DONE, "configuration"), -1),
    ((*DONE, "configuration"), 99),
    ((*DONE, "configuration"), {"$tuple": []}),
    ((*DONE, "losses"), {}),
    ((*DONE, "losses", "shape"), [2, 30]),
    ((*DONE, "score"), "x"),
    ((*DONE, "fit_seconds"), [1, 2]),
    ((*DONE, "score_seconds"), {"$slice": ["a", None, None]}),
    ((*DONE, "others"), True),
    ((*DONE, "others"), {"b": {}}),
    ((*DONE, "reason"), 5),
    ((*DONE, "more"), 5),
    (("groups", "look"), 2**70),
    (("groups", "joined"), 1),
    (("groups", "outcomes"), 1),
]


@pytest.mark.parametrize(("place", "value"), FORGED, ids=str)
def test_a_search_does_not_go_on_from_forged_values(
    place, value, broken_off, tmp_path, rows
):
    """Each is one sentence that names the file, before anything is fitted."""
    forge(broken_off, place, value)
    path = write(tmp_path / "forged", broken_off)
    with pytest.raises(CheckpointError, match=f"^'{path}' .* Name another file"):
        search(path).fit(*rows)


def test_a_file_that_is_written_anew_is_taken(broken_off, tmp_path, rows):
    """The witness of the others: it is the values that are refused."""
    path = write(tmp_path / "same", broken_off)
    went_on = exact_result(search(path).fit(*rows), rows[0])
    assert went_on == exact_result(search(None).fit(*rows), rows[0])


# What happens before the look of that number. Not in the class: a search does not go on
# with another one.
ERRORS = {}


class Failing(CVST):
    """Raises where a race goes on, or later."""

    def next_look(self, state: RaceState):
        if state.n_looks in ERRORS:
            raise ERRORS[state.n_looks]
        return super().next_look(state)


@pytest.mark.parametrize(("at", "kind"), [(1, CheckpointError), (2, IndexError)])
def test_only_the_first_decision_is_doubted(at, kind, tmp_path, rows, monkeypatch):
    path = tmp_path / "race"
    options = {"strategy": Failing(), "on_interrupt": "raise"}
    monkeypatch.setitem(ERRORS, 1, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        search(path, **options).fit(*rows)
    monkeypatch.delitem(ERRORS, 1)
    monkeypatch.setitem(ERRORS, at, IndexError("not there"))
    with pytest.raises(kind, match="not there"):
        search(path, **options).fit(*rows)
