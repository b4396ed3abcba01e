from html.parser import HTMLParser

from cvst.report import notebook_html
from cvst.report import summary as summary_of


def test_every_strategy_has_a_fragment_that_closes_what_it_opens(any_strategy):
    """Witness: an HTML parser with a stack."""
    stack = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            stack.append(tag)

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Parser().feed(notebook_html(any_strategy))
    assert stack == []


def test_names_and_values_are_escaped(fitted, monkeypatch):
    page = summary_of(fitted)
    page["winner"]["parameters"] = {"<script>": "a & b"}
    monkeypatch.setattr("cvst.report._notebook.summary", lambda search: page)
    html = notebook_html(fitted)
    assert "<script" not in html
    assert "<b>&lt;script&gt;</b> = a &amp; b" in html


def test_the_score_is_called_no_estimate(fitted):
    html = notebook_html(fitted)
    assert f"{fitted.best_score_:.5g}" in html
    assert "not an estimate for all rows" in html
