from __future__ import annotations

import json

import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst.cli.grid._grid import parameter_grids, read_grid
from cvst.exceptions import InvalidInputError

EXPECTED = {"alpha": [0.1, 1.0, 10.0], "gamma": [0.001, 2], "kernel": ["rbf", "no"]}

FILES = {
    "grid.yaml": """
        alpha: logspace(-1, 1, 3)
        gamma: [1e-3, 2]
        kernel: [rbf, no]
    """,
    "grid.json": json.dumps(
        {"alpha": "logspace(-1, 1, 3)", "gamma": [1e-3, 2], "kernel": ["rbf", "no"]}
    ),
    "grid.toml": """
        alpha = "logspace(-1, 1, 3)"
        gamma = [1e-3, 2]
        kernel = ["rbf", "no"]
    """,
}


def write(folder, name, text):
    path = folder / name
    lines = text.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    path.write_text("\n".join(line[indent:] for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", FILES)
def test_files_say_the_same_as_inline_text(name, tmp_path):
    """Three languages and the inline text give the same grid."""
    inline = read_grid("alpha=logspace(-1, 1, 3) gamma=[1e-3, 2] kernel=[rbf, no]")
    grid = read_grid(write(tmp_path, name, FILES[name]))
    for part in (*grid.parts, *inline.parts):
        assert {entry.name: entry.values for entry in part} == EXPECTED
    assert grid.n_configurations == len(ParameterGrid(EXPECTED))


def test_yaml_means_what_people_expect(tmp_path):
    """YAML 1.1 takes 1e-3 for text, and no and on for constants; people do not."""
    path = write(tmp_path, "a.yml", "a: [1e-3, 1e5, .5, -3, on, No, '1', null, True]")
    [[entry]] = read_grid(path).parts
    assert entry.values == [0.001, 1e5, 0.5, -3, "on", "No", "1", None, True]


def test_nested_lists_are_tuples(tmp_path):
    path = write(tmp_path, "a.yml", "sizes: [[50], [100, 50]]")
    [[entry]] = read_grid(path).parts
    assert entry.values == [(50,), (100, 50)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yml", "- {kernel: rbf, gamma: [1, 2]}\n- {kernel: linear}"),
        (
            "a.toml",
            '[[grid]]\nkernel = "rbf"\ngamma = [1, 2]\n[[grid]]\nkernel = "linear"',
        ),
    ],
)
def test_a_list_of_grids_is_their_union(name, text, tmp_path):
    grid = read_grid(write(tmp_path, name, text))
    expected = [{"kernel": ["rbf"], "gamma": [1, 2]}, {"kernel": ["linear"]}]
    assert parameter_grids(grid, KernelRidge(), "") == expected
    assert grid.n_configurations == len(ParameterGrid(expected)) == 3


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.yaml", "a: [1, 2", "line 1"),
        ("a.yaml", "ok: 1\na: b: c", "line 2, column 5"),
        ("a.yaml", "a: 1\na: 2", "'a' twice"),
        ("a.yaml", "? [1, 2]\n: 3", "where the name of a parameter should be"),
        ("a.yaml", "a: &x [*x]", "nested more than"),
        ("a.yaml", "", "must hold parameters"),
        ("a.yaml", "a: {b: 1}", "{'b': 1} for 'a'"),
        ("a.yaml", "a: [logspace(0, 1, 3)]", "within a list, a range needs quotes"),
        ("a.yaml", "a: logspace(0, 1)", "Parameter 'a': The grid cannot be read"),
        ("a.yaml", "a: ['uniform(0, 1)']", "cannot be part of a list"),
        ("a.yaml", "a: []", "empty list for 'a'"),
        ("a.json", '{"a": 1, "a": 2}', "'a' twice"),
        ("a.json", '{"a": [1,]}', "line 1"),
        ("a.json", "[1, 2]", "must hold parameters"),
        ("a.toml", "a = ", "not valid TOML"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(name, text, words, tmp_path):
    with pytest.raises(InvalidInputError) as caught:
        read_grid(write(tmp_path, name, text))
    assert words in str(caught.value)


def test_tags_in_yaml_construct_nothing(tmp_path):
    """A tag that would run code elsewhere is plain text here."""
    path = write(tmp_path, "a.yml", "a: !!python/object/apply:os.getcwd []")
    with pytest.raises(InvalidInputError, match="empty list"):
        read_grid(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read: No such"):
        read_grid("nowhere.yaml")


def test_names_are_found_in_the_model_first_and_then_in_the_pipeline():
    pipeline = make_pipeline(StandardScaler(), KernelRidge())
    grid = read_grid("alpha=[1] standardscaler__with_mean=[true, false]")
    [named] = parameter_grids(grid, pipeline, "kernelridge__")
    assert list(named) == ["kernelridge__alpha", "standardscaler__with_mean"]
    pipeline.set_params(**{name: values[0] for name, values in named.items()})


def test_an_unknown_name_is_pointed_at_and_the_nearest_offered():
    text = "alpha=1 gama=[1, 2]"
    with pytest.raises(InvalidInputError) as caught:
        parameter_grids(read_grid(text), KernelRidge(), "")
    message, line, caret = str(caught.value).split("\n")
    assert "Did you mean 'gamma'?" in message
    assert line[caret.index("^") :].startswith("gama")
