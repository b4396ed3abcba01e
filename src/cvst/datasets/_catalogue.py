"""Which data sets there are, how true to the paper's, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["DatasetInfo", "benchmarks", "list_datasets"]

Task = Literal["classification", "regression"]
Status = Literal["exact", "subsample", "substitute", "generated", "unavailable"]

FOLDER = "folder"
IDA = "IDA benchmark repository (Raetsch, Onoda and Mueller, 2001)"
DELVE = "Delve repository (Rasmussen et al., 1996)"
UCI_COVTYPE = "UCI covertype (Blackard and Dean, 1999)"
# A set of the same name may be another version of the data.
UNVERIFIED = (
    "OpenML has a set of this name, but whether its rows and digits are the same has "
    "not been checked yet, so it is not used."
)


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One line of the list of data sets.

    Attributes
    ----------
    name : str
        For :func:`fetch_benchmark`, or the name of a generator.
    task : {"classification", "regression"}
    n_samples : int or None
        None for generators, which make as many rows as wanted.
    n_features : int
    status : {"exact", "subsample", "substitute", "generated", "unavailable"}
        How the data relate to those of the paper. Anything but "exact" and
        "generated" should be marked in a table of results.
    source : str
        How to get the data: "folder" is ``data_home`` or ``CVST_DATA_HOME``.
    origin : str
        Source of the data.
    note : str
        What differs from the paper's data, or what else should be known.
    """

    name: str
    task: Task
    n_samples: int | None
    n_features: int
    status: Status
    source: str
    origin: str = ""
    note: str = ""
    # Of the sorted rows, see Table.checksum. Empty for what scikit-learn checks itself.
    checksum: str = field(default="", repr=False)
    why_not_online: str = field(default="", repr=False)


def _ida(
    name: str,
    shape: tuple[int, int],
    checksum: str,
    *,
    source: str = FOLDER,
    note: str = "",
    why_not_online: str = UNVERIFIED,
) -> DatasetInfo:
    return DatasetInfo(
        name,
        "classification",
        *shape,
        "exact",
        source,
        IDA,
        note,
        checksum,
        why_not_online,
    )


def _delve(
    name: str,
    shape: tuple[int, int],
    checksum: str,
    *,
    status: Status = "exact",
    note: str = "",
    why_not_online: str,
) -> DatasetInfo:
    return DatasetInfo(
        name,
        "regression",
        *shape,
        status,
        FOLDER,
        DELVE,
        note,
        checksum,
        why_not_online,
    )


def _generated(name: str, task: Task, n_features: int, origin: str) -> DatasetInfo:
    return DatasetInfo(
        name, task, None, n_features, "generated", f"cvst.datasets.{name}", origin
    )


PAPER = "Section 6.1 of the paper"
DONOHO = "Donoho and Johnstone (1994)"
BREIMAN = "Breiman (1996)"

BENCHMARKS = (
    _ida(
        "banana",
        (5300, 2),
        "cec3b04399c7847fa8d41b86e039b55c8d26693cdff626c8b064cf17990088bc",
    ),
    DatasetInfo(
        "covtype",
        "classification",
        24000,
        54,
        "subsample",
        FOLDER,
        UCI_COVTYPE,
        "SUBSAMPLE: 12,000 rows of each of the classes 1 and 2, where the paper has "
        "all 495,141 rows of which 57 % are of class 2. Five columns are constant.",
        "b2e7332e1bdd71f6fe40e60afd2670f3dd1e83b1ea4b07030e92c86f69184e54",
        "The sample is in that file only; the full set is 'covtype_full'.",
    ),
    DatasetInfo(
        "covtype_full",
        "classification",
        495141,
        54,
        "exact",
        "sklearn.datasets.fetch_covtype",
        UCI_COVTYPE,
        "All rows of the classes 1 and 2.",
    ),
    _ida(
        "german",
        (1000, 20),
        "04baea7d434787a81231fb8f147ba528a986ca3a1e56d8398fb8841f9e356e23",
        source=f"{FOLDER} or OpenML 31",
    ),
    _ida(
        "image",
        (2310, 18),
        "2658e27c513611f1d402f13120c4ea8485727db2eaa2fc69db71b1cac47e4514",
        note="Only 2086 of the 2310 feature rows are distinct.",
    ),
    _ida(
        "ringnorm",
        (7400, 20),
        "3aa0efcab2da6948c12449fa3122b76ce2bf9dab62878e5be2d217542b43b77d",
        why_not_online=f"{UNVERIFIED} make_ringnorm draws fresh rows.",
    ),
    _ida(
        "splice",
        (3175, 60),
        "e01efcded306de2d7991046ab7c55c765e5e58abc10674239983178cb1ad95aa",
        source=f"{FOLDER} or OpenML 46",
        note="Letters are coded A=1, G=2, C=3, T=4. Some rows occur twice.",
    ),
    _ida(
        "twonorm",
        (7400, 20),
        "821e5942793884ebe7eb059a7a7ef777adcf6af88278b5205630fcb05b85dc2d",
        why_not_online=f"{UNVERIFIED} make_twonorm draws fresh rows.",
    ),
    _ida(
        "waveform",
        (5000, 21),
        "ed3a79d506454ab3beaf66cd9bf8ddfb3a01f8668d2cf8b44502d81d681b714e",
        why_not_online="OpenML's waveform-5000 has 40 features instead of 21. "
        "make_waveform draws fresh rows.",
    ),
    _delve(
        "bank32nm",
        (8192, 32),
        "68f4a060068460a95331d53e69511ab62950fa4e3405c0d97667e8858296055c",
        why_not_online="OpenML's bank32nh is the variant with high noise.",
    ),
    _delve(
        "puma32nm",
        (8192, 32),
        "0f56bd0182d599e18dbaafd47a27a1af71136e9f7f911af44b5798bd665a9f54",
        note="The target is Delve's own (column 33). Copies used with Gaussian "
        "processes have the same inputs and another target; the paper does not say "
        "which it took.",
        why_not_online="OpenML's puma32H is the variant with high noise.",
    ),
    DatasetInfo(
        # Listed though it cannot be had, so that asking for it says why.
        "kin32nm",
        "regression",
        8192,
        32,
        "unavailable",
        "",
        DELVE,
        "Take 'kin32fm', 'kin8nm' or 'kin32nm_sim' as a substitute and say so.",
        why_not_online="It was found in no public repository.",
    ),
    _delve(
        "kin32fm",
        (4096, 32),
        "42a68c79ad3d360c62aee8a4ff5c904fb32804e9e501f4283441c5d1017a75a5",
        status="substitute",
        note="SUBSTITUTE for kin32nm: fairly linear instead of non-linear, half of the "
        "rows, inputs and target rescaled.",
        why_not_online="No copy on OpenML is known.",
    ),
    _delve(
        "kin8nm",
        (8192, 8),
        "20d07850db8d874ed774aa79ff721947fd912b77b089c88322a2aeeb72801fd7",
        status="substitute",
        note="SUBSTITUTE for kin32nm: 8 inputs instead of 32.",
        why_not_online=UNVERIFIED,
    ),
    DatasetInfo(
        "kin32nm_sim",
        "regression",
        8192,
        32,
        "substitute",
        FOLDER,
        "simulated arm of eight joints",
        "SUBSTITUTE for kin32nm: GENERATED by a simulation whose ranges and noise "
        "are assumptions.",
        "67a1b615af4c0a35275cf3021bc19319fe8edb998a32d1eb707ceca6fac67b6f",
        "The simulated rows are in that file only.",
    ),
)

GENERATORS = (
    _generated("make_noisy_sine", "classification", 1, PAPER),
    _generated("make_ringnorm", "classification", 20, BREIMAN),
    _generated("make_twonorm", "classification", 20, BREIMAN),
    _generated("make_waveform", "classification", 21, "Breiman et al. (1984)"),
    _generated("make_noisy_sinc", "regression", 1, PAPER),
    _generated("make_blocks", "regression", 1, DONOHO),
    _generated("make_bumps", "regression", 1, DONOHO),
    _generated("make_heavisine", "regression", 1, DONOHO),
    _generated("make_doppler", "regression", 1, DONOHO),
)


def benchmarks() -> dict[str, DatasetInfo]:
    """Return the sets that :func:`fetch_benchmark` knows, by name."""
    return {info.name: info for info in BENCHMARKS}


def list_datasets() -> list[DatasetInfo]:
    """Return one line for each data set of the paper: the real ones, then generators.

    ``pandas.DataFrame(list_datasets())`` makes a table of them.

    Examples
    --------
    >>> for info in list_datasets():
    ...     if info.status == "substitute":
    ...         print(info.name, info.task, info.n_samples, info.n_features)
    kin32fm regression 4096 32
    kin8nm regression 8192 8
    kin32nm_sim regression 8192 32
    """
    return [*BENCHMARKS, *GENERATORS]
