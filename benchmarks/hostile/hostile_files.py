"""Files that others have made: tables in every format, grids, things of other kinds."""

from __future__ import annotations

import gzip
import io
import json
from decimal import Decimal

import numpy as np

__all__ = ["CELLS", "GRID_FILES", "NAMES", "TARGET_CELLS", "damaged", "table_file"]

NAMES = [
    *("a", "b", "x y", "", "1", "a", "=cmd|' /C calc'!A0", "\x1b[31mred", "日本"),
    *("n" * 300, "a__b", "with,comma", 'q"uote', "new\nline", "Unnamed: 0", "index"),
    *("target", " ", "None", "nan", "-", "--drop", "\u202egnp", "a.b", "<b>x</b>"),
    *("ÄÖ", "e\u0301", "🙂", "y", "\\", "'", "0.5", "True", "\x00nul", "%s%n", "{0}"),
]


def _numbers(rng, n):
    return [f"{one:.3f}" for one in rng.normal(size=n)]


def _of(*values):
    return lambda rng, n: [values[i] for i in rng.integers(len(values), size=n)]


# Cells of a column, as text; Parquet gets them as numbers where they are.
CELLS = {
    "numbers": _numbers,
    "integers": lambda rng, n: [str(one) for one in rng.integers(-5, 50, n)],
    "words": _of("red", "green", "blue"),
    "flags": _of("True", "False"),
    "gaps": lambda rng, n: [
        "" if rng.random() < 0.4 else one for one in _numbers(rng, n)
    ],
    "constant": _of("7"),
    "empty": _of(""),
    "huge": _of("1e308", "-1e308", "1"),
    "beyond": _of("1e400", "9" * 400, "1"),
    "tiny": _of("5e-324", "1e-308"),
    "infinite": _of("inf", "-Infinity", "nan", "1"),
    "mixed": _of("1", "two", "", "3.5", "None"),
    "dates": _of("2024-02-29", "2023-01-01T12:00:00+02:00", "1.2.2020"),
    "formulas": _of("=1+1", "@SUM(A1)", "+1", "-1", '=HYPERLINK("x")'),
    "quotes": _of('a"b', "line\nbreak", "comma,semi;colon", "tab\tin", "'"),
    "comma decimals": _of("1,5", "2,25", "1.000,5"),
    "percent": _of("5%", "$3", "1_000", "0x1f", "1 000"),
    "ids": lambda rng, n: [f"id{one}" for one in rng.permutation(n)],
    "controls": _of("\x1b]0;owned\x07", "\x00", "\x7f", "\u202e", "\ufeff"),
    "unicode": _of("🙂", "e\u0301", "日本", "ß"),
    "long": _of("w" * 5000, "v"),
    "digits": _of("1" * 5000, "2"),
    "lists": _of("[1, 2]", "{'a': 1}"),
}

TARGET_CELLS = {
    "follows": None,  # made of the first column of numbers
    "two words": _of("yes", "no"),
    "three words": _of("a", "b", "c"),
    "counts": lambda rng, n: [str(one) for one in rng.integers(0, 3, n)],
    **{name: CELLS[name] for name in CELLS if name != "long"},
}


def _text(rng, columns, names, separator, quote, calm):
    """Return a table as text, written in one of many ways."""

    def cell(text):
        needed = any(one in text for one in (separator, '"', "\n", "\r"))
        if quote == "all" or (quote == "usual" and needed):
            return '"' + text.replace('"', '""') + '"'
        return text

    end = str(rng.choice(["\n", "\n", "\n", "\r\n", "\r"]))
    rows = [list(map(cell, row)) for row in zip(*columns, strict=True)]
    lines = [separator.join(map(cell, names))] if calm or rng.random() < 0.95 else []
    for row in rows:
        if not calm and rng.random() < 0.005:
            row = [*row, "more"] if rng.random() < 0.5 else row[:-1]
        lines.append(separator.join(row))
        if not calm and rng.random() < 0.003:
            lines.append("")
    if not calm and rng.random() < 0.03:
        lines.insert(0, "# a remark")
    return end.join(lines) + (end if rng.random() < 0.8 else "")


def _arrow(columns, names, rng, calm):
    """Return an Arrow table whose columns have types of all kinds."""
    import pyarrow as pa

    arrays = []
    for cells in columns:
        n = len(cells)
        try:
            array = pa.array([float(one) if one else None for one in cells])
        except (ValueError, OverflowError):
            array = pa.array(cells, pa.string())
        odd = {
            0: lambda n=n: pa.array([[1, 2]] * n),
            1: lambda n=n: pa.array([{"a": 1, "b": None}] * n),
            2: lambda array=array: array.cast(pa.string()).dictionary_encode(),
            3: lambda n=n: pa.array([Decimal("1.50")] * n),
            4: lambda n=n: pa.array(range(n), pa.timestamp("ns", "Europe/Berlin")),
            5: lambda n=n: pa.array(range(n), pa.duration("s")),
            6: lambda n=n: pa.array([b"\x00\xff"] * n),
            7: lambda n=n: pa.nulls(n),
            8: lambda n=n: pa.array([True, None] * n)[:n],
            9: lambda n=n: pa.array(range(n), pa.date32()),
            10: lambda n=n: pa.array([2**63] * n, pa.uint64()),
            11: lambda n=n: pa.array([2**62 + i for i in range(n)]),
            12: lambda n=n: pa.array(np.arange(n, dtype=np.float16)),
            13: lambda n=n: pa.array([float("inf"), 1.0] * n)[:n],
            14: lambda n=n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())),
            15: lambda n=n: pa.chunked_array([pa.array([1.0] * n)]),
            16: lambda n=n: pa.array(range(n), pa.time64("us")),
        }
        arrays.append(
            odd[int(rng.integers(17))]()
            if rng.random() < (0.02 if calm else 0.15)
            else array
        )
    return pa.table(arrays, names=[one.replace("\x00", "") for one in names])


def table_file(rng, columns, names, kind, separator, quote, calm):
    """Return the bytes of a table in a format, or nearly in it."""
    if kind in ("parquet", "feather", "stream"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table, sink = _arrow(columns, names, rng, calm), io.BytesIO()
        if kind == "parquet":
            pq.write_table(table, sink)
            return sink.getvalue()
        opener = pa.ipc.new_file if kind == "feather" else pa.ipc.new_stream
        with opener(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()
    text = _text(rng, columns, names, separator, quote, calm)
    codings = ["utf-8"] * (60 if calm else 12)
    codings += ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-32"]
    return text.encode(str(rng.choice(codings)), errors="replace")


def damaged(rng, content):
    """Return what is left of a file after an accident, or what it was packed into."""
    place = int(rng.integers(len(content) + 1))
    packed = gzip.compress(content)
    ways = [
        content[:place],
        content[:place] + rng.bytes(3) + content[place + 3 :],
        content + rng.bytes(20),
        b"",
        rng.bytes(200),
        packed,
        packed[: len(packed) // 2],
        packed[:-8] + rng.bytes(8),
        gzip.compress(packed),
        content.replace(b"\n", b"\n\x00"),
    ]
    return ways[int(rng.integers(len(ways)))]


_DEEP = "[" * 40 + "]" * 40

GRID_FILES = {
    "g.json": [
        *('{"P": [1, 2]}', '[{"P": [1]}, {"P": [2, 3]}]', "{}", "[]", "null", "3", ""),
        *(
            '{"P": []}',
            '{"P": 1}',
            '{"P": null}',
            '{"P": [NaN, Infinity, -1]}',
            '"P=1"',
        ),
        *('{"P": [true, "a", null, 1.5]}', '{"P": {"loguniform": [1, 2]}}', '{"P": ['),
        *('{"P": [1], "P": [2]}', '{"": [1]}', '{"nope": [1]}', '{"P": ["1"]}', "\x00"),
        *(json.dumps({"P": [10**400]}), '{"P": [1e999]}', '{"P": [[1, 2], [3]]}'),
        *(f'{{"P": {_DEEP}}}', "\ufeff{}", '{"P": "range(1, 4)"}', '[[{"P": [1]}]]'),
        *('{"P": "logspace(-2, 2, 3)"}', '{"P": "__import__(\'os\')"}', "[1, 2]"),
    ],
    "g.yaml": [
        *("P: [1, 2]", "P: logspace(-1, 1, 3)", "- P: [1]\n- P: [2]", "P:", "P", ""),
        *(
            "P: !!python/object/apply:os.getcwd []",
            "P: &a [*a]",
            "? [1]\n: 2",
            "1: [2]",
        ),
        *(
            "P: 2024-01-01",
            "P: [2024-01-01]",
            "P: .nan",
            "P: [.inf, ~]",
            "P: !!set {a}",
        ),
        *("P: !!binary aGk=", "P: [1]\nP: [2]", "a: &a [1]\nP: *a", "P: 0x10", "\t- x"),
        *(
            "--- 1\n--- 2",
            "P: 1:20:30",
            "P: [yes, no]",
            "P: |\n  text",
            "%YAML 9.9\n---\n",
        ),
        *(f"P: {_DEEP}", "P: [1, ", "{P: [1, 2]}", "null", "P: <<", "<<: {P: [1]}"),
    ],
    "g.toml": [
        *(
            "P = [1, 2]",
            "P = 'range(1, 4)'",
            "[P]",
            "[[P]]\na = 1",
            "",
            "P = 1979-05-27",
        ),
        *(
            "P = [1, 'a', true]",
            "P = nan",
            "P = [inf]",
            "P = ",
            "P.a = [1]",
            "P = {a = 1}",
        ),
        *(
            "P = 0xffffffffffffffffffff",
            "P = [1]\nP = [2]",
            "'' = [1]",
            "P = [[1], [2]]",
        ),
    ],
}
