"""Where the pages are; without them, as in a source distribution, nothing is tested."""

from __future__ import annotations

import sys
from pathlib import Path

# Tests of this folder import ``docs_pages`` by its plain name.
sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).parents[2]

collect_ignore_glob = [] if (ROOT / "docs").exists() else ["test_*.py"]
