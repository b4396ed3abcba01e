"""CatBoost: one fit, all numbers of rounds.

CatBoost itself is not imported here: the evaluator serves its classes by name and calls
the methods of the models it is given.

CatBoost fills in what a user leaves open, and some of it by the number of rounds: the
learning rate, and, below 200 rounds, fewer steps for the values of the leaves and no
combinations of categories. A short run equals the beginning of a long one only where
both get the same: the learning rate must be given, and runs of fewer than 200 rounds
share a fit of their own unless the rest is given too. Where that holds, the trees are
the same and are summed in the same order: equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from time import perf_counter
from typing import Any, ClassVar, Literal

from sklearn.base import clone

from cvst._typing import Configuration
from cvst.evaluation._dispatch import serve_lazily
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import Outcome, Task
from cvst.evaluation.sharing import (
    NotSharedError,
    PrefixEvaluator,
    failure_of,
    groups_by,
    is_count,
)

__all__ = ["CatBoostRounds"]

# All names of the number of rounds; CatBoost refuses two of them at once.
ROUNDS = ("iterations", "n_estimators", "num_boost_round", "num_trees")

# With fewer rounds than this, CatBoost's other defaults are those of quick runs.
FEW_ROUNDS = 200

# What CatBoost does and prints by the way, with what a race wants instead, unless the
# user has said something about it: one thread, since workers share the cores; no files
# in the current folder; no line for each round.
IN_A_RACE: dict[str, tuple[Any, set[str]]] = {
    "thread_count": (1, {"thread_count"}),
    "allow_writing_files": (
        False,
        {
            "allow_writing_files",
            "output_borders",
            "save_snapshot",
            "snapshot_file",
            "snapshot_interval",
            "train_dir",
        },
    ),
    "logging_level": (
        "Silent",
        {"logging_level", "metric_period", "silent", "verbose", "verbose_eval"},
    ),
}

# Arguments that matter to every round alike, however many follow. Not among them are
# those that shrink the model after each round (model_shrink_rate, langevin,
# posterior_sampling, and monotone_constraints, which imply it), those that stop early
# or keep the best round, snapshots, callbacks, texts and embeddings.
KNOWN = {
    *ROUNDS,
    "allow_const_label",
    "allow_writing_files",
    "auto_class_weights",
    "bagging_temperature",
    "boost_from_average",
    "boosting_type",
    "bootstrap_type",
    "border_count",
    "cat_features",
    "class_weights",
    "colsample_bylevel",
    "depth",
    "eta",
    "feature_border_type",
    "fold_len_multiplier",
    "fold_permutation_block",
    "grow_policy",
    "has_time",
    "l2_leaf_reg",
    "leaf_estimation_iterations",
    "leaf_estimation_method",
    "learning_rate",
    "logging_level",
    "loss_function",
    "max_bin",
    "max_ctr_complexity",
    "max_depth",
    "max_leaves",
    "metric_period",
    "min_child_samples",
    "min_data_in_leaf",
    "model_size_reg",
    "mvs_reg",
    "nan_mode",
    "num_leaves",
    "objective",
    "one_hot_max_size",
    "random_seed",
    "random_state",
    "random_strength",
    "reg_lambda",
    "rsm",
    "sampling_frequency",
    "scale_pos_weight",
    "score_function",
    "silent",
    "subsample",
    "task_type",
    "thread_count",
    "train_dir",
    "verbose",
}

# Losses that take one step for the values of the leaves, whatever the number of rounds,
# and further ones that the tests compare with single fits.
ONE_STEP = {"Huber", "LogCosh", "MAE", "MAPE", "MultiClass", "Quantile", "RMSE"}
LOSSES = ONE_STEP | {"CrossEntropy", "Expectile", "Logloss", "MultiClassOneVsAll"}
LOSSES |= {"Poisson", "Tweedie"}


class CatBoostRounds(PrefixEvaluator):
    """Reads every ``iterations`` from one fit of ``CatBoostClassifier`` or its sibling.

    What CatBoost chooses by the number of rounds, what shrinks older trees and whatever
    may stop early is fitted one by one.
    """

    prefer: Literal["threads", "processes"] = "threads"
    size: ClassVar[str] = "iterations"
    size_of_none: ClassVar[int | None] = 1000

    def is_prefix(self, model: Any) -> bool:
        """Whether rounds depend on the rounds before them alone."""
        # Without a seed, CatBoost uses one of its own, always the same.
        params = _given(model.get_params(deep=False))
        return _has_rate(params) and _is_known(params)

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that differ in the rounds only and get equal defaults."""
        parts: list[list[int]] = []
        for members in groups_by(estimator, configurations, set(ROUNDS)):
            quick = [
                number
                for number in members
                if self._is_quick(estimator, configurations[number])
            ]
            parts += [quick, [number for number in members if number not in quick]]
        return [part for part in parts if part]

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Fit the longest run of each group and read off the others."""
        yield from super().evaluate(_as_in_a_race(task))

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Name the rounds by all their names, or by the one that is in use.

        A configuration may still give the learning rate, which an estimator for tuning
        seldom has. If none does, rounds are fitted one by one all the same.
        """
        params = estimator.get_params(deep=False)
        no_rate = params.get("learning_rate", 0) is None
        if no_rate or not _is_known(_given(params)):
            return {}
        in_use = [name for name in ROUNDS if params.get(name) is not None]
        return dict.fromkeys(in_use or ROUNDS, "smaller")

    def limited(
        self, estimator: Any, configuration: Configuration, rounds: int
    ) -> Configuration:
        """Return the configuration with at most this many rounds, by their name."""
        params = _merged(estimator, configuration)
        size = self._size(params)
        # A value that is not a size fails as it does without a limit.
        if not is_count(size) or size <= rounds:
            return configuration
        name = next((name for name in ROUNDS if name in params), self.size)
        return {**configuration, name: rounds}

    def fit(self, model: Any, task: Task) -> Any:
        """Fit the longest run."""
        try:
            return super().fit(model, task)
        except Exception as error:
            # About the input, like a ValueError: the fits alone will raise it again.
            if type(error).__name__ == "CatBoostError":
                raise NotSharedError(failure_of(error)) from error
            raise

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Let CatBoost predict with its first rounds, from rows that it reads once."""
        predict = getattr(model, task.response)
        n_threads = model.get_params(deep=False).get("thread_count") or -1
        make_pool = import_module(type(model).__module__).Pool
        pool = make_pool(
            task.X_test,
            cat_features=model.get_cat_feature_indices(),
            thread_count=n_threads,
        )
        for size in sizes:
            yield size, predict(pool, ntree_end=size, thread_count=n_threads)

    def _size(self, params: Mapping[str, Any]) -> Any:
        """Return the number of rounds; None for two numbers, which CatBoost refuses."""
        sizes = [params[name] for name in ROUNDS if name in params]
        if len(sizes) > 1:
            return None
        return sizes[0] if sizes else self.size_of_none

    def _is_quick(self, estimator: Any, configuration: Configuration) -> bool:
        """Whether a run gets the defaults of quick runs, and they matter."""
        params = _merged(estimator, configuration)
        size = self._size(params)
        if not is_count(size) or size >= FEW_ROUNDS:
            return False
        return not (_has_steady_leaves(estimator, params) and _has_steady_ctrs(params))

    def _share(self, task: Task, members: list[int]) -> list[Outcome]:
        start = perf_counter()
        sizes = {
            number: self._size(_merged(task.estimator, task.configurations[number]))
            for number in members
        }
        members = [number for number in members if is_count(sizes[number])]
        # Other arguments of fit, such as an evaluation set, may stop a run early.
        if not set(task.fit_params) <= {"sample_weight"}:
            raise NotSharedError("fit gets more than sample_weight")
        if len(members) < 2:
            raise NotSharedError("fewer than two have a valid number of iterations")
        longest = max(members, key=sizes.__getitem__)
        model = configured(task.estimator, task.configurations[longest])
        if not hasattr(model, task.response):
            raise NotSharedError(f"there is no {task.response}")
        if not self.is_prefix(model):
            raise NotSharedError(
                "without a learning_rate CatBoost chooses one by the iterations, and "
                "with some other parameters a short run is not the beginning of a long "
                "one"
            )
        model = self.fit(model, task)
        if model.tree_count_ != sizes[longest]:
            raise NotSharedError(
                f"{sizes[longest]} iterations ended with {model.tree_count_} trees"
            )
        return self._outcomes(model, task, {i: int(sizes[i]) for i in members}, start)


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are given: to CatBoost, None means left open."""
    return {name: value for name, value in params.items() if value is not None}


def _merged(estimator: Any, configuration: Configuration) -> dict[str, Any]:
    return _given({**estimator.get_params(deep=False), **configuration})


def _has_rate(params: Mapping[str, Any]) -> bool:
    return "learning_rate" in params or "eta" in params


def _is_known(params: Mapping[str, Any]) -> bool:
    loss = _loss(params)
    return (
        set(params) <= KNOWN
        and (loss is None or loss in LOSSES)
        and params.get("task_type", "CPU") == "CPU"
    )


def _loss(params: Mapping[str, Any]) -> str | None:
    """Return the name of the loss, None where CatBoost chooses by the targets."""
    loss = params.get("loss_function", params.get("objective"))
    return None if loss is None else str(loss).partition(":")[0]


def _has_steady_leaves(estimator: Any, params: Mapping[str, Any]) -> bool:
    if "leaf_estimation_iterations" in params:
        return True
    loss = _loss(params)
    # Asking CatBoost's tags would leave something behind in the estimator.
    if loss is None and type(estimator).__name__ == "CatBoostRegressor":
        loss = "RMSE"
    return loss in ONE_STEP and "leaf_estimation_method" not in params


def _has_steady_ctrs(params: Mapping[str, Any]) -> bool:
    return "cat_features" not in params or "max_ctr_complexity" in params


def _as_in_a_race(task: Task) -> Task:
    """Return the task with quiet fits in one thread, where the user left that open."""
    named = {name for one in task.configurations.values() for name in one}
    named |= set(task.estimator.get_params(deep=False)) | set(task.fit_params)
    quiet = {
        name: value for name, (value, others) in IN_A_RACE.items() if not named & others
    }
    return replace(task, estimator=clone(task.estimator).set_params(**quiet))


serve_lazily(
    CatBoostRounds(), "catboost.core", "CatBoostClassifier", "CatBoostRegressor"
)
