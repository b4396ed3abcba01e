"""The modules of benchmarks/paper import each other by plain names."""

from __future__ import annotations

import sys
from pathlib import Path

PAPER = Path(__file__).parents[2] / "benchmarks" / "paper"
sys.path.insert(0, str(PAPER))
