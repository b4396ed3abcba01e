"""Where the pages are; without them, as in a source distribution, nothing is tested."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]

collect_ignore_glob = [] if (ROOT / "docs").exists() else ["test_*.py"]
