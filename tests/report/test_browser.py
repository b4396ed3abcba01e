"""Reports in a real browser; without one, these tests say so and are skipped."""

from __future__ import annotations

import base64
import json
import struct
import time
from urllib.parse import urlsplit

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from cvst import RaceGridSearchCV
from cvst.race import RaceState
from cvst.report import LiveReport, race_summary, summary, write_report
from cvst.report._html import page_html

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all

PATIENCE = 300.0


@pytest.fixture(autouse=True)
def _rest(browser):
    """Leave no page open, which might go on working beside all other tests."""
    yield
    browser.get("about:blank")


def wait_for(condition, what):
    """Wait until a condition holds; a slow machine only makes the test slower."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {PATIENCE:.0f} s")


class Page:
    """A report in the browser, as its reader meets it."""

    def __init__(self, browser, address):
        self.browser = browser
        browser.get_log("browser")
        browser.get_log("performance")
        self.resize(1280)
        # A page of which the system thinks that nobody looks at it gets no focus.
        browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        browser.get(address)
        wait_for(lambda: self.run("return document.body.dataset.ready"), "drawing")

    def run(self, script, *values):
        return self.browser.execute_script(script, *values)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)",
            selector,
        )

    def resize(self, width, height=900):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "mobile": False,
            },
        )

    def reset(self):
        self.resize(1280)
        self.run(
            "const byId = id => document.getElementById(id);"
            "delete document.documentElement.dataset.theme;"
            "window.dispatchEvent(new Event('afterprint'));"
            "byId('filter').value = ''; byId('status').value = 'all';"
            "byId('filter').dispatchEvent(new Event('input'));"
            "const rank = () => document.querySelector('#table thead th');"
            "while (rank().ariaSort !== 'ascending')"
            " rank().querySelector('button').click();"
            "document.activeElement.blur(); window.scrollTo(0, 0)"
        )

    def press(self, key):
        self.browser.switch_to.active_element.send_keys(key)

    def point_at(self, selector, x, y):
        """Move the mouse to a share of the width and height of an element."""
        box = self.run(
            "const e = document.querySelector(arguments[0]);"
            "e.scrollIntoView({block: 'center'});"
            "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]",
            selector,
        )
        place = {"x": box[0] + x * box[2], "y": box[1] + y * box[3]}
        for shift in (-2, 0):  # a move needs a start
            self.browser.execute_cdp_cmd(
                "Input.dispatchMouseEvent",
                {"type": "mouseMoved", "x": place["x"] + shift, "y": place["y"]},
            )

    @property
    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    @property
    def requests(self):
        """Addresses asked for, except those inside the page and the browser itself."""
        events = (
            json.loads(entry["message"])["message"]
            for entry in self.browser.get_log("performance")
        )
        addresses = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        inside = ("data:", "blob:", "chrome:")
        return [url for url in addresses if not url.startswith(inside)]

    def screenshot(self):
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return window.innerWidth")
        answer = self.browser.execute_cdp_cmd(
            "Page.captureScreenshot",
            {
                "captureBeyondViewport": True,
                "clip": {
                    "x": 0,
                    "y": 0,
                    "width": width,
                    "height": height,
                    "scale": 1,
                },
            },
        )
        return base64.b64decode(answer["data"])


@pytest.fixture(scope="module")
def address(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(fitted, path).as_uri()


@pytest.fixture(scope="module")
def opened(browser, address):
    return Page(browser, address)


@pytest.fixture
def page(opened, address):
    """Return the open report as it was at first; loading it anew takes seconds."""
    if opened.browser.current_url != address:
        return Page(opened.browser, address)
    opened.reset()
    return opened


def test_every_strategy_opens_without_a_request_or_a_complaint(
    browser, any_strategy, tmp_path
):
    """One request, for the page itself; an empty console; all charts drawn."""
    address = write_report(any_strategy, tmp_path / "report.html").as_uri()
    page = Page(browser, address)

    assert page.requests == [address]
    drawn = page.run(
        "return [...document.querySelectorAll('.chart')]"
        ".filter(chart => chart.querySelector('.main-svg')).map(chart => chart.id)"
    )
    # Only the paper's strategy has a sequential test; others have no such section.
    paths = ["paths"] if any_strategy.strategy == "cvst" else []
    state = any_strategy.race_
    # Sections that would show nothing are left out.
    survivors = [] if state.active.all() else ["survivors"]
    curves = ["curves"] if len(set(state.subset_sizes.tolist())) > 1 else []
    expected = ["incumbent", "importance", "slices", "parallel", "traces"]
    assert drawn == [*expected, *survivors, *curves, *paths, "surface"]
    for name, wanted in (("survivors", survivors), ("curves", curves)):
        assert page.find(f"#{name}-section").is_displayed() == bool(wanted)
    assert page.find("#paths-section").is_displayed() == bool(paths)
    check_story(page, any_strategy)
    assert page.complaints == []


def check_story(page, search):
    """Parameters, trace, scores, p-values, when and why it was dropped."""
    state = search.race_
    fallen = np.flatnonzero(state.dropped_at)
    index = int(fallen[0]) if len(fallen) else 0
    page.run(
        "document.querySelector(`#table tr[data-index='${arguments[0]}']`).focus()",
        index,
    )
    story = page.find("#details-body").text
    for name, value in search.cv_results_["params"][index].items():
        assert f"{name}\n{value:.6g}" in story
    look = int(np.flatnonzero(state.present[index])[0]) + 1
    score = search.cv_results_[f"look{look}_test_score"][index]
    assert f"{float(f'{score:.4g}'):g}" in story
    assert "p-value" in story
    if len(fallen):
        reason = state.drop_reasons[index]
        assert f"Dropped at look {state.dropped_at[index]} ({reason})" in story
    else:
        assert "never dropped" in story


def test_pointing_at_a_chart_shows_the_configuration(page, fitted):
    """The top row of the matrix is the winner's."""
    drawn = page.run(
        "const p = document.querySelector('#traces .nsewdrag')"
        ".getBoundingClientRect(), c = document.querySelector('#traces')"
        ".getBoundingClientRect(), n = arguments[0];"
        "return [(p.x + p.width / 2 - c.x) / c.width,"
        " (p.y + p.height / n / 2 - c.y) / c.height]",
        len(fitted.cv_results_["params"]),
    )
    wait_for(
        lambda: (
            page.point_at("#traces", *drawn)
            or "Rank 1 of" in page.find("#details-body").text
        ),
        "the details of the winner",
    )
    story = page.find("#details-body").text
    for name, value in fitted.best_params_.items():
        assert f"{name}\n{value:.6g}" in story
    assert page.complaints == []


def test_the_line_parts_those_left_from_dropped(browser, fitted, tmp_path):
    """Also if one that was dropped ranks before a survivor."""
    state, params = fitted.race_, fitted.cv_results_["params"]
    ranking = fitted.strategy_.ranking(state)
    fallen = np.flatnonzero(~state.active)
    ranks = np.empty(len(params), dtype=int)
    ranks[[ranking[0], *fallen, *ranking[1:]]] = np.arange(1, len(params) + 1)
    path = tmp_path / "report.html"
    found = race_summary(state, params, ranking, ranks=ranks)
    path.write_text(page_html(found), encoding="utf-8")
    page = Page(browser, path.as_uri())
    codes = page.run("return document.querySelector('#traces').data[0].z")
    top = (state.traces & state.present)[[*ranking, *fallen]]
    np.testing.assert_array_equal(np.array(codes) == 1, top)
    drawn = page.run(
        "return document.querySelector('#traces').layout.shapes"
        ".filter(shape => shape.y0 === shape.y1).map(shape => shape.y0)"
    )
    assert drawn == [len(ranking) + 0.5]


def test_filter_leaves_what_matches(page, fitted):
    """Witness: the grid, filtered in Python."""
    page.find("#filter").send_keys("gamma=0.1")
    rows = page.texts("#table tbody tr")
    grid = fitted.cv_results_["params"]
    assert len(rows) == sum(one["gamma"] == 0.1 for one in grid)
    assert f"{len(rows)} of {len(grid)} shown" in page.find("#count").text

    page.find("#filter").clear()
    page.find("#filter").send_keys("no such thing")
    assert page.texts("#table tbody tr") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gamma > 0.05", lambda one: one["gamma"] > 0.05),
        ("alpha<=1 gamma<1", lambda one: one["alpha"] <= 1 and one["gamma"] < 1),
        ("gamma = 10", lambda one: one["gamma"] == 10),
        ("GAMMA=0.1", lambda one: one["gamma"] == 0.1),
    ],
)
def test_filter_compares_numbers(page, fitted, words, expected):
    """Witness: the grid, filtered in Python."""
    page.find("#filter").send_keys(words)
    rows = page.texts("#table tbody tr")
    assert len(rows) == sum(map(expected, fitted.cv_results_["params"]))
    assert rows


def test_filter_takes_names_with_their_path(browser, tmp_path):
    """As ``best_params_`` has them, though the page leaves the path out."""
    X, y = make_regression(80, 3, noise=5.0, random_state=0)
    grid = {"ridge__alpha": [0.1, 1, 10, 100], "ridge__solver": ["svd", "cholesky"]}
    search = RaceGridSearchCV(Pipeline([("ridge", Ridge())]), grid, random_state=0)
    page = Page(browser, write_report(search.fit(X, y), tmp_path / "r.html").as_uri())
    shown = {
        "ridge__alpha > 1": 4,
        "ridge__alpha = 1": 2,
        "alpha=1": 2,
        "alpha=1.0 ridge__solver=svd": 1,
        "solver=chol": 4,
        "rank = 1": 1,
        "alpha=none": 0,
    }
    for words, count in shown.items():
        page.run(
            "const field = document.getElementById('filter');"
            "field.value = arguments[0]; field.dispatchEvent(new Event('input'));",
            words,
        )
        assert len(page.texts("#table tbody tr")) == count, words


def test_filter_finds_reasons_of_drops(page, fitted):
    reason = next(iter(fitted.race_.drop_reasons.values()))
    page.find("#filter").send_keys(reason)
    rows = page.texts("#table tbody tr")
    same = [one for one in fitted.race_.drop_reasons.values() if one == reason]
    assert len(rows) == len(same)


def test_reasons_of_drops_can_be_chosen(page, fitted):
    """Witness: the reasons of the race, counted in Python."""
    reasons = list(fitted.race_.drop_reasons.values())
    texts = page.texts("#status option")
    for reason in set(reasons):
        assert f"dropped: {reason} ({reasons.count(reason)})" in texts
    page.run(
        "const s = document.querySelector('#status'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))",
        f"reason {reasons[0]}",
    )
    assert len(page.texts("#table tbody tr")) == reasons.count(reasons[0])


def test_one_of_several_scores_can_be_chosen(browser, tmp_path):
    """Table and pictures follow; witness: the means of cv_results_."""
    X, y = make_regression(160, 3, noise=20.0, random_state=0)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": [0.01, 0.1, 1.0], "gamma": [0.01, 0.1]},
        scoring=["r2", "neg_mean_absolute_error"],
        refit="r2",
        random_state=0,
    ).fit(X, y)
    address = write_report(search, tmp_path / "report.html").as_uri()
    page = Page(browser, address)

    def titles():
        return [
            page.run(f"return document.querySelector('#{name} .ytitle').textContent")
            for name in ("incumbent", "slices")
        ]

    def winner():
        place = [
            one.get_attribute("data-key") for one in page.all("#table thead button")
        ].index("value")
        return float(page.texts(f"#table tbody td:nth-child({place + 1})")[0])

    results, best = search.cv_results_, search.best_index_
    assert page.find("#table [data-key=value]").text == "r2"
    assert winner() == pytest.approx(results["mean_test_r2"][best], rel=1e-4)
    assert titles() == ["r2", "r2"]
    page.run(
        "const s = document.querySelector('select.measure'); s.value = '1';"
        "s.dispatchEvent(new Event('change'))"
    )
    error = -results["mean_test_neg_mean_absolute_error"][best]
    assert winner() == pytest.approx(error, rel=1e-4)
    wait_for(lambda: titles() == ["mean_absolute_error"] * 2, "the other score")
    values = page.run(
        "return [...document.querySelectorAll('select.measure')]"
        ".map(select => select.value)"
    )
    assert values == ["1", "1"]
    assert page.complaints == []


def test_nothing_is_said_where_there_is_nothing_to_say(browser, tmp_path):
    """Two alike: no drops, no curves, no surface, no choice of a score."""
    X, y = make_regression(160, 3, noise=20.0, random_state=0)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf", gamma=0.01),
        {"alpha": [0.1, 0.11]},
        strategy="cross_validation",
        random_state=0,
    ).fit(X, y)
    page = Page(browser, write_report(search, tmp_path / "report.html").as_uri())
    for section in ("survivors", "curves", "importance", "parallel", "surface"):
        assert not page.find(f"#{section}-section").is_displayed()
    assert not any(one.is_displayed() for one in page.all(".measure-choice"))
    assert page.find("#slices-section").is_displayed()
    assert page.complaints == []


# Where the chart is, and the names of its axes with where they are.
LABELS = """
const chart = document.querySelector('#parallel');
const box = (e) => { const b = e.getBoundingClientRect(); return [b.left, b.right]; };
return [box(chart), [...chart.querySelectorAll('.xaxislayer-above .xtick text')]
    .map((e) => [e.textContent, ...box(e)])];
"""


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("n_axes", [2, 9])
def test_each_axis_side_by_side_has_its_whole_name(
    browser, fitted, tmp_path, width, n_axes
):
    """The first stands at the edge, and many share the width."""
    state = fitted.race_
    rng = np.random.default_rng(0)
    names = ["learning_rate", "l2_regularization", "max_leaf_nodes"]
    names += ["colsample_bytree", "a_parameter_with_a_long_name", "alpha"]
    names += ["min_samples_leaf", "subsample", "max_features_by_split"]
    params = [
        {name: float(rng.random()) for name in names[:n_axes]}
        for _ in state.configurations
    ]
    path = tmp_path / "report.html"
    found = race_summary(state, params, fitted.strategy_.ranking(state))
    path.write_text(page_html(found), encoding="utf-8")
    page = Page(browser, path.as_uri())
    page.resize(width)
    browser.refresh()
    wait_for(lambda: page.run("return document.body.dataset.ready"), "drawing")

    (left, right), texts = page.run(LABELS)

    assert right <= width
    assert len(texts) == (min(n_axes, 4) if width == 400 else n_axes) + 1
    ends = [left, *(end for _, *both in texts for end in both), right]
    assert ends == sorted(ends)
    if width == 1280:
        # Only what is far too long for its share of the width is cut.
        known = {text for text, *_ in texts}
        cut = {"l2_regularization", "a_parameter_with_a_long_name"} & {*names[:n_axes]}
        assert known >= {*names[:n_axes]} - cut
    assert page.complaints == []


@pytest.mark.parametrize("width", [1280, 400])
def test_a_proposed_race_fits_its_window(browser, proposed, tmp_path, width):
    """Nothing is wider than the page; the score stands beside the rank."""
    address = write_report(proposed, tmp_path / "report.html").as_uri()
    page = Page(browser, address)
    page.resize(width)
    wait_for(
        lambda: page.run("return document.documentElement.scrollWidth") <= width,
        "a page as wide as its window",
    )
    right = page.run(
        "return document.querySelector('#table [data-key=value]')"
        ".getBoundingClientRect().right"
    )
    assert right < width
    assert page.find("#incumbent-section").is_displayed()
    assert page.complaints == []


@pytest.mark.parametrize("width", [1280, 400])
def test_score_and_leader_stay_in_sight_of_a_large_table(
    browser, fitted, tmp_path, width
):
    """Twenty columns, scrolled to the right and down: both are where they were."""
    many = [
        {f"a_parameter_{n}": value for n in range(20) for value in [one["alpha"] + n]}
        for one in fitted.cv_results_["params"]
    ]
    ranking = fitted.strategy_.ranking(fitted.race_)
    path = tmp_path / "report.html"
    path.write_text(page_html(race_summary(fitted.race_, many, ranking)))
    page = Page(browser, path.as_uri())
    page.resize(width, height=400)
    page.run("window.dispatchEvent(new Event('resize'))")
    room = "document.querySelector('#configurations .scroll')"
    before = page.run(
        f"const room = {room}; room.scrollIntoView(); room.scrollTo(0, 0);"
        "return [room.scrollWidth - room.clientWidth, room.scrollHeight - "
        "room.clientHeight]"
    )
    assert min(before) > 50  # there is something to scroll
    cells = ["thead .second", ".leader .first", ".leader .second"]
    seen = (
        f"const room = {room}.getBoundingClientRect();"
        "return arguments[0].map(name => {"
        " const cell = document.querySelector('#table ' + name);"
        " const box = cell.getBoundingClientRect();"
        " const at = document.elementFromPoint(box.x + box.width / 2, box.y + 4);"
        " return [box.left >= room.left - 1, box.right <= room.right + 1,"
        "  box.top >= room.top - 1, cell.contains(at)]; })"
    )
    assert np.all(page.run(seen, cells))
    page.run(f"{room}.scrollTo({before[0]}, {before[1]})")
    assert np.all(page.run(seen, cells))
    # Pictures are drawn anew a moment after the window has changed.
    wide = "return document.documentElement.scrollWidth"
    wait_for(lambda: page.run(wide) <= width, "a page as wide as its window")
    assert page.complaints == []


def test_long_races_are_folded_by_stage(browser, proposed, tmp_path, monkeypatch):
    """Hundreds of looks: stages in a table, no matrix of traces."""
    page_values = summary(proposed)
    looks = page_values["looks"]
    # The same looks over and over, as a long race would have them.
    page_values["looks"] = looks + [{**looks[-1], "look": n} for n in range(100, 200)]
    page_values["n_looks"] = len(page_values["looks"])
    path = tmp_path / "report.html"
    path.write_text(page_html(page_values), encoding="utf-8")
    page = Page(browser, path.as_uri())
    stages = {look["stage"] for look in looks}
    assert len(page.texts(".stages tbody tr")) == len(stages)
    assert not page.find(".looks").is_displayed()
    assert not page.find("#traces-section").is_displayed()
    assert "trace" not in page.texts("#table thead button")
    assert page.complaints == []


def test_dropped_can_be_shown_alone(page, fitted):
    page.run(
        "const s = document.querySelector('#status'); s.value = 'dropped';"
        "s.dispatchEvent(new Event('change'))"
    )
    rows = page.texts("#table tbody tr")
    assert len(rows) == (~fitted.race_.active).sum()


def test_sorting_by_a_number_orders_numbers_both_ways(page, fitted):
    """As text, 1000 would come before 31.6."""
    column = page.texts("#table thead button").index("alpha")

    def shown():
        cells = page.texts(f"#table tbody td:nth-child({column + 1})")
        return [float(cell) for cell in cells]

    values = [one["alpha"] for one in fitted.cv_results_["params"]]
    button = "#table thead button[data-key='p0']"
    page.find(button).click()
    np.testing.assert_allclose(shown(), sorted(values), rtol=1e-3)
    page.find(button).click()
    np.testing.assert_allclose(shown(), sorted(values, reverse=True), rtol=1e-3)
    heading = page.find("#table thead th[aria-sort='descending']")
    assert heading.text.startswith("alpha")


def test_rows_are_reached_by_the_keyboard_alone(page):
    """One tab stop, then arrows; the focused row can be seen and shows its details."""
    from selenium.webdriver.common.keys import Keys

    page.find("#table thead th:last-child button").send_keys(Keys.TAB)
    first = page.browser.switch_to.active_element
    assert first.tag_name == "tr"
    page.press(Keys.ARROW_DOWN)
    second = page.browser.switch_to.active_element
    assert second != first
    assert second.get_attribute("aria-selected") == "true"
    assert "Rank 2 of" in page.find("#details-body").text
    assert second.value_of_css_property("outline-style") == "solid"
    page.press(Keys.END)
    assert page.find("#table tbody tr:last-child") == (
        page.browser.switch_to.active_element
    )
    stops = page.run(
        "return [...document.querySelectorAll('#table tbody tr')]"
        ".filter(row => row.tabIndex === 0).length"
    )
    assert stops == 1


def test_axes_of_the_surface_can_be_chosen(page):
    """The title of the axis follows the choice."""

    def title():
        return page.run("return document.querySelector('#surface .xtitle').textContent")

    before = title()
    other = page.run(
        "const s = document.querySelector('#surface-x');"
        "s.value = s.value === '0' ? '1' : '0'; s.dispatchEvent(new Event('change'));"
        "return s.selectedOptions[0].textContent"
    )
    wait_for(lambda: title() == other, "the new axis")
    assert other != before


def test_paths_run_between_the_lines_of_the_test(page, fitted):
    """The winner's path and the chosen one's are their traces, added up."""
    state, test = fitted.race_, fitted.strategy_.sequential_test
    fallen = int(np.flatnonzero(state.dropped_at)[0])
    page.run(
        "document.querySelector(`#table tr[data-index='${arguments[0]}']`).click()",
        fallen,
    )
    drawn = page.run(
        "return Object.fromEntries(document.getElementById('paths').data"
        ".filter(trace => trace.name).map(trace => [trace.name, [...trace.y]]))"
    )

    def path(index):
        return [0, *state.traces[index][state.present[index]].cumsum().tolist()]

    assert drawn["winner"] == path(fitted.best_index_)
    assert drawn["chosen"] == path(fallen)
    runs = np.arange(test.max_steps + 1)
    np.testing.assert_allclose(drawn["loser line"], test.loser_boundary(runs), 1e-5)
    np.testing.assert_allclose(drawn["winner line"], test.winner_boundary(runs), 1e-5)
    assert path(fallen)[-1] <= test.loser_boundary(len(path(fallen)) - 1)
    texts = page.run(
        "return document.getElementById('paths').data"
        ".find(trace => trace.name === 'dropped').text"
    )
    assert sum(map(int, texts)) == (~state.active).sum()


def test_dark_colours_can_be_switched_on_and_reach_the_charts(page):
    def brightness():
        return page.run(
            "const rgb = getComputedStyle(document.body).backgroundColor;"
            "return rgb.match(/\\d+/g).slice(0, 3).reduce((s, v) => s + Number(v), 0)"
        )

    light = brightness()
    page.find("#theme").click()
    assert brightness() < light / 2
    paper = page.run("return document.querySelector('#traces').layout.paper_bgcolor")
    assert paper == page.run(
        "return getComputedStyle(document.documentElement)"
        ".getPropertyValue('--paper').trim()"
    )


def test_the_readers_preference_for_dark_is_followed(browser, address):
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        page = Page(browser, address)
        assert page.find("#theme").text == "Light"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_runs_out_of_the_page(page, width, tmp_path):
    """No sideways scrolling, and a screenshot with something on it."""
    page.resize(width)
    wait_for(
        lambda: page.run(
            "return document.querySelector('#surface .main-svg')"
            ".getBoundingClientRect().right <= window.innerWidth"
        ),
        "the new width",
    )
    overflow = page.run(
        "return document.documentElement.scrollWidth - window.innerWidth"
    )
    assert overflow <= 0
    picture = page.screenshot()
    (tmp_path / f"report_{width}.png").write_bytes(picture)
    assert struct.unpack(">I", picture[16:20])[0] == width
    # A blank picture of this size is far smaller.
    assert len(picture) > 40_000


def test_charts_do_not_cover_what_follows(page):
    """Every chart is as tall as the room kept for it, also after a change of width."""
    page.resize(400)
    wait_for(
        lambda: page.run(
            "return document.querySelector('#surface .main-svg')"
            ".getBoundingClientRect().right <= 400"
        ),
        "the new width",
    )
    rooms = page.run(
        "return [...document.querySelectorAll('.chart')].map(chart => [chart.id,"
        " chart.getBoundingClientRect().height,"
        " chart.querySelector('.main-svg').getBoundingClientRect().height])"
    )
    assert [name for name, room, height in rooms if height > room + 1] == []


def test_printing_is_light_and_without_controls(page):
    page.find("#theme").click()
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        colour = page.run("return getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)"
        assert not page.find("#filter").is_displayed()
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = page.browser.print_page()
    assert base64.b64decode(printed).startswith(b"%PDF")


def test_charts_fit_on_paper_and_then_on_the_screen_again(page):
    """On paper they are at most 700 wide, whatever the screen; afterwards as before."""

    def widths():
        return page.run(
            "return [...document.querySelectorAll('.chart .main-svg:first-child')]"
            ".map(chart => chart.getBoundingClientRect().width)"
        )

    def settled():
        seen = widths()
        time.sleep(0.3)
        return seen if seen == widths() else None

    page.resize(1280)
    before = wait_for(settled, "drawing")
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    try:
        on_paper = widths()
        assert max(on_paper) == 700
        assert sorted(on_paper)[:2] == [345, 345]
    finally:
        page.run("window.dispatchEvent(new Event('afterprint'))")
    wait_for(lambda: widths() == before, "the size of the screen")


def test_hostile_names_are_shown_and_not_run(browser, fitted, tmp_path):
    """Witness: a flag that any of the injected scripts would set."""
    attack = "</script><img src=x onerror=\"window.hit='yes'\">"
    grid = [
        {attack: f"{attack}{n % 3}", "alpha": n}
        for n in range(len(fitted.cv_results_["params"]))
    ]
    ranking = fitted.strategy_.ranking(fitted.race_)
    summary = race_summary(fitted.race_, grid, ranking, stop_reason=attack)
    path = tmp_path / "hostile.html"
    path.write_text(page_html(summary, title=attack), encoding="utf-8")

    page = Page(browser, path.as_uri())
    page.find("#table tbody tr").click()
    assert attack in page.find("#details-body").text
    assert page.run("return window.hit || 'no'") == "no"
    assert page.requests == [path.as_uri()]
    assert page.complaints == []


def test_a_live_page_follows_the_race(browser, fitted):
    """From the first look to the last without a reload, and then it rests."""
    state, params = fitted.race_, fitted.cv_results_["params"]

    with LiveReport() as live:
        start = RaceState(state.problem)
        live.update(start, params, np.arange(len(params)))
        page = Page(browser, live.url)
        page.run("window.stayed = 'yes'")
        for n_looks in (1, 2):
            now = RaceState(state.problem, state.observations[:n_looks])
            ranking = fitted.strategy_.ranking(now)
            live.update(now, params, ranking, strategy=fitted.strategy_)
            wait_for(
                lambda n=n_looks: len(page.texts(".looks tbody tr")) == n,
                f"look {n_looks}",
            )
        page.find("#table tbody tr:nth-child(3)").click()
        chosen = page.browser.switch_to.active_element.get_attribute("data-index")
        live.finish(fitted)
        wait_for(
            lambda: "final" in page.find("#live-status").text, "the end of the race"
        )
        assert "Winner" in page.find("#race").text
        focused = page.browser.switch_to.active_element
        assert focused.get_attribute("data-index") == chosen
        assert page.run("return window.stayed") == "yes"
        assert page.complaints == []
        hosts = {urlsplit(url).netloc for url in page.requests}
        assert hosts == {urlsplit(live.url).netloc}


def test_a_live_page_rests_when_the_race_is_broken_off(browser, fitted):
    """It says so, and asks no more."""
    state, params = fitted.race_, fitted.cv_results_["params"]

    with LiveReport() as live:
        live.update(RaceState(state.problem), params, np.arange(len(params)))
        page = Page(browser, live.url)
        now = RaceState(state.problem, state.observations[:1])
        ranking = fitted.strategy_.ranking(now)
        live.update(now, params, ranking, strategy=fitted.strategy_)
        wait_for(lambda: len(page.texts(".looks tbody tr")) == 1, "the first look")
    wait_for(
        lambda: "no longer answers" in page.find("#live-status").text,
        "the end of the questions",
    )
    assert page.requests  # told once
    time.sleep(0.5)
    assert page.requests == []


def test_hostile_names_in_news_are_shown_and_not_run(browser, fitted):
    """What a live page hears after it was opened becomes part of it, as text."""
    attack = "</script><img src=x onerror=\"window.hit='yes'\">"
    state = fitted.race_
    n_configurations = len(fitted.cv_results_["params"])
    params = [{attack: f"{attack}{n % 3}", "alpha": n} for n in range(n_configurations)]

    with LiveReport(title=attack, scoring=attack) as live:
        live.update(RaceState(state.problem), params, np.arange(n_configurations))
        page = Page(browser, live.url)
        for n_looks in (1, 2):
            now = RaceState(state.problem, state.observations[:n_looks])
            ranking = fitted.strategy_.ranking(now)
            live.update(now, params, ranking, strategy=fitted.strategy_)
            wait_for(
                lambda n=n_looks: len(page.texts(".looks tbody tr")) == n,
                f"look {n_looks}",
            )
        page.find("#table tbody tr").click()
        assert attack in page.find("#details-body").text
        assert page.run("return window.hit || 'no'") == "no"
        assert page.run("return document.querySelectorAll('img').length") == 0
        assert page.complaints == []
