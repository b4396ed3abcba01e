"""A table of data: read from a file, and told apart from others by a checksum."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from cvst._typing import FloatArray
from cvst.exceptions import DataUnavailableError

__all__ = ["Table", "read_table"]

TARGET = "target"


@dataclass(frozen=True, slots=True)
class Table:
    """Features and target of one data set.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
    target : ndarray of shape (n_samples,)
    feature_names : tuple of str
    """

    data: FloatArray
    target: FloatArray
    feature_names: tuple[str, ...]

    def checksum(self) -> str:
        """Return the SHA-256 of the rows, whatever their order.

        Two sources of one data set list its rows in different orders, so the rows
        are sorted first. The numbers must agree to the last bit.
        """
        # Adding 0 turns -0.0 into 0.0: equal numbers must have equal bytes.
        rows = np.column_stack([self.data, self.target]).astype("<f8") + 0.0
        # lexsort takes the last key first, and rows are to be sorted by their first.
        order = np.lexsort(rows.T[::-1])
        return sha256(np.ascontiguousarray(rows[order]).tobytes()).hexdigest()


def read_table(path: Path) -> Table:
    """Read a gzip'd CSV file: a header, feature columns, then the column ``target``.

    Raises
    ------
    DataUnavailableError
        If the file is not such a table.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            names = next(lines, "").strip().split(",")
            # NumPy's reader rounds decimal fractions correctly, so that the checksum
            # is the same everywhere.
            values = np.loadtxt(lines, delimiter=",", ndmin=2, dtype=np.float64)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataUnavailableError(
            f"{path} cannot be read as a gzip'd CSV file of numbers with a header "
            f"({error}). Replace the file."
        ) from error
    # A file without a header has lost its first row to the names, which shows here.
    if names[-1] != TARGET or len(names) != values.shape[1]:
        raise DataUnavailableError(
            f"{path} has {values.shape[1]} columns of numbers and the header "
            f"{','.join(names)!r}; it needs one name per column, the last being "
            f"{TARGET!r}. Replace the file."
        )
    return Table(
        data=np.ascontiguousarray(values[:, :-1]),
        target=values[:, -1].copy(),
        feature_names=tuple(names[:-1]),
    )
