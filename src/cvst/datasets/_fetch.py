"""Real benchmark data: from a folder of files, else from the network."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from cvst.datasets._catalogue import GENERATORS, DatasetInfo, benchmarks
from cvst.datasets._content import Table, read_table
from cvst.datasets._openml import DOWNLOADS
from cvst.exceptions import DataUnavailableError, InvalidInputError

__all__ = ["fetch_benchmark"]

DATA_HOME = "CVST_DATA_HOME"


def fetch_benchmark(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Return one of the paper's benchmark data sets.

    The file ``NAME.csv.gz`` is looked for in ``data_home``, or else in the folder that
    the environment variable ``CVST_DATA_HOME`` names: feature columns, then a column
    ``target``, with a header. Without it ``german``, ``splice`` and ``covtype_full``
    are downloaded by scikit-learn, which keeps them in its cache. Either way the
    content is compared with a known checksum.

    Parameters
    ----------
    name : str
        See :func:`list_datasets`.
    data_home : path, default=None
        Folder of the files, and of scikit-learn's cache.
    download_if_missing : bool, default=True
        If False, only the folder is searched.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (classes as int), ``feature_names``, ``name``,
        ``task``, ``status`` (as in :func:`list_datasets`) and ``DESCR``, which says
        if the data are a SUBSTITUTE for the paper's. The order of the rows depends
        on the source.

    Raises
    ------
    DataUnavailableError
        If the set is in none of these places or not the right one.

    Examples
    --------
    >>> fetch_benchmark("kin32nm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cvst.exceptions.DataUnavailableError: kin32nm cannot be had. It was found in no ...
    """
    info = _lookup(name)
    folder = _folder(data_home)
    path = folder / f"{name}.csv.gz" if folder is not None else None
    # A file without a known checksum could be anything.
    if info.checksum and path is not None and path.is_file():
        table = read_table(path)
        _verify(table, info, str(path))
    elif download_if_missing and name in DOWNLOADS:
        # Not the folder of the environment variable: that one is only read from.
        table = _download(info, Path(data_home) if data_home is not None else None)
        _verify(table, info, f"The copy of {name} from {info.source}")
    else:
        raise DataUnavailableError(_why_missing(info, path))
    return _bunch(table, info)


def _lookup(name: str) -> DatasetInfo:
    known = benchmarks()
    if name in known:
        return known[name]
    generator = f"make_{name}"
    if generator in {info.name for info in GENERATORS}:
        raise InvalidInputError(
            f"name={name!r} is generated, not fetched: call {generator}()."
        )
    raise InvalidInputError(f"name={name!r} must be one of {', '.join(known)}.")


def _folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    if data_home is not None:
        return Path(data_home)
    named = os.environ.get(DATA_HOME)
    return Path(named) if named else None


def _download(info: DatasetInfo, cache: Path | None) -> Table:
    try:
        return DOWNLOADS[info.name](cache)
    # What a broken network, a proxy's page or a changed file end in.
    except (OSError, ValueError, KeyError) as error:
        raise DataUnavailableError(
            f"{info.name} could not be downloaded ({info.source}; "
            f"{type(error).__name__}: {error}). Check the network, or put "
            f"{info.name}.csv.gz into a folder and name it by data_home or {DATA_HOME}."
        ) from error


def _verify(table: Table, info: DatasetInfo, place: str) -> None:
    expected = (info.n_samples, info.n_features)
    # scikit-learn has compared the checksum of covtype's own archive.
    same = not info.checksum or table.checksum() == info.checksum
    if table.data.shape != expected or not same:
        raise DataUnavailableError(
            f"{place} is not the {info.name} data: it has {table.data.shape[0]} rows "
            f"and {table.data.shape[1]} features (expected {expected[0]} and "
            f"{expected[1]}) or other numbers than the known ones. Replace it."
        )


def _why_missing(info: DatasetInfo, path: Path | None) -> str:
    if info.status == "unavailable":
        return f"{info.name} cannot be had. {info.why_not_online} {info.note}"
    if not info.checksum:
        return (
            f"{info.name} comes from {info.source} only, never from a file. "
            "Allow download_if_missing."
        )
    if path is None:
        place = f"neither data_home nor {DATA_HOME} names a folder"
    else:
        place = f"there is no file {path}"
    online = (
        "Allow download_if_missing."
        if info.name in DOWNLOADS
        else f"It cannot be downloaded: {info.why_not_online}"
    )
    return (
        f"{info.name} is not on disk: {place}. {online} Or put {info.name}.csv.gz "
        f"into a folder and name it by data_home or {DATA_HOME}."
    )


def _bunch(table: Table, info: DatasetInfo) -> Bunch:
    is_class = info.task == "classification"
    return Bunch(
        data=table.data,
        target=table.target.astype(np.intp) if is_class else table.target,
        feature_names=list(table.feature_names),
        name=info.name,
        task=info.task,
        status=info.status,
        DESCR=_describe(info),
    )


def _describe(info: DatasetInfo) -> str:
    lines = [
        f"{info.name}: {info.task}, {info.n_samples} rows, {info.n_features} features",
        f"Status: {info.status}",
        f"Origin: {info.origin}",
    ]
    return "\n".join([*lines, info.note] if info.note else lines)
