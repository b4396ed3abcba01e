"""A model: estimators by task, what they want to be fed, and a default grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cvst.cli._extras import need
from cvst.cli.models._importing import load_attribute

__all__ = ["Choice", "Model"]

Inputs = Literal["scaled", "trees"]


@dataclass(frozen=True, slots=True)
class Choice:
    """An estimator for one task, and the grid to race where the user gives none."""

    path: str
    grid: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Model:
    """What stands behind ``--model``.

    Attributes
    ----------
    name : str
        Short name or import path.
    about : str
        What it is, for ``--help``.
    classification, regression : Choice or None
        Estimators by task.
    inputs : {"scaled", "trees"}
        Numbers scaled and categories as indicators; or, for trees, numbers as they are
        and categories numbered.
    scale_target : bool
        Whether the default grid supposes a target of mean 0 and variance 1.
    numbered_classes : bool
        Whether classes must be 0, 1, 2, ...
    install : str
        Package to install, if it is not scikit-learn.
    proposes : bool
        Whether configurations are proposed while racing unless the user says what to
        try: fits are long, and many parameters matter.
    """

    name: str
    about: str
    classification: Choice | None = None
    regression: Choice | None = None
    inputs: Inputs = "scaled"
    scale_target: bool = False
    numbered_classes: bool = False
    install: str = ""
    proposes: bool = False

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the model can do."""
        names = ("classification", "regression")
        return tuple(name for name in names if getattr(self, name) is not None)

    def choice(self, task: str) -> Choice:
        """Return the estimator for a task that the model can do."""
        found = self.classification if task == "classification" else self.regression
        assert found is not None
        return found

    def estimator(self, task: str) -> Any:
        """Return an unfitted estimator."""
        choice = self.choice(task)
        # Before the import, whose error would not say what to install.
        if self.install:
            need(choice.path.split(":", 1)[0], f"--model {self.name}", self.install)
        return load_attribute(choice.path)(**choice.fixed)
