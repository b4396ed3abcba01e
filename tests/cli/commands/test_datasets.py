from __future__ import annotations

import json

from cvst import datasets


def test_every_set_is_listed_once_with_a_way_to_get_it(cvst):
    listed = json.loads(cvst("datasets", "--json").out)
    names = [entry["name"] for entry in listed]
    assert names == [info.name for info in datasets.list_datasets()]
    for entry in listed:
        if entry["status"] == "generated":
            assert entry["how"] == f"cvst.datasets.{entry['name']}()"
            assert hasattr(datasets, entry["name"])
        elif entry["status"] != "unavailable":
            assert entry["how"] == f"cvst.datasets.fetch_benchmark('{entry['name']}')"


def test_the_table_has_a_line_for_each_and_can_be_narrowed(cvst):
    everything = cvst("datasets").out.strip().split("\n")
    regression = cvst("datasets", "--task", "regression").out
    assert len(everything) == len(datasets.list_datasets()) + 1
    assert "classification" not in regression
    assert "puma32nm" in regression
    assert "puma32nm:" in cvst("datasets", "--notes").out
