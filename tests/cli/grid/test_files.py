"""Keys of many parts in TOML: the parser takes the square of the time for them."""

from __future__ import annotations

import tomllib

import pytest

from cvst.cli.grid import _files
from cvst.exceptions import InvalidInputError

LONG = ".".join("a" * 21)
QUOTED = " . ".join(['"a.b"', "'c'", "d-1"] * 7)
DOTS = ".".join("a" * 50)


def written(folder, text):
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"x = 1\n[ {LONG} ]",
        f"x = [{{y = 1}}, {{{QUOTED} = 1}}]",
        f'x = """""""\n{LONG} = 1',
        f"x = ''''''\n{LONG} = 1",
        f'x = "\\"" # "\n{LONG} = 1',
        f"x = '\\'\n{LONG} = 1",
    ],
)
def test_a_long_key_is_refused_before_it_is_parsed(text, tmp_path, monkeypatch):
    """One of 20,000 parts takes five seconds."""
    assert tomllib.loads(text)
    monkeypatch.delattr(tomllib, "loads")
    with pytest.raises(InvalidInputError, match="nested more than 20 deep"):
        _files.load_file(written(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        f'x = "{DOTS}"',
        f"x = '{DOTS}'",
        f'x = """\n{DOTS}"" {DOTS}\\"\n{DOTS}"""',
        f"x = '''\n{DOTS}'' {DOTS}\n{DOTS}'''",
        f"# {DOTS}\nx = 1 # '{DOTS}",
        f"x = [{'0.5, ' * 50}]",
        f"{'.'.join('a' * 20)} = 1",
    ],
)
def test_other_dots_are_let_through(text, tmp_path):
    assert _files.load_file(written(tmp_path, text)) == tomllib.loads(text)


@pytest.mark.parametrize("text", ['"', '\\"', "\"'", '"\n', "a ", " "])
def test_to_look_for_long_keys_takes_no_square_of_the_time(text):
    """In 200,000 characters that would be minutes."""
    assert not any(
        token["deep"] for token in _files.TOML_TOKEN.finditer(f"x = {text * 100_000}")
    )
