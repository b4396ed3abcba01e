"""The page about the data sets says what runs; it downloads from a server here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cvst.datasets import list_datasets

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "datasets.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no pages"
)


def test_its_table_is_the_list():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and "\N{MULTIPLICATION SIGN}" in line
    ]
    listed = [info for info in list_datasets() if info.status != "generated"]
    assert [row[:3] for row in rows] == [
        [
            f"`{info.name}`",
            f"{info.n_samples} \N{MULTIPLICATION SIGN} {info.n_features}",
            info.task,
        ]
        for info in listed
    ]
    for row, info in zip(rows, listed, strict=True):
        assert row[3].split()[0] == info.status
        online = re.search(r"OpenML \d+|fetch_covtype", info.source)
        assert (online[0] in row[4]) if online else row[4] == "\N{EN DASH}"


def test_its_code_runs(german_online, capsys):
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(block, names)
    assert names["X"].shape == (1000, 1)
    assert names["german"].data.shape == (1000, 20)
    assert names["german"].status == "exact"
    assert "Origin: IDA benchmark repository" in capsys.readouterr().out
    assert german_online  # it was downloaded
