"""Kernels that configurations share, and kernel ridge regression on top of them.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.kernels import _ridge as _ridge

__all__: list[str] = []
