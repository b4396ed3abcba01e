"""The models behind ``--model``: short names with default grids, import paths."""

from cvst.cli.models._catalogue import MODELS, find_model
from cvst.cli.models._model import Model

__all__ = ["MODELS", "Model", "find_model"]
