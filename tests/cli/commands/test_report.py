from __future__ import annotations

import gzip
import json
import shutil

import pytest

pytestmark = pytest.mark.xdist_group("report")  # one search for all


@pytest.fixture(scope="module")
def searched(cvst_once, shared_people_csv, tmp_path_factory):
    """Search once and return the folder and what was printed."""
    folder = tmp_path_factory.mktemp("searched") / "results"
    result = cvst_once(
        "search", shared_people_csv, "-t", "cost", "-m", "ridge", "--out", folder,
        "--drop", "ill", "--quiet",
    )  # fmt: skip
    assert result.code == 0
    return folder, result.out


@pytest.fixture
def results(searched, tmp_path):
    """Return a copy of the folder, which a test may change, and what was printed."""
    folder, printed = searched
    return shutil.copytree(folder, tmp_path / "results"), printed


def test_the_report_is_written_again_as_it_was(results, cvst):
    """Also where it was lost; and the terminal shows what the search showed."""
    folder, printed = results
    page = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()

    result = cvst("report", folder)

    assert result.code == 0
    assert (folder / "report.html").read_bytes() == page

    def story(text):
        return text.split("Files: ")[0]

    assert story(result.out) == story(printed)


def test_the_page_can_go_elsewhere(results, cvst, tmp_path):
    folder, _ = results
    page = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    assert cvst("report", folder, "--html", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").read_bytes() == page
    assert not (folder / "report.html").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "results"}


def test_machines_get_the_document_of_the_search(results, cvst):
    folder, _ = results
    document = json.loads((folder / "summary.json").read_bytes())
    told = json.loads(cvst("report", folder, "--json").out)
    assert told.pop("files")
    document.pop("files")
    assert told == document


def test_a_folder_that_was_moved_names_its_files_where_they_are(
    searched, results, cvst
):
    folder, _ = searched
    moved, _ = results
    out = cvst("report", moved).out
    assert f"skops.io.load('{moved / 'model.skops'}'" in out
    assert str(folder) not in out


def refusal(result):
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    return result.err


def test_other_folders_are_refused_in_a_sentence(cvst, tmp_path):
    assert "does not exist" in refusal(cvst("report", tmp_path / "nowhere"))
    assert "holds no race.json.gz" in refusal(cvst("report", tmp_path))
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "is a file" in refusal(cvst("report", tmp_path / "file"))


@pytest.mark.parametrize("content", ["{", "[]", '{"winner": {}}', "null", '"text"'])
def test_a_damaged_document_is_refused_in_a_sentence(results, cvst, content):
    folder, _ = results
    (folder / "summary.json").write_text(content, encoding="utf-8")
    assert "summary.json' is damaged" in refusal(cvst("report", folder))


def test_a_damaged_race_leaves_the_page_alone(results, cvst):
    folder, _ = results
    page = (folder / "report.html").read_bytes()
    (folder / "race.json.gz").write_bytes(b"\x1f\x8b nothing")
    assert "is damaged" in refusal(cvst("report", folder))
    assert (folder / "report.html").read_bytes() == page


@pytest.mark.parametrize(
    ("name", "value"),
    [("looks", []), ("looks", [{}]), ("heading", 1), ("seconds", {"total": "long"})],
)
def test_a_document_without_sense_is_refused_in_a_sentence(results, cvst, name, value):
    folder, _ = results
    summary = json.loads((folder / "summary.json").read_bytes())
    changed = json.dumps(summary | {name: value})
    (folder / "summary.json").write_text(changed, encoding="utf-8")
    assert "summary.json' is damaged" in refusal(cvst("report", folder))


@pytest.mark.parametrize(
    ("name", "value"),
    [("failures", 5), ("plain_search", {}), ("advice", 5)],
)
def test_a_race_without_sense_is_refused_in_a_sentence(results, cvst, name, value):
    """Its parts are there, and of the right kind, but hold something else."""
    folder, _ = results
    race = json.loads(gzip.decompress((folder / "race.json.gz").read_bytes()))
    race["race"][name] = value
    (folder / "race.json.gz").write_text(json.dumps(race), encoding="utf-8")
    assert "race.json.gz' is damaged" in refusal(cvst("report", folder))


def test_no_types_are_trusted_because_a_document_says_so(results, cvst):
    """It may be a stranger's, and loading what he names could run his code."""
    folder, _ = results
    summary = json.loads((folder / "summary.json").read_bytes())
    changed = json.dumps(summary | {"untrusted_types": ["os.system"]})
    (folder / "summary.json").write_text(changed, encoding="utf-8")
    out = cvst("report", folder).out
    assert "os.system" not in out
    assert "skops.io.get_untrusted_types(file=" in out


def test_no_place_for_the_page_is_said_in_a_sentence(results, cvst, tmp_path):
    folder, _ = results
    target = tmp_path / "no" / "page.html"
    assert "cannot be written" in refusal(cvst("report", folder, "--html", target))
