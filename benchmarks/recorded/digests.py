"""Print a digest of every race of some recordings, to keep or to compare.

``python benchmarks/recorded/digests.py OLD.json.gz NEW.json.gz``: for each race the
first half of the SHA-256 of all that was recorded of it, one for each recording; null
where a recording has no such race. Names of fields are those of the time of recording.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["digest", "digests"]


def digest(outcome: Any) -> str:
    """Return the digest of what was recorded of a race."""
    text = json.dumps(outcome, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digests(paths: list[Path]) -> dict[str, list[str | None]]:
    """Return a digest for each race and recording."""
    recordings = [json.loads(gzip.decompress(path.read_bytes())) for path in paths]
    names = sorted({name for recording in recordings for name in recording})
    return {
        name: [
            digest(recording[name]) if name in recording else None
            for recording in recordings
        ]
        for name in names
    }


if __name__ == "__main__":
    print(json.dumps(digests([Path(name) for name in sys.argv[1:]]), indent=0))
