"""Rehearse a release: build, check, install and use what would be uploaded.

``make release`` runs it. It works on a copy of the checkout, and leaves ``dist/``.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from ready_to_publish import missing, report

ROOT = Path(__file__).parents[1]
RACE = """
import numpy as np
from sklearn.kernel_ridge import KernelRidge
import cvst
from cvst.datasets import make_noisy_sinc
X, y = make_noisy_sinc(300, random_state=0)
grid = {"alpha": np.logspace(-3, 2, 8), "gamma": np.logspace(-2, 2, 8)}
search = cvst.RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, random_state=0)
search.fit(X, y)
assert search.n_looks_ > 2
print(cvst.__version__, search.best_params_)
"""
BARE = """
from cvst.displays import TracesDisplay
from cvst.report import html_report
uses = [lambda: TracesDisplay.from_search(search).plot(), lambda: html_report(search)]
for use in uses:
    try:
        use()
    except ImportError as error:
        assert "cvst[" in str(error), error
    else:
        raise AssertionError("an extra is there that was not asked for")
"""
FULL = """
import matplotlib
matplotlib.use("Agg")
from cvst.displays import TracesDisplay
from cvst.report import html_report
TracesDisplay.from_search(search).plot()
assert "<html" in html_report(search)
"""
# A use of each extra, in an environment that has it alone.
EXTRAS = {
    "plots": """
import matplotlib
matplotlib.use("Agg")
from cvst.displays import TracesDisplay
TracesDisplay.from_search(search).plot()
""",
    "cli": """
import subprocess
import sys
table = np.column_stack([X, y])
np.savetxt("rows.csv", table, delimiter=",", header="a,y", comments="")
said = subprocess.run(
    [sys.executable, "-m", "cvst", "search", "rows.csv", "-t", "y", "-m", "ridge"],
    check=True, capture_output=True, text=True,
).stdout
assert "alpha" in said, said
""",
    "report": """
from cvst.report import html_report
assert "<html" in html_report(search)
""",
    "compiled": """
from sklearn.svm import SVC
from cvst.evaluation.svm._fits import has_compiled_solver
assert has_compiled_solver()
machine = cvst.RaceGridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, random_state=0)
machine.fit(X, y > np.median(y))
""",
    "mlflow": """
from cvst.integrations import MLflowLogger
with MLflowLogger("a race") as logger:
    logger.log_search(search.fit(X, y))
""",
    "wandb": """
from cvst.integrations import WandbLogger
with WandbLogger(project="races", mode="offline") as logger:
    logger.log_search(search.fit(X, y))
""",
    "optuna": """
from cvst.integrations import to_optuna_study
assert len(to_optuna_study(search).trials) == 64
""",
    "parquet": """
import pandas as pd
from cvst.datasets import open_dataset
pd.DataFrame({"a": X[:, 0], "y": y}).to_parquet("rows.parquet")
rows, target = open_dataset("rows.parquet", "y")
again = cvst.RaceGridSearchCV(search.estimator, grid, random_state=0).fit(rows, target)
assert again.n_looks_ > 2
""",
    "gpu": """
again = cvst.RaceGridSearchCV(
    search.estimator, grid, random_state=0, device="torch:cpu"
)
assert again.fit(X, y).best_params_ == search.best_params_
""",
    "dask": """
import joblib
from dask.distributed import Client
alone = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
with Client(**alone, dashboard_address=None), joblib.parallel_config("dask"):
    again = cvst.RaceGridSearchCV(search.estimator, grid, random_state=0)
    assert again.fit(X, y).best_params_ == search.best_params_
""",
    "ray": """
import joblib
from ray.util.joblib import register_ray
register_ray()
with joblib.parallel_config("ray", n_jobs=2):
    again = cvst.RaceGridSearchCV(search.estimator, grid, random_state=0)
    assert again.fit(X, y).best_params_ == search.best_params_
""",
}
# Reads the recipe as conda-forge would. Building it would need their channel.
RECIPE = """
from pathlib import Path
from rattler_build import RenderConfig, Stage0Recipe, VariantConfig
recipe = Stage0Recipe.from_file(Path("conda/recipe.yaml"))
[package] = recipe.render(VariantConfig(), RenderConfig())
print(package)
"""


def say(text: str) -> None:
    """Print a heading."""
    sys.stdout.write(f"\n== {text}\n")
    sys.stdout.flush()


def run(*command: object, cwd: Path) -> None:
    """Run a command, and stop at the first that fails."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def released_version(tree: Path) -> str:
    """Take ``.dev0`` off the version wherever it stands, and return it."""
    text = (tree / "pyproject.toml").read_text(encoding="utf-8")
    [developed] = re.findall(r'^version = "(.*)"$', text, re.MULTILINE)
    version = re.sub(r"\.dev\d+$", "", developed)
    for name in ("pyproject.toml", "src/cvst/__init__.py"):
        path = tree / name
        content = path.read_text(encoding="utf-8")
        assert content.count(f'"{developed}"') == 1, name
        path.write_text(content.replace(f'"{developed}"', f'"{version}"'), "utf-8")
    return version


def environment(folder: Path, *packages: object) -> Path:
    """Make a clean virtual environment with some packages; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", *packages, cwd=folder)
    return python


def copy_checkout(tree: Path) -> None:
    """Copy what git knows, and what it does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def build(tree: Path) -> tuple[Path, Path]:
    """Build and check both distributions; return the wheel and the sources."""
    version = released_version(tree)
    say(f"changelog and distributions of {version}")
    # On the tag of a release the changelog has been written, and a second time fails.
    if list((tree / "changelog.d").glob("*.md")):
        run(
            sys.executable, "-m", "towncrier", "build", "--yes", "--version", version,
            cwd=tree,
        )  # fmt: skip
    assert f"## {version}" in (tree / "CHANGELOG.md").read_text("utf-8")
    assert not list((tree / "changelog.d").glob("*.md"))
    run(sys.executable, "-m", "build", "--outdir", tree / "dist", cwd=tree)
    [wheel] = (tree / "dist").glob("*.whl")
    [sources] = (tree / "dist").glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sources, cwd=tree)
    return wheel, sources


def rehearse(work: Path) -> None:
    """Build in a copy, and use what was built."""
    tree = work / "tree"
    tree.mkdir()
    copy_checkout(tree)
    run("git", "init", "-q", cwd=tree)  # towncrier asks git which files it may remove
    wheel, sources = build(tree)

    say("the recipe for conda-forge")
    run(sys.executable, "-c", RECIPE, cwd=tree)

    say("without extras")
    bare = environment(work / "bare", wheel)
    run(bare, "-W", "error", "-c", RACE + BARE, cwd=work)
    run(bare, "-m", "cvst", "--version", cwd=work)

    for extra, use in EXTRAS.items():
        say(f"with the extra {extra} alone")
        folder = work / extra
        run(environment(folder, f"{wheel}[{extra}]"), "-c", RACE + use, cwd=folder)
        shutil.rmtree(folder)  # with PyTorch come gigabytes

    say("with all extras, and the types seen by a user")
    full = environment(work / "full", f"{wheel}[all]", "mypy")
    run(full, "-c", RACE + FULL, cwd=work)
    run(full, "-m", "cvst", "demo", cwd=work)
    shutil.copy(ROOT / "tools" / "consumer.py", work)
    # scikit-learn has no types, which is not the user's fault, nor ours.
    untyped = "--disable-error-code=import-untyped"
    run(full, "-m", "mypy", "--strict", untyped, "consumer.py", cwd=work)

    say("the source distribution, with some of its own tests")
    shutil.unpack_archive(sources, work / "sources")
    [unpacked] = (work / "sources").iterdir()
    shutil.rmtree(unpacked / "src")  # so that the tests find what is installed
    tests = ("tests/statistics/test_wald.py", "tests/test_text.py")
    source = environment(work / "source", f"{sources}[all]", "pytest", "hypothesis")
    run(source, "-m", "pytest", "-q", *tests, cwd=unpacked)

    say("built")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    (ROOT / "dist").mkdir()
    for path in (wheel, sources):
        shutil.copy2(path, ROOT / "dist")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sys.stdout.write(f"{digest}  {path.name}\n")

    # A rehearsal passes without addresses; the workflow of the release does not.
    say("may it be published?")
    sys.stdout.write(report(missing(ROOT)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        rehearse(Path(folder))
