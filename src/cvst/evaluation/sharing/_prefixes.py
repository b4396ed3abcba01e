"""Ensembles whose first members are a smaller ensemble: one fit serves all sizes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, ClassVar, Literal

from cvst._typing import Configuration
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.sharing._alone import NotSharedError
from cvst.evaluation.sharing._grouping import (
    fitted,
    groups_by,
    is_count,
    share_or_fit_alone,
)
from cvst.evaluation.sharing._rounds import within_rounds

__all__ = ["PrefixEvaluator"]


class PrefixEvaluator(BatchEvaluator, ABC):
    """One fit of the largest ensemble; the smaller ones are its first members.

    Holds for ensembles whose members do not depend on how many follow.
    """

    size: ClassVar[str] = "n_estimators"
    # What a size of None stands for, where that is allowed.
    size_of_none: ClassVar[int | None] = None
    prefer: Literal["threads", "processes"] = "processes"

    @abstractmethod
    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield each size, in ascending order, and what an ensemble of it predicts."""

    def is_prefix(self, model: Any) -> bool:
        """Whether smaller ensembles with these parameters are prefixes of this one."""
        # An integer or a RandomState, which clones copy, gives each fit the same
        # numbers; None draws new ones, so that two fits never agree anyway.
        return all(
            value is not None
            for name, value in model.get_params(deep=True).items()
            if name.split("__")[-1] == "random_state"
        )

    def fit(self, model: Any, task: Task) -> Any:
        """Fit the largest ensemble."""
        return fitted(task, model)

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that differ in the size only."""
        return groups_by(estimator, configurations, {self.size})

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Fit the largest of each group and read off the others."""
        task = within_rounds(self, task)
        for members in self.groups(task.estimator, task.configurations):
            yield from share_or_fit_alone(task, members, self._share)

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Name the size: the largest ensemble covers the smaller ones."""
        return {self.size: "smaller"} if self.is_prefix(estimator) else {}

    def limited(
        self, estimator: Any, configuration: Configuration, rounds: int
    ) -> Configuration:
        """Return the configuration with a size of at most this many rounds."""
        given = configuration.get(self.size, getattr(estimator, self.size, None))
        size: Any = self.size_of_none if given is None else given
        # A value that is not a size fails as it does without a limit.
        if not is_count(size) or size <= rounds:
            return configuration
        return {**configuration, self.size: rounds}

    def _share(self, task: Task, members: list[int]) -> list[Outcome]:
        start = perf_counter()
        models = {
            i: configured(task.estimator, task.configurations[i]) for i in members
        }
        sizes = {i: getattr(model, self.size) for i, model in models.items()}
        members = [i for i in members if is_count(sizes[i])]
        # Other arguments of fit, such as callbacks, may look at the size.
        if not set(task.fit_params) <= {"sample_weight"}:
            raise NotSharedError("fit gets more than sample_weight")
        if len(members) < 2:
            raise NotSharedError(f"fewer than two have a valid {self.size}")
        model = models[max(members, key=sizes.__getitem__)]
        if not hasattr(model, task.response):
            raise NotSharedError(f"there is no {task.response}")
        if not self.is_prefix(model):
            raise NotSharedError(
                "with these parameters a small ensemble is not the beginning of a "
                "large one"
            )
        model = self.fit(model, task)
        return self._outcomes(model, task, {i: int(sizes[i]) for i in members}, start)

    def _outcomes(
        self, model: Any, task: Task, sizes: Mapping[int, int], start: float
    ) -> list[Outcome]:
        """Predict with the largest ensemble, begun at ``start``, for all sizes."""
        fit_end = perf_counter()
        found = dict(self.predictions(model, task, sorted(set(sizes.values()))))
        fit_seconds = (fit_end - start) / len(sizes)
        score_seconds = (perf_counter() - fit_end) / len(sizes)
        classes = getattr(model, "classes_", None)
        return [
            Outcome(number, found[size], classes, fit_seconds, score_seconds)
            for number, size in sizes.items()
        ]
