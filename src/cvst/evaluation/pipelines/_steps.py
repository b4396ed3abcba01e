"""What a configuration makes of a pipeline: transformers in a row, then a predictor.

Pipelines inside pipelines are laid flat, so that they share step by step too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from cvst._sklearn_compat import deep_parameters, own_parameters
from cvst._typing import Configuration
from cvst._values import is_estimator
from cvst.evaluation._dispatch import covered_by_one_fit, limited
from cvst.evaluation.sharing import value_key

__all__ = ["Chain", "Chains", "Step", "covered_by_part", "limited_part", "params_of"]

# A pipeline's own parameters that change nothing in what it computes.
HARMLESS = ("memory", "verbose")


class _NotServedError(Exception):
    """The configuration needs the pipeline as it is."""


@dataclass(frozen=True, slots=True)
class Step:
    """An estimator of a pipeline and the parameters that a configuration sets on it.

    Attributes
    ----------
    path : str
        Its name, behind the names of the pipelines around it.
    template : estimator or None
        As the pipeline or the configuration has it; None for a step left out.
    changes : dict
        Parameters to set on a clone.
    memory : object
        Where the pipeline around it caches fits.
    """

    path: str
    template: Any
    changes: Configuration
    memory: Any = None


@dataclass(frozen=True, slots=True)
class _Template:
    """What is read off a step; holding on to it keeps its id from being reused."""

    template: Any
    key: Hashable
    params: dict[str, Any]
    overwriting: list[str]


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of a pipeline under one configuration, without those left out.

    Attributes
    ----------
    transformers : tuple of Step
        All but the last.
    final : Step
        The predictor.
    keys : tuple
        One per transformer: equal where the same is done to the same rows.
    final_key : object
        Equal for predictors that differ in their changes only.
    """

    transformers: tuple[Step, ...]
    final: Step
    keys: tuple[Hashable, ...]
    final_key: Hashable

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them, in order."""
        return (*self.transformers, self.final)


class Chains:
    """Takes a pipeline apart, configuration by configuration.

    What is read off a pipeline or a step is kept: all configurations refer to a few.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._names: dict[int, tuple[Pipeline, list[str]]] = {}
        self._templates: dict[int, _Template] = {}

    def of(self, configuration: Configuration) -> Chain | None:
        """Return the steps under a configuration; None if only the pipeline will do.

        So it is for steps that do not fit together, too: the pipeline then says why.
        """
        try:
            return self._chain(configuration)
        except (_NotServedError, AttributeError, TypeError, ValueError):
            return None

    def _chain(self, configuration: Configuration) -> Chain | None:
        *before, final = self._flat(self.pipeline, configuration, "")
        transformers = tuple(step for step in before if step.template is not None)
        if not hasattr(final.template, "fit"):
            return None
        if not all(map(_is_transformer, transformers)):
            return None
        if any(map(self._overwrites_input, (*transformers, final))):
            return None
        keys = tuple(map(self._key, transformers))
        return Chain(transformers, final, keys, self._read(final.template).key)

    def _flat(
        self, pipeline: Pipeline, changes: Configuration, prefix: str
    ) -> list[Step]:
        names = self._names_of(pipeline)
        heads = {name.partition("__")[0] for name in changes if name not in HARMLESS}
        if not heads.issubset(names):
            raise _NotServedError
        memory = changes.get("memory", pipeline.memory)
        flat: list[Step] = []
        for name, step in pipeline.steps:
            template = changes.get(name, step)
            inner = _below(changes, name)
            path = prefix + name
            if template is None or isinstance(template, str):
                # Parameters of a step that is left out are an error, in the pipeline's
                # own words.
                if inner or template not in (None, "passthrough"):
                    raise _NotServedError
                flat.append(Step(path, None, inner))
            # A subclass may do more than one step after the other.
            elif type(template) is Pipeline:
                flat.extend(self._flat(template, inner, f"{path}__"))
            else:
                flat.append(Step(path, template, inner, memory))
        return flat

    def _names_of(self, pipeline: Pipeline) -> list[str]:
        if id(pipeline) not in self._names:
            self._names[id(pipeline)] = pipeline, _checked_names(pipeline)
        return self._names[id(pipeline)][1]

    def _read(self, template: Any) -> _Template:
        if id(template) not in self._templates:
            if not is_estimator(template):
                raise _NotServedError
            params = deep_parameters(template)
            self._templates[id(template)] = _Template(
                template, value_key(template), params, _overwriting(params)
            )
        return self._templates[id(template)]

    def _key(self, step: Step) -> Hashable:
        template = self._read(step.template)
        # A grid that spells out a default shares with one that does not.
        effective = [
            (name, value_key(value))
            for name, value in sorted(step.changes.items())
            if not _is_set_already(name, value, template.params, step.changes)
        ]
        return template.key, tuple(effective)

    def _overwrites_input(self, step: Step) -> bool:
        template, changes = self._read(step.template), step.changes
        return any(name not in changes for name in template.overwriting) or bool(
            _overwriting(changes)
        )


def _checked_names(pipeline: Pipeline) -> list[str]:
    own = own_parameters(pipeline)
    # transform_input sends more than X through the steps; a stage holds X only.
    if pipeline.transform_input is not None or not isinstance(pipeline.steps, list):
        raise _NotServedError
    try:
        names = [name for name, _ in pipeline.steps]
    except (TypeError, ValueError):
        raise _NotServedError from None
    if not names or len(set(names)) < len(names):
        raise _NotServedError
    # scikit-learn refuses such names when it fits.
    if any(name in own or "__" in name for name in names):
        raise _NotServedError
    return names


def _below(changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    start = f"{name}__"
    return {k.removeprefix(start): v for k, v in changes.items() if k.startswith(start)}


def _overwriting(params: Mapping[str, Any]) -> list[str]:
    # With copy=False (or copy_X, copy_x) a fit may write into rows that others share.
    return [
        name
        for name, value in params.items()
        if value is False and name.endswith(("copy", "copy_X", "copy_x"))
    ]


def _is_transformer(step: Step) -> bool:
    template = step.template
    fits = hasattr(template, "fit") or hasattr(template, "fit_transform")
    return fits and hasattr(template, "transform")


def _is_set_already(
    name: str, value: Any, params: Mapping[str, Any], changes: Mapping[str, Any]
) -> bool:
    head, *rest = name.split("__")
    for part in rest:
        if head in changes:
            return False  # it will be set on another object than the template's
        head = f"{head}__{part}"
    return name in params and value_key(params[name]) == value_key(value)


def params_of(
    fit_params: Mapping[str, Any], steps: Sequence[Step]
) -> list[dict[str, Any]] | None:
    """Return the arguments of each step's ``fit``; None if some belong to no step."""
    shares = [_below(fit_params, step.path) for step in steps]
    return shares if sum(map(len, shares)) == len(fit_params) else None


def covered_by_part(name: str, part: Any) -> dict[str, str]:
    """Return what one fit covers in a part, by the names that the whole gives it."""
    if not hasattr(part, "fit"):
        return {}
    inner = covered_by_one_fit(part)
    return {f"{name}__{parameter}": how for parameter, how in inner.items()}


def limited_part(
    name: str, part: Any, configuration: Configuration, rounds: int
) -> Configuration:
    """Return a configuration of the whole with limited rounds in a part."""
    part = configuration.get(name, part)
    if not hasattr(part, "fit"):
        return configuration
    inner = limited(part, _below(configuration, name), rounds)
    return {**configuration, **{f"{name}__{key}": inner[key] for key in inner}}
