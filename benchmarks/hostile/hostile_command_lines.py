"""Command lines and the files they name, drawn by a seed: ordinary, odd and hostile."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field

import numpy as np
from hostile_files import CELLS, GRID_FILES, NAMES, TARGET_CELLS, damaged, table_file

__all__ = ["Command", "draw_command", "files_of"]

# A model of each kind that takes milliseconds, and a parameter of it.
QUICK = {
    "ridge": "alpha",
    "knn": "n_neighbors",
    "lasso": "alpha",
    "logistic": "C",
    "krr": "alpha",
    "svm": "C",
    "sklearn.tree:DecisionTreeRegressor": "max_depth",
    "sklearn.naive_bayes:GaussianNB": "var_smoothing",
    "sklearn.dummy:DummyClassifier": "strategy",
}
# Targets that suit some of them.
TARGETS = {
    "ridge": ["follows", "numbers"],
    "krr": ["follows"],
    "knn": ["follows", "two words"],
    "logistic": ["two words", "three words"],
    "svm": ["two words", "counts"],
}
SLOW = ("forest", "boosting", "svr", "nusvm", "klr", "elasticnet", "mlp", "lightgbm")
NO_MODELS = [
    *(
        "",
        "nope",
        "nope:x",
        "os:system",
        "sklearn.linear_model:nope",
        "..:x",
        ":",
        "a b",
    ),
    *(
        "sklearn.preprocessing:StandardScaler",
        "builtins:dict",
        "cvst:CVST",
        "os:environ",
    ),
    *(
        "sklearn.linear_model:Ridge()",
        "sklearn:show_versions",
        "collections:abc",
        "RIDGE",
    ),
    *(
        "sklearn.pipeline:Pipeline",
        "sklearn.model_selection:GridSearchCV",
        "ridge:ridge",
    ),
    *("sklearn.base:BaseEstimator", "sklearn.cluster:KMeans", "\udcff", "ridge\x1b[0m"),
]

# Grids as text; P is a parameter of the model.
GRIDS = [
    *["P=[1, 2]"] * 8,
    *["P=[0.1, 1.0]"] * 3,
    *("P=logspace(-2, 2, 3)", "P=range(1, 4)", "P=loguniform(0.1, 10)", "auto", "P=1"),
]
ODD_GRIDS = [
    *("", "P", "P=", "=1", "P=[]", "P=[1,,2]", "P=[[1]]", "P=nan", "P=1e999", "P=[-1]"),
    *("P=[1, a, None]", "P=loguniform(0, 1)", "P=uniform(2, 1)", "P=randint(1, 1)"),
    *("nope=[1]", "P=[1] P=[2]", "P=[true, false]", "P=open('/etc/passwd')", "P=[1"),
    *(
        "P=__import__('os')",
        "P=logspace(5)",
        "P=range(0, 0)",
        "P=range(1, 5, 0)",
        "P=]",
    ),
    *(
        "P=range(0, 99999999999)",
        "P=linspace(0, 1, -1)",
        "P=logspace(0, 1e9, 3)",
        "P==1",
    ),
    *(
        "P=[1]\n",
        "P='a'",
        'P="a',
        "P=[1] ; rm",
        "é=[1]",
        "P=[\x1b]",
        "P=\udcff",
        "P=(1,)",
    ),
    *("P=range(1)", "P=logspace(nan, 1, 2)", "P=uniform(0, inf)", "AUTO", "auto auto"),
    *(
        "P=randint(0, 99999999999999999999)",
        "missing.json",
        "folder",
        "P__x=[1]",
        "P=0",
    ),
    *("P=[" * 200, "P=[1]" * 300, "P=loguniform(1e-320, 1)", "P=linspace(0, 1e308, 3)"),
]

SCORES = [
    *("accuracy", "r2", "neg_log_loss", "roc_auc", "f1", "f1_macro", "nope", "", "R2"),
    *(
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_poisson_deviance",
    ),
    *(
        "average_precision",
        "neg_mean_squared_log_error",
        "max_error",
        "rand_score",
        "\x1b",
    ),
    *(
        "roc_auc_ovr",
        "d2_absolute_error_score",
        "precision",
        "jaccard",
        "r2,f1",
        "[r2]",
    ),
]

# Values of options, the ordinary ones first.
VALUES = {
    "--max-looks": ["1", "2", "3", "0", "-1", "x", "1e9", str(10**30), "1.5", ""],
    "--n-iter": ["2", "3", "0", "-1", "x", str(10**7), "", str(10**400)],
    "--max-steps": ["5", "8", "0", "1", "-3", str(10**9), "x"],
    "--stopping-window": ["2", "3", "0", "-1", "99", "x"],
    "--loser-level": ["0.1", "0.05", "0", "1", "2", "-1", "nan", "inf", "x", "1e-320"],
    "--time-budget": [
        *("0.3s", "0.2", "0", "-1", "1e999s", "10x", "nan", "", "1e-9s", "1e400h"),
    ],
    "--random-state": ["0", "7", "-1", str(2**32), str(2**64), "x", ""],
    "--max-memory": [
        *("100MB", "1GB", "0", "-1", "1", "1KB", "lots", "1e30GB", "inf", "nan", ""),
    ],
    "--strategy": ["cvst", "cross_validation", "track_and_confirm", "nope", ""],
    "--task": ["classification", "regression", "nope"],
    "--scoring": SCORES,
    "--device": ["cpu", "cuda", "cuda:99", "nope", ""],
    "--n-jobs": ["1", "1", "0", "-99999", "x", "2.5", str(10**20)],
}
WRONG = {
    "--fit-timeout": ["0", "-1", "x", "nan", "1e999"],
    "--live": ["0", "-1", "99999999", "x"],
}
PLACES = [
    *(
        "new",
        "deep/new",
        "table.csv",
        "folder",
        "full",
        "file",
        "",
        ".",
        "missing/\x1b",
    ),
    *("n" * 300, "\udcff", "link", "dangling", "/dev/null", "/proc/nope", "full/race"),
    *("race", "race", "race", "empty", "garbage", "a b'c", "-", "~", "new\nline"),
]
FLAGS = ("--raw", "--json", "--overwrite", "--plan", "--propose", "--no-propose")

PLAN_OPTIONS = {
    "--max-steps": ["5", "0", "-1", "1000000", "x", "3"],
    "--loser-level": VALUES["--loser-level"],
    "--winner-level": VALUES["--loser-level"],
    "--n-folds": ["10", "1", "0", "-1", "x", str(10**30)],
    "--n-configurations": ["610", "0", "-1", str(10**30), "x"],
    "--full-fit-time": ["1s", "0", "-1", "1e999", "x", "nan", "1e-300s"],
    "--complexity": ["2", "0", "-1", "nan", "inf", "1e308", "x", "400"],
    "--survival-rate": ["0.2", "0", "1", "2", "-1", "nan", "x"],
    "--time-budget": ["5m", "0", "x", "1e999", "1e-9s", "-1"],
}


@dataclass(frozen=True)
class Command:
    """What was drawn: a command line, and files by name (the first bytes of each)."""

    seed: int
    arguments: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    twice: bool = False


def draw_command(seed: int) -> Command:
    """Return the command of a seed."""
    return _drawn(seed)[0]


def files_of(command: Command) -> dict[str, bytes]:
    """Return the files that a command names, or may name."""
    return _drawn(command.seed)[1]


def _drawn(seed: int) -> tuple[Command, dict[str, bytes]]:
    rng = np.random.default_rng([seed, 18])
    files: dict[str, bytes] = {}
    which = rng.random()
    if which < 0.9:
        arguments = _search(rng, files)
    elif which < 0.95:
        place = str(rng.choice([*PLACES, "bad.json.gz", "bad"]))
        arguments = ["report", place, *_some(rng, {"--html": PLACES}, 0.4)]
        arguments += [one for one in ("--json", "--overwrite") if rng.random() < 0.3]
        files["bad/race.json.gz"] = _document(rng)
    elif which < 0.99:
        arguments = ["plan", *_some(rng, PLAN_OPTIONS, 0.3, odd=0.3)]
    else:
        arguments = str(
            rng.choice(
                ["", "--help", "nope", "datasets --notes", "search", "-x", "plan x"]
            )
        ).split()
    twice = bool(rng.random() < 0.08)
    shown = {name: repr(content[:80]) for name, content in files.items()}
    return Command(seed, tuple(arguments), shown, twice), files


def _document(rng) -> bytes:
    whole = gzip.compress(b'{"format": 1, "looks": [], "winner": null}')
    return damaged(rng, whole) if rng.random() < 0.7 else whole


def _some(rng, options, share, odd=0.15) -> list[str]:
    """Return some options, each with one of its first two values or an odd one."""
    chosen = []
    for name, values in options.items():
        if rng.random() < share:
            known = values if rng.random() < odd else values[:2]
            chosen += [name, str(known[int(rng.integers(len(known)))])]
    return chosen


def _table(rng, files, targets) -> tuple[str, list[str]]:
    """Add a table; return its name, and the names of its columns, the target last.

    If targets are named it is an ordinary one, with one of these.
    """
    calm = targets is not None
    n = int(rng.choice([30, 40, 60] if calm else [0, 1, 2, 3, 5, 8, 12, 20, 60, 60]))
    tame = calm or rng.random() < 0.3
    usual = ["numbers", "integers", "words", "gaps", "flags"]
    kinds = [
        str(rng.choice(usual if tame or rng.random() < 0.7 else list(CELLS)))
        for _ in range(int(rng.integers(1, 6)))
    ]
    names = (
        [f"x{i}" for i in range(len(kinds))]
        if tame
        else [str(one) for one in rng.choice(NAMES, len(kinds))]
    )
    columns = [CELLS["numbers"](rng, n), *(CELLS[kind](rng, n) for kind in kinds)]
    target = str(rng.choice(targets)) if calm else "follows"
    if not calm and rng.random() < 0.5:
        easy = ["two words", "three words", "counts", "numbers"]
        target = str(rng.choice(easy if tame else list(TARGET_CELLS)))
    if TARGET_CELLS[target] is None:
        columns.append([f"{2 * float(one) + rng.normal():.2f}" for one in columns[0]])
    else:
        columns.append(TARGET_CELLS[target](rng, n))
    names = ["x", *names, "y" if tame else str(rng.choice(["y", "y", *NAMES]))]
    separator, quote, ending = ",", "usual", ".csv"
    kind = "text"
    if rng.random() < 0.25:
        kind = str(rng.choice(["parquet", "feather", "stream"]))
        ending = {"parquet": ".parquet", "feather": ".feather", "stream": ".arrow"}[
            kind
        ]
    elif rng.random() < (0.1 if calm else 0.25):
        separator = str(rng.choice([";", "\t", "|"] if calm else [";", "\t", ":", " "]))
        quote = str(rng.choice(["usual", "all"] if calm else ["usual", "all", "none"]))
        ending = str(rng.choice([".csv", ".tsv", ".tab"]))
    content = table_file(rng, columns, names, kind, separator, quote, calm)
    if not calm and rng.random() < 0.1:
        content = damaged(rng, content)
    if not calm and rng.random() < 0.05:
        ending = str(rng.choice([".csv.gz", ".CSV", ".txt", "", ".parquet", ".arrow"]))
    files[f"table{ending}"] = content
    return f"table{ending}", names


def _search(rng, files) -> list[str]:
    # Half of the commands have an ordinary table, model and grid: what is odd about
    # them comes later than the first refusal.
    calm = bool(rng.random() < 0.5)
    model, parameter = _model(rng, calm)
    name, columns = _table(rng, files, TARGETS[model] if calm else None)
    arguments = ["search", name, "-t", columns[-1], "-m", model]
    if not calm and rng.random() < 0.1:  # something else where something is needed
        place = int(rng.choice([1, 3, 5]))
        arguments[place] = str(rng.choice([*PLACES, *NAMES]))
    if rng.random() < 0.01:
        del arguments[int(rng.integers(len(arguments))) :]
    arguments += _grid(rng, files, parameter, calm)
    arguments += _some(rng, VALUES, 0.06, odd=0.1 if calm else 0.5)
    arguments += _some(rng, WRONG, 0.005)
    if "--max-looks" not in arguments and rng.random() < 0.5:
        arguments += ["--max-looks", "1"]
    others = [*columns, columns[min(1, len(columns) - 1)], "missing", ""]
    more = {"--drop": (0.1, others), "--groups": (0.06, others)}
    more |= {"--time-order": (0.06, others)}
    more |= {"--out": (0.12, PLACES), "--checkpoint": (0.12, PLACES)}
    for option, (share, values) in more.items():
        if rng.random() < share:
            arguments += [option, str(rng.choice(values))]
    arguments += [one for one in FLAGS if rng.random() < 0.06]
    arguments += ["--quiet"] * int(rng.random() < 0.9)
    if rng.random() < 0.01:
        odd = ["--nope", "-", "--", "more", "--max", "", "\udcff", "@file", "-g"]
        arguments.insert(int(rng.integers(len(arguments))), str(rng.choice(odd)))
    return arguments


def _model(rng, calm) -> tuple[str, str]:
    """Return a model, and a parameter that it has or that another one has."""
    if calm:
        model = str(rng.choice(list(TARGETS)))
        return model, QUICK[model]
    which = rng.random()
    if which < 0.9:
        return list(QUICK.items())[int(rng.integers(len(QUICK)))]
    if which < 0.92:
        return str(rng.choice(SLOW)), "max_depth"
    return (str(rng.choice(NO_MODELS)) if which < 0.97 else "ridge"), "alpha"


def _grid(rng, files, P, calm) -> list[str]:
    which = rng.random() * (0.7 if calm else 1)
    if which < 0.1:
        return []
    if which < 0.7:
        text = str(rng.choice(GRIDS))
    elif which < 0.85:
        text = str(rng.choice(ODD_GRIDS))
    else:
        text = str(rng.choice(list(GRID_FILES)))
        content = str(rng.choice(GRID_FILES[text])).replace("P", P).encode()
        files[text] = damaged(rng, content) if rng.random() < 0.1 else content
        return ["--grid", text]
    return ["--grid", text.replace("P", P)]
