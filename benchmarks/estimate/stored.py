"""Draws on disk: a JSON object in each line, in a plain file or a gzipped one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

__all__ = ["append", "pack", "read"]


def read(path: Path) -> list[dict[str, Any]]:
    """Return all draws of a file; none where there is no file."""
    if not path.exists():
        return []
    stored = path.read_bytes()
    text = gzip.decompress(stored) if path.suffix == ".gz" else stored
    return [json.loads(line) for line in text.splitlines()]


def append(path: Path, draw: dict[str, Any]) -> None:
    """Add a draw. Each is gzipped by itself, so that a run may break off after any."""
    line = (json.dumps(draw) + "\n").encode()
    with path.open("ab") as file:
        file.write(gzip.compress(line) if path.suffix == ".gz" else line)


def pack(path: Path) -> None:
    """Gzip all draws together, which takes a quarter of the space."""
    if path.suffix != ".gz" or not path.exists():
        return
    packed = path.with_name(path.name + ".part")
    # Without a time, so that equal draws give equal files.
    packed.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), mtime=0))
    packed.replace(path)
