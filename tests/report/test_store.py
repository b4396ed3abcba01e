"""A stored race gives the same page, and a bad file one clear sentence."""

from __future__ import annotations

import gzip
import json

import pytest

from cvst.exceptions import InvalidInputError
from cvst.report import html_report, page_html, race_bytes, read_race, summary

HOSTILE = '</script><script>alert("x")</script>'


@pytest.fixture
def stored(fitted, tmp_path):
    path = tmp_path / "race.json.gz"
    page = summary(fitted, command="cvst search a.csv")
    path.write_bytes(race_bytes(page, title="Sinc"))
    return path


def test_the_page_from_the_file_is_the_page_of_the_search(any_strategy, tmp_path):
    """Character by character, for every strategy."""
    path = tmp_path / "race.json.gz"
    page = summary(any_strategy, command="cvst search a.csv")
    path.write_bytes(race_bytes(page, title="Sinc"))
    expected = html_report(any_strategy, title="Sinc", command="cvst search a.csv")
    assert read_race(path).html() == expected


def test_a_file_that_was_unpacked_is_read_too(stored, tmp_path):
    plain = tmp_path / "race.json"
    plain.write_bytes(gzip.decompress(stored.read_bytes()))
    assert read_race(plain) == read_race(stored)


def test_the_same_race_gives_the_same_bytes(fitted):
    assert race_bytes(summary(fitted)) == race_bytes(summary(fitted))


def test_text_of_a_stranger_stays_text(stored):
    """Whoever changed the file cannot put a script into the page."""
    document = json.loads(gzip.decompress(stored.read_bytes()))
    document["title"] = HOSTILE
    document["race"]["winner"]["parameters"] = {HOSTILE: HOSTILE}
    document["race"]["configurations"][0]["parameters"] = {HOSTILE: HOSTILE}
    document["race"]["strategy"] = HOSTILE
    stored.write_bytes(json.dumps(document).encode())
    page = read_race(stored).html()
    assert page.count("<script") == page_html(read_race(stored).page).count("<script")
    assert HOSTILE not in page


def changed(stored, change):
    document = json.loads(gzip.decompress(stored.read_bytes()))
    change(document)
    stored.write_text(json.dumps(document), encoding="utf-8")
    return stored


def drop(*path):
    def change(document):
        for name in path[:-1]:
            document = document[name]
        del document[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda document: document.update(format=2), "reads formats up to 1"),
        (lambda document: document.update(format="new"), "has format 'new'"),
        (lambda document: document.update(kind="other"), "holds no race"),
        (lambda document: document.update(race=[]), "is damaged"),
        (lambda document: document.update(title=3), "is damaged"),
        (drop("race", "looks"), "is damaged"),
        (drop("race", "looks", 0, "leader_loss"), "is damaged"),
        (drop("race", "configurations", 3, "rank"), "is damaged"),
        (drop("race", "winner", "why"), "is damaged"),
    ],
)
def test_what_is_no_race_is_refused_in_a_sentence(stored, change, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        read_race(changed(stored, change))
    assert str(stored) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:40] + b"\0" * 40 + content[80:],
        lambda content: gzip.decompress(content)[:-10],
        lambda content: b"",
        lambda content: b"\xff\xfe\xfd",
        lambda content: b"[" * 100_000,
    ],
    ids=["cut", "overwritten", "half a JSON", "empty", "no text", "deep"],
)
def test_broken_files_are_refused_in_a_sentence(stored, spoil):
    stored.write_bytes(spoil(stored.read_bytes()))
    with pytest.raises(InvalidInputError, match="is damaged") as caught:
        read_race(stored)
    assert "\n" not in str(caught.value)


def test_a_small_file_cannot_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("cvst.report._store.MOST_BYTES", 1000)
    path = tmp_path / "race.json.gz"
    path.write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(InvalidInputError, match="more than 1,000 bytes"):
        read_race(path)
