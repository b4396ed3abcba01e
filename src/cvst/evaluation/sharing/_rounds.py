"""A look may allow learners with rounds fewer of them than a configuration says."""

from __future__ import annotations

from dataclasses import replace

from cvst.evaluation._protocol import BatchEvaluator, Task

__all__ = ["within_rounds"]


def within_rounds(evaluator: BatchEvaluator, task: Task) -> Task:
    """Return the task with no configuration above the look's number of rounds."""
    if task.rounds is None:
        return task
    limited = {
        number: evaluator.limited(task.estimator, configuration, task.rounds)
        for number, configuration in task.configurations.items()
    }
    return replace(task, configurations=limited)
