"""Workers let the system kill them first when there is no memory left.

A worker can be replaced, and what it did is done again. The search cannot, and often
holds more than each of its workers, so that the kernel would choose it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ["volunteer"]

# Thousandths of all memory that a worker seems to hold besides its own. More would make
# small workers pay for whatever else fills the machine.
HANDICAP = 300

LARGEST = 1000


def volunteer() -> None:
    """Make this process a likelier victim; on Linux, nothing elsewhere."""
    place = Path("/proc/self/oom_score_adj")
    # A system may forbid it, and the search goes on as well without.
    with suppress(OSError, ValueError):
        score = int(place.read_text(encoding="ascii"))
        place.write_text(str(min(score + HANDICAP, LARGEST)), encoding="ascii")
