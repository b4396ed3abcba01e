import pandas as pd

import cvst.datasets
from cvst.datasets import list_datasets

PAPER_BENCHMARKS = {
    "banana", "covtype", "german", "image", "ringnorm", "splice", "twonorm", "waveform",
    "bank32nm", "kin32nm", "puma32nm",
}  # fmt: skip


def test_every_benchmark_of_the_paper_is_listed():
    """Witness: the paper's first table; the Donoho functions are generators."""
    names = {info.name for info in list_datasets()}

    assert names >= PAPER_BENCHMARKS
    assert names >= {f"make_{n}" for n in ("blocks", "bumps", "doppler", "heavisine")}


def test_each_generator_is_importable_and_makes_what_the_list_says():
    """One row is drawn from each."""
    for info in list_datasets():
        if info.status == "generated":
            X, y = getattr(cvst.datasets, info.name)(40, random_state=0)
            assert X.shape == (40, info.n_features)
            assert (y.dtype.kind == "i") == (info.task == "classification")


def test_names_are_unique_and_substitutes_are_marked_in_their_notes():
    """A substitute must be recognisable wherever its description is printed."""
    infos = list_datasets()

    assert len({info.name for info in infos}) == len(infos)
    for info in infos:
        assert ("SUBSTITUTE" in info.note) == (info.status == "substitute")
        assert ("SUBSAMPLE" in info.note) == (info.status == "subsample")


def test_the_list_becomes_a_table():
    """As the documentation promises."""
    table = pd.DataFrame(list_datasets())

    assert {"name", "task", "n_samples", "n_features", "status", "source"} <= set(table)
