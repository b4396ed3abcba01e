"""Numbers that the authors' R package computed, read once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parent.parent / "reference"


def _load(name: str) -> Any:
    path = REFERENCE / name
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="session")
def r_friedman() -> list[dict[str, Any]]:
    return _load("friedman.json.gz")


@pytest.fixture(scope="session")
def r_cochran() -> list[dict[str, Any]]:
    return _load("cochran.json.gz")


@pytest.fixture(scope="session")
def r_sequential() -> dict[str, list[dict[str, Any]]]:
    return _load("sequential.json")
