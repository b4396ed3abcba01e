"""Models for a scorer that can only be called, without a fit for each of them.

``scorer(estimator, X, y)`` gets a fitted estimator, and evaluators that share work have
predictions instead. Most such scorers ask for predictions of the rows they are given,
and for nothing else. So they get a stand-in: an object of the estimator's class that
answers this from the shared work. Asked for anything else, it is fitted alone, as ever,
and from then on it is the fitted model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, wraps
from types import new_class
from typing import Any, Literal

from cvst._typing import Configuration, IntArray
from cvst.evaluation._dispatch import are_independent, divides, limited, serves_one
from cvst.evaluation._one_by_one import OneByOne, configured
from cvst.evaluation._protocol import (
    MODEL,
    BatchEvaluator,
    FittedModel,
    Outcome,
    Task,
)
from cvst.evaluation._rows import copied_rows, guarded, is_changed, take
from cvst.evaluation._telling import tell_alone
from cvst.evaluation.sharing import Recent, failure_of, in_a_line, value_key

__all__ = ["StandIns", "seconds_of", "settle"]

RESPONSES = "predict_proba", "decision_function", "predict", "score_samples"

# Where the record of a stand-in is found, under a name that no estimator uses.
RECORD = "_cvst_stands_in_by"

# Parameters of these kinds are the same before and after a fit; a step of a pipeline is
# not.
PLAIN = (bool, int, float, str, type(None))

# Clones of the estimator that are kept from look to look.
MOST_KEPT = 1_000


@dataclass(frozen=True)
class StandIns(BatchEvaluator):
    """Hands out models that answer from shared work.

    Parameters
    ----------
    evaluator : BatchEvaluator
        Shares the work.
    """

    evaluator: BatchEvaluator

    @property
    def prefer(self) -> Literal["threads", "processes"]:
        """Whatever the evaluator prefers."""
        return self.evaluator.prefer

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Group as the evaluator does."""
        return self.evaluator.groups(estimator, configurations)

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Yield a model for each configuration; one that shares nothing is fitted."""
        task = _within_rounds(task)
        # Workers hand over one group after the other, and many are of one. To group
        # these takes as long as a part of a fit.
        groups = [[*task.configurations]]
        if len(task.configurations) > 1:
            groups = self.groups(task.estimator, task.configurations)
        for members in groups:
            together = _Together(self.evaluator, task.only(members))
            shared = len(members) > 1 or serves_one(self.evaluator, task.estimator)
            for number in members:
                model = _stand_in(together, number) if shared else None
                if model is None:
                    yield OneByOne().evaluate_one(task, number)
                else:
                    yield Outcome(number, model)

    def are_independent(self, estimator: Any, response: str) -> bool:
        """Return whether that is so for all that a scorer may ask for."""
        del response
        return all(are_independent(self.evaluator, estimator, one) for one in RESPONSES)

    def divides(self, estimator: Any, response: str) -> bool:
        """Return whether that is so for all that a scorer may ask for."""
        del response
        return all(divides(self.evaluator, estimator, one) for one in RESPONSES)


def _within_rounds(task: Task) -> Task:
    """Return the task with no configuration above the look's number of rounds."""
    if task.rounds is None:
        return task
    fewer = {
        number: limited(task.estimator, configuration, task.rounds)
        for number, configuration in task.configurations.items()
    }
    return replace(task, configurations=fewer, rounds=None)


def seconds_of(outcome: Outcome) -> tuple[float, float]:
    """Return what fitting and predicting took; models may be fitted while scored."""
    known = outcome.prediction
    spent = [outcome, *(known.record.used if isinstance(known, _Standing) else [])]
    return (
        sum(one.fit_seconds for one in spent),
        sum(one.score_seconds for one in spent),
    )


def settle(outcome: Outcome) -> None:
    """Fit a model that a scorer asked nothing of: parameters that fail must fail."""
    known = outcome.prediction
    if not isinstance(known, _Standing):
        return
    # They refer to the record, and the look's rows should go when it is over.
    known.record.methods.clear()
    if not known.record.used:
        known.record.fitted("the scorer asks the model for no prediction")


@dataclass
class _Together:
    """Configurations that share work, and their answers so far, by response."""

    evaluator: BatchEvaluator
    task: Task
    answers: dict[str, dict[int, Outcome]] = field(default_factory=dict)

    def answer(self, response: str, number: int) -> Outcome | None:
        """Return what one of them answers; None if it has to be fitted alone."""
        if response not in self.answers:
            task = replace(self.task, response=response)
            try:
                found = {
                    one.configuration: one for one in self.evaluator.evaluate(task)
                }
            except MemoryError as error:  # one at a time may fit
                reason = failure_of(error)
                tell_alone(task, reason, count=len(task.configurations))
                found = {}
            self.answers[response] = found
        known = self.answers[response].get(number)
        return None if known is None or known.error is not None else known


@dataclass
class _Record:
    """What a stand-in knows: whom it stands for, and what was asked of it."""

    together: _Together
    number: int
    unfitted: Any
    X: Any
    # The rows that are scored by themselves at the moment.
    block: Any = None
    rows: IntArray | None = None
    alone: Outcome | None = None
    used: list[Outcome] = field(default_factory=list)
    # Made once: a scorer asks for them again for each block of rows.
    methods: dict[str, Any] = field(default_factory=dict)
    # Whether the scorer changes the rows it is asked about.
    writes: bool = False

    def method(self, name: str) -> Any:
        """Return what answers for a response, in the guise of the estimator's own."""
        if name not in self.methods:
            # Raises what the estimator would, if it has no such method.
            own = getattr(self.unfitted, name)
            self.methods[name] = wraps(own)(partial(self.ask, name))
        return self.methods[name]

    def fitted(self, reason: str) -> Any:
        """Return the model of a plain fit, made on first use; or fail as it fails.

        Parameters
        ----------
        reason : str
            Why shared work does not do, for the log.
        """
        if self.alone is None:
            task = replace(self.together.task, response=MODEL)
            tell_alone(task, reason)
            self.alone = OneByOne().evaluate_one(task, self.number)
            self.used.append(self.alone)
        if self.alone.error is not None:
            raise self.alone.error
        return self.alone.prediction.model

    def is_plain_parameter(self, name: str) -> bool:
        """Return whether this is a parameter that no fit changes."""
        known = self.unfitted.get_params(deep=False)
        return name in known and isinstance(known[name], PLAIN)

    def ask(self, response: str, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer for the rows of the look, or some of them, from shared work."""
        whole = X is self.X
        known = None
        reason = f"the scorer asks for {response} of rows or with arguments of its own"
        # Arrays are read-only; what the shared work knows is not about other rows.
        self.writes |= whole and is_changed(X, self.together.task.X_test)
        own = args or kwargs or self.writes
        if not own and (whole or (X is self.block and X is not None)):
            known = self.shared(response)
            reason = f"there is no shared answer for {response}"
        if known is None:
            return getattr(self.fitted(reason), response)(X, *args, **kwargs)
        return copied_rows(known.prediction, None if whole else self.rows)

    def shared(self, response: str) -> Outcome | None:
        """Return the answer of the shared work, None if there is none."""
        outcome = self.together.answer(response, self.number)
        if outcome is not None and not any(outcome is one for one in self.used):
            self.used.append(outcome)
        return outcome

    def classes(self) -> Any:
        """Return the classes, None where only a fit would tell."""
        known = [one for one in self.used if one.classes is not None]
        first = [one for one in RESPONSES if hasattr(self.unfitted, one)]
        if not known and first:
            known = [one for one in [self.shared(first[0])] if one is not None]
        return copy(known[0].classes) if known else None


class _Standing(FittedModel):
    """A stand-in and the rows it is asked about."""

    record: _Record

    def at(self, rows: IntArray) -> FittedModel:
        """Return the model with some of the rows."""
        self.record.block, self.record.rows = take(self.X, rows), rows
        return FittedModel(self.model, self.record.block)


def _get(self: Any, name: str) -> Any:
    """Answer from what is known, or become what would know it."""
    record = _record_of(self)
    if name == "__class__":
        return object.__getattribute__(self, name)
    if name in RESPONSES:
        return record.method(name)
    if name == "__sklearn_tags__":
        return getattr(record.unfitted, name)
    if name == "classes_" and (classes := record.classes()) is not None:
        return classes
    if record.is_plain_parameter(name):
        return getattr(record.unfitted, name)
    _become_fitted(self, f"the scorer asks for {name}")
    return getattr(self, name)


def _set(self: Any, name: str, value: Any) -> None:
    _become_fitted(self, f"the scorer sets {name}")
    setattr(self, name, value)


def _delete(self: Any, name: str) -> None:
    _become_fitted(self, f"the scorer deletes {name}")
    delattr(self, name)


def _reduce(self: Any, protocol: Any) -> Any:
    _become_fitted(self, "the scorer copies the model")
    return self.__reduce_ex__(protocol)


# In the class itself and not in a base of it: an object can only change to a class of
# the same layout.
METHODS = {
    "__getattribute__": _get,
    "__setattr__": _set,
    "__delattr__": _delete,
    "__reduce_ex__": _reduce,
}


def _record_of(model: Any) -> _Record:
    record: _Record = object.__getattribute__(model, "__dict__")[RECORD]
    return record


def _become_fitted(model: Any, reason: str) -> None:
    """Turn a stand-in into the fitted model, of the same class and with all it has."""
    record = _record_of(model)
    fitted = record.fitted(reason)
    own = object.__getattribute__(model, "__dict__")
    own.clear()
    own.update(vars(fitted))
    object.__setattr__(model, "__class__", type(fitted))


@lru_cache(maxsize=64)
def _class_for(kind: Any) -> type:
    """Return a class whose objects pass for those of another one."""
    names = {
        "__slots__": (),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        **METHODS,
    }
    return new_class(kind.__name__, (kind,), exec_body=lambda own: own.update(names))


def _kind_of(model: Any) -> Any:
    return type(model)


def _unfitted(task: Task, number: int) -> Any:
    """Return a configuration's unfitted model, made once for all looks of the race.

    To clone a pipeline takes longer than to score it. Nobody changes this model.
    """
    configuration = task.configurations[number]
    make = partial(configured, task.estimator, configuration)
    rows, values = task.race_rows, list(configuration.values())
    # Anything else might be large.
    if rows is None or not all(isinstance(value, PLAIN) for value in values):
        return make()
    kept: Recent[Any] | None = rows.scratch.get(
        "stand-ins", partial(_kept, task.estimator), for_race=True
    )
    # A look may change values, such as those that follow the number of rows.
    key = number, *configuration, *map(value_key, values)
    return make() if kept is None else kept.get(key, make)


def _kept(estimator: Any) -> Recent[Any] | None:
    """Return where to keep clones; None where one may be large."""
    for value in estimator.get_params(deep=True).values():
        steps = isinstance(value, list) and all(isinstance(s, tuple) for s in value)
        if not (steps or isinstance(value, PLAIN) or hasattr(value, "get_params")):
            return None
    return Recent(MOST_KEPT, lambda _: 1)


def _stand_in(together: _Together, number: int) -> _Standing | None:
    """Return a stand-in for a configuration; None if there cannot be one."""
    task = together.task
    try:
        unfitted = _unfitted(task, number)
        model: Any = object.__new__(_class_for(_kind_of(unfitted)))
        record = _Record(together, number, unfitted, guarded(task.X_test))
        object.__getattribute__(model, "__dict__")[RECORD] = record
    except Exception as error:  # a foreign class may refuse any of this
        tell_alone(task, f"no model can stand in for a fitted one: {in_a_line(error)}")
        return None
    standing = _Standing(model, record.X)
    standing.record = record
    return standing
