"""Races where people already look: MLflow, Weights & Biases, Optuna's dashboard.

Nothing here is imported by the rest of the library, and the other packages are imported
on first use only.
"""

from cvst.integrations._events import RaceListener
from cvst.integrations._mlflow import MLflowLogger
from cvst.integrations._optuna import to_optuna_study
from cvst.integrations._wandb import WandbLogger

__all__ = ["MLflowLogger", "RaceListener", "WandbLogger", "to_optuna_study"]
