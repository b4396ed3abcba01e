import json
import re
import stat
from html import unescape
from html.parser import HTMLParser

import pytest

from cvst.exceptions import InvalidInputError
from cvst.race import RaceState
from cvst.report import html_report, race_summary, write_report
from cvst.report._html import page_html, script_json


class Elements(HTMLParser):
    """Collects the elements, attributes and data of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.scripts = [], [], []
        self.inside = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = dict(attributes) if tag == "script" else None
        for name, value in attributes:
            if name in ("src", "href", "action", "data", "poster"):
                self.addresses.append(value)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.scripts.append((self.inside.get("id"), data))


HOSTILE = '</script><script>alert("x")</script><!--'


@pytest.fixture(scope="module")
def hostile_page(fitted):
    """Return a page whose names, values and reasons all try to break out."""
    configurations = [
        {HOSTILE: HOSTILE, "alpha": one["alpha"]}
        for one in fitted.cv_results_["params"]
    ]
    ranking = fitted.strategy_.ranking(fitted.race_)
    page = race_summary(fitted.race_, configurations, ranking, stop_reason=HOSTILE)
    page["configurations"][0]["failures"] = [[1, HOSTILE]]
    return page


def test_a_parameter_that_looks_like_a_script_is_text(hostile_page):
    """As many elements as a tame page has, and the data come back unharmed."""
    page = page_html(hostile_page, title=HOSTILE)
    parsed = Elements(page)

    assert parsed.tags.count("script") == 3
    data = dict(parsed.scripts)["data"]
    assert "<" not in data
    first = json.loads(data)["configurations"][0]
    assert first["parameters"][HOSTILE] == HOSTILE
    assert "&lt;/script&gt;" in page


def test_the_page_loads_nothing(fitted):
    """Addresses stay within the page, and its policy forbids the rest."""
    page = html_report(fitted)
    assert set(Elements(page).addresses) == {"data:,", "#configurations"}
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    policy = unescape(policy)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy


def test_the_same_race_gives_the_same_file(fitted):
    assert html_report(fitted) == html_report(fitted)


def test_winner_reasons_and_honesty_are_there_without_scripts(fitted):
    page = html_report(fitted, title="Sinc & co", command="cvst search 'a b.csv'")
    text = re.sub(r"<script.*?</script>", "", page, flags=re.S)

    assert "<title>Sinc &amp; co</title>" in text
    for value in fitted.best_params_.values():
        assert f"<td>{value:g}</td>" in text
    told = fitted.best_score_estimate_
    first = f"<strong>{told.value:.4g} (90 % interval {told.low:.4g} to"
    if fitted.scoring and str(fitted.scoring).startswith("neg_"):
        first = f"<strong>{-told.value:.4g} (90 % interval {-told.high:.4g} to"
    assert 0 < text.index(first) < text.index("not an estimate of how well")
    assert f"trained on {fitted.best_score_n_train_} rows" in text
    assert "cvst search &#39;a b.csv&#39;" in text
    assert "RaceGridSearchCV(" in text
    assert "No seed was given" not in text


def test_two_thousand_configurations_stay_below_six_megabytes(fitted):
    """A race of 18 told 112 times over, all ten looks kept."""
    page = html_report(fitted)
    state = fitted.race_
    summary = race_summary(
        RaceState(state.problem, state.observations),
        fitted.cv_results_["params"],
        fitted.strategy_.ranking(state),
        stop_reason="max_steps",
    )
    record = max(summary["configurations"], key=lambda one: len(one["looks"]))
    n_looks = len(record["looks"])
    filled = {
        name: (value * 10)[: 10 * n_looks : n_looks]
        if isinstance(value, list)
        else value
        for name, value in record.items()
    }
    summary["configurations"] = [{**filled, "index": n} for n in range(2000)]
    assert len(page_html(summary).encode()) < 6_000_000
    assert len(page.encode()) < 6_000_000


def test_numbers_in_the_page_have_six_digits():
    value = {"a": [1 / 3, 1e-9 / 3, 2.0, None, True], "b": "x"}
    assert json.loads(script_json(value)) == {
        "a": [0.333333, 3.33333e-10, 2, None, True],
        "b": "x",
    }


def test_a_report_is_written_whole_or_not_at_all(fitted, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    assert write_report(fitted, target, title="one") == target
    assert "<title>one</title>" in target.read_text(encoding="utf-8")
    assert stat.S_IMODE(target.stat().st_mode) & stat.S_IRUSR

    def fail(self, other):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(fitted, target, title="two")
    assert "<title>one</title>" in target.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", ["title", "command"])
def test_half_a_character_is_written_out(name, fitted, tmp_path):
    """Paths that are no text come with such halves; no file can hold them."""
    path = write_report(fitted, tmp_path / "page.html", **{name: "half \ud800"})
    assert r"half \ud800" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["title", "command"])
@pytest.mark.parametrize("value", [3, b"race", ["a"]])
def test_what_is_no_text_is_refused(name, value, fitted):
    with pytest.raises(InvalidInputError, match=f"{name}=.* is not a text"):
        html_report(fitted, **{name: value})


def test_places_where_no_page_can_be_are_refused(fitted, tmp_path):
    (tmp_path / "file").touch()
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "page.html", "in a folder that does not exist"),
        (tmp_path / "file" / "page.html", "cannot be written: Not a directory"),
        (tmp_path / ("x" * 300), "cannot be written: File name too long"),
        (f"{tmp_path}/a\0b", "cannot be the name of a file"),
        (None, "path=None cannot be the name of a file"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            write_report(fitted, path)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("module", ["jinja2", "plotly.offline"])
def test_missing_libraries_are_named_with_their_extra(fitted, monkeypatch, module):
    import sys

    from cvst.report import _html

    _html._environment.cache_clear()
    _html._plotly.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"cvst\[report\]"):
        html_report(fitted)
