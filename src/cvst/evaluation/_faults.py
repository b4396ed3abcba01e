"""Shared work that runs out of memory is done in smaller pieces."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task, outcomes_of
from cvst.evaluation._telling import say

__all__ = ["outcomes_within_memory"]


def outcomes_within_memory(evaluator: BatchEvaluator, task: Task) -> Iterator[Outcome]:
    """Yield the outcomes of a task, in halves as small as the memory asks for.

    One configuration alone is fitted plainly; if that is too much, it has failed.
    """
    numbers = list(task.configurations)
    done: set[int] = set()
    try:
        for outcome in outcomes_of(evaluator, task):
            done.add(outcome.configuration)
            yield outcome
        return
    except MemoryError as error:
        # What came before the memory ran out is not fitted again.
        left = [number for number in numbers if number not in done]
        if not left:
            return
        what = (
            "one configuration is fitted plainly"
            if len(numbers) == 1
            else f"{len(left)} configurations that share work are fitted in smaller "
            "groups"
        )
        name = type(task.estimator).__name__
        key = name, "memory", len(numbers) == 1
        say(key, f"{name}: {what}: {error!r}", logging.WARNING)
    if len(numbers) == 1:
        yield OneByOne().evaluate_one(task, numbers[0])
        return
    middle = (len(left) + 1) // 2
    for part in (left[:middle], left[middle:]):
        if part:
            yield from outcomes_within_memory(evaluator, task.only(part))
