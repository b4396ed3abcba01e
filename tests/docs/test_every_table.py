"""Each table of numbers has a test against a file, or the command that makes it.

``WITNESSES`` names both, by page and by the first two cells of a table's head. A page
with a new table of numbers fails here until it is entered.
"""

from __future__ import annotations

import ast
import re

import pytest
from docs_pages import ROOT, page, tables

NUMBERS, STUDIES = "tests/docs/test_numbers.py", "tests/docs/test_study_numbers.py"
PAPER = "tests/benchmarks/test_paper_pages.py"
CARD = "tests/docs/test_gpu_page.py"
RUNS = "tests/docs/test_kept_runs.py"
DEFAULT_STUDY = f"{NUMBERS}::test_the_study_of_the_default_is_what_the_summary_prints"
TABLES_OF_PAPER = f"{PAPER}::test_committed_tables_have_the_numbers_of_the_files"
CLAIMS_OF_PAPER = f"{PAPER}::test_committed_claims_are_those_of_the_files"
SPEED = f"{STUDIES}::test_every_table_of_speed_is_what_the_runs_give"
EVERYDAY = f"{NUMBERS}::test_everyday_tuning_is_what_the_summary_prints"
ENSEMBLES = f"{NUMBERS}::test_ensembles_of_everyday_tuning_are_those_of_the_files"
FRONT = f"{NUMBERS}::test_the_front_table_is_that_of_the_speed_runs"
LARGE = f"{STUDIES}::test_large_data_shows_what_was_measured"
GUARANTEE = f"{STUDIES}::test_the_page_about_the_guarantee_shows_what_was_run"
DESIGN = f"{STUDIES}::test_tables_of_the_design_are_those_of_the_races"
LIMITS = "tests/docs/test_measured_prose.py::test_the_limits_of_poor_races"

# A test, as file::name, or the command, which then stands on the page too.
WITNESSES = {
    "README.md": {"task | rows": FRONT},
    "docs/developer/architecture.md": {
        "package | modules in it": "python benchmarks/imports_in_numbers.py"
    },
    "docs/developer/variants.md": {
        "file | rule": "tests/benchmarks/test_default_study.py::"
        "test_page_of_variants_has_the_numbers_of_the_files"
    },
    "docs/getting_started.md": {
        "task | search": f"{NUMBERS}::test_getting_started_shows_what_was_measured"
    },
    "docs/measurements/default_strategy.md": {
        "rule | races": f"{NUMBERS}::test_how_often_a_rule_is_worse",
        "rule | designed on: ratio, worst": DESIGN,
        "rows | full 5-fold": DESIGN,
        "rule | problems": DESIGN,
    },
    "docs/measurements/default_study.md": {
        "method | sets": DEFAULT_STUDY,
        "tasks | sets": DEFAULT_STUDY,
        "task | splits": f"{NUMBERS}::test_the_worst_tasks_of_the_study",
    },
    "docs/measurements/everyday.md": {
        "search | mean (at most 2)": EVERYDAY,
        "ours | theirs": EVERYDAY,
        "seconds | search": EVERYDAY,
        "task | optuna_tpe_wilcoxon 15 s": EVERYDAY,
        "search | seconds": ENSEMBLES,
        "ensembles kept | mean regret (at most 2)": ENSEMBLES,
        "members, folds | mean regret (at most 2)": ENSEMBLES,
        "task | configurations": f"{NUMBERS}::"
        "test_the_parts_of_the_regret_are_what_the_script_prints",
        "task | busy, before": f"{NUMBERS}::test_busy_workers_are_those_of_the_file",
    },
    "docs/measurements/few_configurations.md": {
        "rule | configurations": f"{STUDIES}::"
        "test_few_configurations_are_shown_as_measured",
        "search | 2 configurations": f"{STUDIES}::"
        "test_small_grids_are_those_of_the_records",
        "search | configurations": f"{STUDIES}::"
        "test_small_grids_are_those_of_the_records",
        "targets | configurations": f"{STUDIES}::"
        "test_small_grids_are_those_of_the_records",
    },
    "docs/measurements/forecasts.md": {
        "estimators | condition": f"{STUDIES}::test_forecasts_are_those_of_the_records",
        "final fits | races": f"{STUDIES}::test_final_fits_are_counted_a_second_time",
        "estimator | rows": f"{STUDIES}::test_forecasts_are_those_of_the_records",
    },
    "docs/measurements/gpu.md": {
        '`KernelRidge`, rows | `"cvst"`': f"{CARD}::test_kernel_ridge",
        '`KernelLogisticRegression`, rows | `"cvst"`': f"{CARD}::test_kernel_logistic",
    },
    "docs/measurements/large_data.md": {
        "case | rows": LARGE,
        "rows | configurations": LARGE,
        "final fit alone | rows": f"{STUDIES}::"
        "test_what_is_missed_on_large_data_is_told",
        "search | configurations": f"{STUDIES}::"
        "test_a_million_rows_are_shown_as_measured",
        "target | strategy": f"{RUNS}::test_memory_is_that_of_the_runs",
    },
    "docs/measurements/misses.md": {
        "cost of a fit | first look": f"{STUDIES}::"
        "test_what_races_lost_and_cost_is_in_the_file"
    },
    "docs/measurements/peers.md": {
        "search | seconds": f"{STUDIES}::test_other_searches_are_shown_as_measured"
    },
    "docs/measurements/plain_time.md": {
        "search | rows": f"{STUDIES}::"
        "test_times_of_plain_searches_are_those_of_the_records"
    },
    "docs/measurements/poor_speed.md": {
        "grid | default, before": f"{NUMBERS}::"
        "test_the_table_of_poor_races_is_that_of_its_cells",
        "seconds | default, before": "tests/docs/test_measured_prose.py::"
        "test_what_poor_races_gained_is_told_by_their_seconds",
        "where the seconds go | `GridSearchCV(cv=10)`": LIMITS,
        "times as fast | race": LIMITS,
    },
    "docs/measurements/proposers.md": {
        "proposer | 20 trials": f"{RUNS}::test_proposers_are_those_of_the_runs",
        "proposer | 20": f"{RUNS}::test_proposers_are_those_of_the_runs",
    },
    "docs/measurements/r_package.md": {
        "search | runs": f"{RUNS}::test_the_r_package_is_shown_as_measured"
    },
    "docs/measurements/scores.md": {
        "score | problems": f"{NUMBERS}::test_the_table_of_scores_is_that_of_its_study",
        "score | problems measured": (
            f"{NUMBERS}::test_the_table_of_power_is_that_of_its_bootstrap"
        ),
        "learner | problems": (
            f"{NUMBERS}::test_the_table_of_callables_is_that_of_its_races"
        ),
    },
    "docs/measurements/speed.md": {
        "task | draws": f"{STUDIES}::test_the_results_of_speed_are_those_of_the_runs"
    },
    "docs/measurements/speed_tables.md": {"search | seconds": SPEED},
    "docs/paper/index.md": {
        "data | learner": TABLES_OF_PAPER,
        "the paper says | we find": CLAIMS_OF_PAPER,
    },
    "docs/paper/what_reproduces.md": {
        " | agrees": f"{PAPER}::test_counts_at_a_glance_add_up",
        "data | learner": TABLES_OF_PAPER,
    },
    "docs/theory/guarantee.md": {
        "loss | gap": GUARANTEE,
        "problem | guarantee": GUARANTEE,
    },
    "docs/user_guide/clusters.md": {
        "grid | engine": f"{NUMBERS}::"
        "test_the_table_of_clusters_shows_the_parts_of_their_time"
    },
    "docs/user_guide/estimate.md": {
        "family or score | problems": f"{NUMBERS}::"
        "test_the_page_about_estimates_shows_what_was_measured"
    },
    "docs/user_guide/gpu.md": {
        '`KernelRidge`, rows | `"cvst"`': f"{CARD}::"
        "test_the_guide_keeps_the_first_table"
    },
    "docs/user_guide/large_data.md": {"case | rows": LARGE},
    "docs/user_guide/proposing.md": {
        " | 15 s: mean, median": "tests/search/test_proposing_page.py::"
        "test_its_table_is_that_of_the_stored_results"
    },
    "docs/user_guide/speed.md": {"task | rows": FRONT},
    "docs/user_guide/strategies.md": {
        "method | loss": f"{NUMBERS}::test_the_guide_keeps_the_main_table_of_the_study"
    },
    "docs/user_guide/which_search.md": {"search | 15 s": EVERYDAY},
}

# Tables with numbers that follow from a rule and were not measured.
RULES = {
    "docs/user_guide/command_line.md": {"written | means"},
    "docs/user_guide/datasets.md": {"name | rows \N{MULTIPLICATION SIGN} features"},
    "docs/user_guide/large_data.md": {"rows | first look"},
    "docs/user_guide/ordering.md": {"rows | ham"},
    "docs/user_guide/rescaling.md": {"estimator | parameter"},
    "docs/developer/variants.md": {"commit | what changed"},
}

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "examples", "api"} & set(path.relative_to(ROOT).parts)
    and path.name not in {"_unreleased.md", "changelog.md"}  # written by the build
)
NUMBER = re.compile(r"[^A-Za-z`]*\d")


def whole(name):
    """Return a page with the files that it includes."""
    folder = (ROOT / name).parent

    def included(match):
        return (folder / match[1]).read_text(encoding="utf-8")

    return re.sub(
        r"^```{include} (\S+)\n.*?^```$", included, page(name), flags=re.S | re.M
    )


def row_cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def name_of(table):
    first, second, *_ = [cell.strip() for cell in table[0].split("|")[1:]]
    return f"{first} | {second}"


def is_of_numbers(table):
    """Tell whether a fifth of the cells, or more, begin with a number."""
    found = [cell for line in table[2:] for cell in row_cells(line)]
    count = sum(bool(NUMBER.match(cell)) for cell in found)
    return count >= len(found) / 5


def tables_of_numbers(name):
    return {name_of(table) for table in tables(whole(name)) if is_of_numbers(table)}


@pytest.mark.parametrize("name", PAGES)
def test_every_table_of_numbers_has_a_witness(name):
    known = {*WITNESSES.get(name, {}), *RULES.get(name, set())}
    assert tables_of_numbers(name) == known


def test_tests_and_commands_that_are_named_exist():
    for name, witnesses in WITNESSES.items():
        for witness in witnesses.values():
            path, _, function = witness.partition("::")
            if function:
                tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
                defined = {one.name for one in tree.body if hasattr(one, "name")}
                assert function in defined, witness
            else:
                assert witness.split(" ", 1)[1].split()[0] in whole(name), witness
                assert (ROOT / witness.split()[1]).exists(), witness


@pytest.mark.parametrize("name", [one for one in PAGES if "user_guide" in one])
def test_a_guide_keeps_one_table_of_measurements(name):
    """The others are among the measurements, one page for each study."""
    measured = [
        name_of(table)
        for table in tables(whole(name))
        if name_of(table) in WITNESSES.get(name, {})
    ]
    assert len(measured) <= 1


@pytest.mark.parametrize(
    "name", [one for one in WITNESSES if not one.startswith("docs/measurements/")]
)
def test_a_page_with_measurements_names_the_command(name):
    """Those of the paper are made by one command, which its first page has."""
    text = page("docs/paper/index.md") if "paper" in name else whole(name)
    found = re.findall(r"(?:python3? |`)(benchmarks/[\w/]+(?:\.py)?)", text)
    assert [one for one in found if (ROOT / one).exists()], name
