"""The house rules that no linter checks, and the page that describes the house."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import cvst
from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst._searched import FittedSearch, Search
from cvst.race import Strategy

SOURCE = Path(cvst.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "developer" / "architecture.md"

with_page = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no pages"
)


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """Yield (module, name) of every import of a file; the name of a module is empty."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def calls(path):
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))


def called(call):
    """Return the last name of what is called."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def outside_race():
    return [path for path in MODULES if not path.is_relative_to(SOURCE / "race")]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_says_what_is_inside(path):
    """Every module has a docstring."""
    assert ast.get_docstring(tree_of(path))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_about_one_idea(path):
    """No module is longer than 500 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_private_modules_stay_inside_their_package(path):
    """Another package's underscore modules are never imported."""
    own = path.relative_to(SOURCE).parts[:-1]
    for module, _ in imported(path):
        parts = module.split(".")
        if parts[0] != "cvst" or len(parts) < 3 or not parts[2].startswith("_"):
            continue
        assert own[:1] == (parts[1],), f"{name_of(path)} imports {module}"


def test_private_names_of_scikit_learn_are_in_one_module():
    """They change without notice, and then there is one place to mend."""
    users = {
        name_of(path)
        for path in MODULES
        for module, name in imported(path)
        if module.split(".")[0] == "sklearn"
        and any(part.startswith("_") for part in (*module.split("."), name))
    }
    assert users == {"_sklearn_compat.py"}


def test_private_attributes_of_scikit_learn_are_in_one_module():
    """Those that are asked for without being imported."""
    asked = r"BaseSearchCV\._|\._validate_params\(|scorer, \"_"
    users = {
        name_of(path)
        for path in MODULES
        if re.search(asked, path.read_text(encoding="utf-8"))
    }
    assert users == {"_sklearn_compat.py"}


def test_dask_and_ray_have_their_modules():
    users: dict[str, set[str]] = {}
    for path in MODULES:
        for module, _ in imported(path):
            users.setdefault(module.split(".")[0], set()).add(name_of(path))
    engines = {"parallel/_dask.py", "evaluation/_on_dask.py"}
    assert users["dask"] | users["distributed"] == engines
    assert users["ray"] == {"parallel/_ray.py"}


def test_joblib_is_in_one_package():
    users = {
        name_of(path)
        for path in MODULES
        for module, _ in imported(path)
        if module.split(".")[0] == "joblib"
    }
    assert {user.split("/")[0] for user in users} == {"parallel"}


def test_there_is_one_loop():
    """A fit consumes ``race()`` in one place, and the loop alone asks for verdicts."""
    loops = [
        name_of(path)
        for path in outside_race()
        if ("cvst.race", "race") in imported(path)
        for call in calls(path)
        if called(call) == "race"
    ]
    assert loops == ["search/_base.py"]
    # The forests of the proposals judge points, not looks.
    machinery = [path for path in outside_race() if "proposals" not in path.parts]
    judges = [
        name_of(path)
        for path in machinery
        for call in calls(path)
        if called(call) == "judge"
    ]
    assert judges == []


def strategy_classes(base=Strategy):
    """Return the names of a class and of all that derive from it in the library."""
    below = (name for one in base.__subclasses__() for name in strategy_classes(one))
    own = {base.__name__} if base.__module__.startswith("cvst.") else set()
    return own.union(*({name} for name in below))


def is_probe(call):
    """Return whether a call examines a strategy instead of asking it."""
    if called(call) not in {"isinstance", "hasattr", "getattr", "issubclass"}:
        return False
    subject, *rest = (ast.unparse(argument) for argument in call.args)
    # A strategy may be given by its name, which is not a probe of an object.
    if rest == ["str"]:
        return False
    words = set(re.findall(r"\w+", " ".join(rest)))
    return bool(
        re.search(r"strateg|decider|\bstage\b", subject) or words & strategy_classes()
    )


def test_strategies_are_asked_not_examined():
    """Only the user's argument is looked at, in one function."""
    probes = {
        (name_of(path), function.name)
        for path in outside_race()
        for function in ast.walk(tree_of(path))
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and is_probe(call)
    }
    assert probes == {("search/_setup.py", "resolve_strategy")}


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(setup.strategy, CVST)",
        "hasattr(strategy, 'window')",
        "getattr(search.strategy_, 'level', None)",
        "isinstance(one, TrackAndConfirm | CVST)",
    ],
)
def test_probes_are_seen(text):
    assert is_probe(ast.parse(text).body[0].value)


# Names of the stages of our strategies that say nothing else.
STAGES = {
    *("first look", "late look", "confirm", "climb", "final", "folds", "subset"),
    "screen",
}


def texts_in(nodes):
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def guesses_by_stage(tree):
    """Yield what is decided by the name of a stage, as text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = texts_in(inner for side in sides for inner in ast.walk(side))
            of_stage = any(
                isinstance(inner, ast.Attribute) and inner.attr == "stage"
                for side in sides
                for inner in ast.walk(side)
            )
            if STAGES & set(names) or (of_stage and any(names)):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and texts_in(node.args):
            owner = getattr(node.func, "value", None)
            if isinstance(owner, ast.Attribute) and owner.attr == "stage":
                yield ast.unparse(node)
        elif isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple):
            inside = node.keys if isinstance(node, ast.Dict) else node.elts
            if len(STAGES & set(texts_in(inside))) > 1:
                yield ast.unparse(node)


def test_strategies_are_not_known_by_the_names_of_their_stages():
    """Those are for people: a strategy of one's own may use the same."""
    found = {
        (name_of(path), text)
        for path in outside_race()
        for text in guesses_by_stage(tree_of(path))
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    [
        "any(x.stage != 'folds' for x in plan.looks)",
        "look.stage.startswith('climb')",
        "look.stage == 'my own'",
        "name == 'confirm'",
        "known = {'late look': (0.55,), 'final': (1.0,)}",
        "stage in ('confirm', 'final')",
    ],
)
def test_guesses_by_the_name_of_a_stage_are_seen(text):
    assert list(guesses_by_stage(ast.parse(text)))


def annotations(path):
    """Yield the names of arguments and fields with the text of their types."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield node.arg, ast.unparse(node.annotation)
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target), ast.unparse(node.annotation)


def test_searches_have_a_type():
    """What is asked of a search is written down (cvst/_searched.py)."""
    typed = [
        (name_of(path), text)
        for path in MODULES
        for name, text in annotations(path)
        if name == "search"
    ]
    assert len(typed) > 30
    assert [where for where, text in typed if text == "Any"] == []


def members(protocol):
    return {
        name
        for one in protocol.__mro__
        if one.__module__ == protocol.__module__
        for name in vars(one)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("kind", [RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV])
def test_a_search_has_what_is_asked_of_it(kind):
    """The types of scikit-learn are unknown, so that mypy cannot see it."""
    more = {} if kind is RaceGridSearchCV else {"n_iter": 2}
    space = {"max_depth": [1, 2]}
    search = kind(DecisionTreeRegressor(), space, random_state=0, **more)
    for name in members(Search):
        assert hasattr(search, name), name
    X = np.random.default_rng(0).normal(size=(60, 2))
    search.fit(X, X[:, 0])
    assert len(members(FittedSearch)) > 12
    for name in members(FittedSearch):
        assert hasattr(search, name), name


def defined(path):
    """Yield names of classes, functions, arguments and variables of a file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_names_explain_themselves():
    """Those that readers have stumbled over do not come back."""
    odd = {
        *("_covered", "_returning", "_contrast", "_agreement", "_transformed"),
        *("Whole", "Wishes", "_Whole", "KernelRooms", "_Patience", "few", "wide"),
    }
    found = [
        (name_of(path), name)
        for path in MODULES
        for name in (path.stem, *defined(path))
        if name in odd
    ]
    assert found == []


def test_looks_are_called_looks():
    """Steps are those of CVST; in other rooms they are parts of a pipeline."""
    paper = {"_cvst", "_growing_steps", "_schedule", "_rules"}
    found = {
        (name_of(path), name)
        for package in ("race", "search", "report", "integrations")
        for path in (SOURCE / package).rglob("*.py")
        if path.stem not in paper
        for name in defined(path)
        if re.search("step", name, flags=re.IGNORECASE)
    }
    assert found == {
        # Between rungs; of a parameter; of a derivative; of a pipeline; through bytes.
        ("race/_proposal_times.py", "steps"),
        ("report/_advice.py", "step"),
        ("search/_ensemble.py", "step"),
        ("search/_scoring_checks.py", "_last_step"),
        ("search/checkpoint/_digest.py", "step"),
    }


# What users of other libraries call it may be said where these are spoken of.
PHRASES = {
    "configuration": r"\b(?<!best-)(?<!n_)candidates?\b",
    "is dropped": r"\b[Ww]ho falls\b",
    "all configurations": r"Everybody's",
    "is not one": r"\b(it|what) is none\b(?! of)",
    "is not a": r"(?<!there )\b(is|are) no "
    r"(function|mean|number|shape|fit|look|end|texts?|whole)\b",
    "this many": r"\bso many\b(?! that)",
    "this much, this long": r"\b[Ss]o (much|long|often)\b(?! that| as)",
    "depends on": r"\bhangs? on\b",
    "cannot be read": r"no telling of",
    "if every fit fails": r"[Nn]obody can be|[Ee]verybody goes",
    "has no name": r"deserves no",
}


def texts():
    """Return what readers read: the library and its pages."""
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("changelog.d/*.md"),
        *ROOT.glob("examples/**/*.py"),
        *(SOURCE / "report" / "templates").iterdir(),
    ]
    # Made by the build of the pages, the second from the fragments of the changelog.
    made = {"_build", "_unreleased.md"}
    return [*MODULES, *(path for path in pages if not made & set(path.parts))]


@pytest.mark.parametrize("instead", PHRASES)
def test_words_are_ours(instead):
    """Each pattern is a word or phrase that was rewritten everywhere."""
    found = [
        (path.name, number, line.strip())
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(PHRASES[instead], line)
    ]
    assert found == []


def foreign_writes(path):
    """Yield statements that write to an attribute of anything but ``self``."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and called(node) in {"setattr", "__setattr__"}:
            if ast.unparse(node.args[0]) != "self":
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            owner = ast.unparse(node.value)
            # An array that is made read-only is about to be handed out.
            if owner != "self" and not owner.endswith(".flags"):
                yield ast.unparse(node)
        elif table := written_table(node):
            yield table


def written_table(node):
    """Return the attributes of another object that a statement writes to as a table."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        table = node.func.value if node.func.attr in {"update", "setdefault"} else None
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        table = node.value
    else:
        return None
    text = "" if table is None else ast.unparse(table)
    is_table = text.startswith("vars(") or text.endswith("__dict__")
    return text if is_table and "self" not in text else None


# Objects that the same function has just made.
JUST_MADE = {
    ("race/_families.py", "vars(other)"),
    ("race/_relay.py", "vars(legs)"),
    ("race/_state.py", "vars(state)"),
}


@pytest.mark.parametrize("package", ["race", "search"])
def test_nothing_writes_to_another_object(package):
    """Values are replaced, not changed."""
    writes = [
        (name_of(path), text)
        for path in (SOURCE / package).rglob("*.py")
        for text in foreign_writes(path)
    ]
    allowed = {place for place in JUST_MADE if place[0].startswith(f"{package}/")}
    assert set(writes) == allowed


def test_writing_to_the_attributes_of_another_object_is_seen(tmp_path):
    own = "vars(self)['x'] = vars(one)['x']"
    others = "one.x = 1", "vars(one)['x'] = 1", "one.__dict__.update(x=1)"
    for number, line in enumerate([own, *others]):
        path = tmp_path / f"module{number}.py"
        path.write_text(line, encoding="utf-8")
        assert bool(list(foreign_writes(path))) == (line != own), line


@pytest.mark.parametrize(
    "where",
    [
        "race.Problem",
        "race.Look",
        "race.LookLosses",
        "race.Verdict",
        "race.Observation",
        "race.RaceState",
        "race.PlannedLook",
        "race.Prospect",
        "race.SubsetLook",
        "race.FoldRace",
        "race.GrowingSteps",
        "race.AtMost",
        "search._setup.Setup",
        "search._options.SearchOptions",
    ],
)
def test_values_are_frozen(where):
    module, name = where.rsplit(".", 1)
    value = getattr(importlib.import_module(f"cvst.{module}"), name)
    assert dataclasses.is_dataclass(value)
    assert value.__dataclass_params__.frozen


# The page ---------------------------------------------------------------------------


def drawings():
    """Return the drawn floors by package: a list of lines, each a set of rooms."""
    text = PAGE.read_text(encoding="utf-8")
    drawn = {}
    for block in re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL):
        package, *lines = block.strip().splitlines()
        drawn[package] = [
            set(re.split(r"\s{2,}", line)[0].split(" | ")) for line in lines
        ]
    return drawn


def contracts():
    """Return the floors that import-linter checks, likewise."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        contract["containers"][0]: [
            set(layer.split(" | ")) for layer in contract["layers"]
        ]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    }


@with_page
def test_floors_are_drawn_as_they_are_checked():
    """Each drawing is a contract, and each contract has a drawing."""
    assert drawings() == contracts()


@with_page
def test_every_room_is_drawn():
    """A package stands in the drawing of the package that holds it."""
    drawn = {
        f"{package}.{room}"
        for package, floors in drawings().items()
        for floor in floors
        for room in floor
    }
    rooms = {
        ".".join(path.parent.relative_to(SOURCE.parent).parts)
        for path in SOURCE.rglob("__init__.py")
    }
    # The suggested spaces by family; the guest of the support vector machines; scores
    # of all rows together.
    small = {
        "cvst",
        "cvst.spaces._families",
        "cvst.evaluation.svm.compiled",
        "cvst.evaluation.losses.influence",
    }
    assert rooms - drawn == small


@with_page
def test_named_types_are_where_the_page_says():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", text, flags=re.MULTILINE)
    assert len(rows) > 15
    for name, package in rows:
        assert name in importlib.import_module(f"cvst.{package}").__all__, name


@with_page
def test_named_files_exist():
    text = PAGE.read_text(encoding="utf-8")
    files = re.findall(r"`([\w/]+\.py)`", text)
    assert len(files) > 10
    for name in files:
        assert (SOURCE / name).exists() or (ROOT / name).exists(), name


@with_page
def test_named_tests_exist():
    """Each rule that keeps results the same is held by a test."""
    names = re.findall(r"\| `(test_\w+)` \|", PAGE.read_text(encoding="utf-8"))
    assert len(names) == 10
    tests = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    for name in names:
        assert f"def {name}(" in tests, name


@with_page
def test_mathematics_is_what_the_page_says():
    """The contract forbids what the page rules out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["name"] == "Mathematics knows no machinery"
    ]
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    [sentence] = re.findall(r"- ([^.]*know nothing of[^.]*)\.", text)
    packages = {f"cvst.{name}" for name in re.findall(r"`(\w+)`", sentence)}
    libraries = re.split(r", | or ", sentence.split("know nothing of ")[1])
    known = {"scikit-learn": "sklearn"}
    assert packages == set(contract["source_modules"])
    assert {known.get(name, name) for name in libraries} == set(
        contract["forbidden_modules"]
    )


# Its imports in numbers --------------------------------------------------------------


def test_rooms_floors_and_arrows_are_counted():
    """By hand: two rooms, one of them a package, and an arrow that two imports make."""
    grimp = pytest.importorskip("grimp")
    script = ROOT / "benchmarks" / "imports_in_numbers.py"
    spec = importlib.util.spec_from_file_location("imports_in_numbers", script)
    counting = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(counting)
    graph = grimp.ImportGraph()
    for module in ("house", "house.top", "house.low", "house.low.a", "house.low.b"):
        graph.add_module(module)
    for imported in ("house.low.a", "house.low.b"):
        graph.add_import(importer="house.top", imported=imported)
    graph.add_import(importer="house.low.a", imported="house.low.b")

    counted = counting.count(graph, "house")

    assert counted == {"modules": 4, "rooms": 2, "floors": 2, "arrows": 1}
    graph.add_import(importer="house.low.b", imported="house.top")
    assert counting.count(graph, "house")["floors"] == 0
