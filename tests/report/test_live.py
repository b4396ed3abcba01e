import json
import socket
import struct
import threading
from contextlib import closing
from http.client import HTTPConnection
from time import sleep

import pytest

from cvst.race import RaceState
from cvst.report import LiveReport, summary


@pytest.fixture
def live():
    with LiveReport(title="Live <race>") as report:
        yield report


def ask(live, path, **headers):
    port = int(live.url.rstrip("/").rsplit(":", 1)[1])
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def show(live, search, n_looks):
    state = RaceState(search.race_.problem, search.race_.observations[:n_looks])
    ranking = search.strategy_.ranking(state)
    live.update(state, search.cv_results_["params"], ranking, strategy=search.strategy_)


def test_news_come_once_each(live, fitted):
    """A page that knows the last revision is told that nothing happened."""
    assert "not begun" in ask(live, "/")[1]
    assert ask(live, "/news.json?after=-1")[0] == 204

    show(live, fitted, 1)
    status, body = ask(live, "/news.json?after=-1")
    news = json.loads(body)
    assert status == 200
    assert (news["revision"], news["data"]["n_looks"]) == (0, 1)
    assert "Leader so far" in news["race"]
    assert ask(live, "/news.json?after=0")[0] == 204

    show(live, fitted, 2)
    assert json.loads(ask(live, "/news.json?after=0")[1])["data"]["n_looks"] == 2


def test_the_end_is_the_report_of_the_search(live, fitted):
    live.finish(fitted, command="cvst search")
    news = json.loads(ask(live, "/news.json")[1])
    assert news["data"]["finished"]
    assert news["data"]["winner"]["index"] == summary(fitted)["winner"]["index"]
    assert "cvst search" in news["repeat"]
    assert "<title>Live &lt;race&gt;</title>" in ask(live, "/")[1]


def test_only_this_machine_under_its_own_name_is_answered(live, fitted):
    """A foreign name that was pointed at this address gets nothing."""
    live.finish(fitted)
    assert live.url.startswith("http://127.0.0.1:")
    assert ask(live, "/", Host="evil.example")[0] == 403
    assert ask(live, "/news.json", Host="evil.example:80")[0] == 403
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        assert ask(live, "/news.json", Origin=origin)[0] == 403
    assert ask(live, "/news.json", Origin=live.url.rstrip("/"))[0] == 200


@pytest.mark.parametrize(
    ("path", "status"), [("/other", 404), ("/news.json?after=x", 204), ("//[", 404)]
)
def test_strange_questions_are_answered(live, path, status):
    assert ask(live, path)[0] == status


@pytest.mark.parametrize(
    ("path", "header", "status"),
    [("http://[/", "", b"400"), ("/", "Origin: http://[::1\r\n", b"403")],
)
def test_what_is_no_address_is_answered(live, path, header, status, capsys):
    """Browsers do not ask so, and Python's client refuses to."""
    port = int(live.url.rstrip("/").rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        question = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n"
        connection.sendall(question.encode())
        assert connection.recv(12).split()[1] == status
    assert capsys.readouterr().err == ""


def test_a_closed_report_listens_no_more(fitted):
    report = LiveReport()
    report.close()
    with pytest.raises(ConnectionRefusedError):
        ask(report, "/")


def test_a_reader_who_leaves_early_is_no_error(live, fitted, capsys, monkeypatch):
    """Neither a closed connection nor a name that no encoding has."""
    live.finish(fitted)
    monkeypatch.setattr(live, "_html", lambda: "\ud800" * 3_000_000)
    port = int(live.url.rstrip("/").rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        connection.recv(100)
        # Closed with unread data, a connection is reset.
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
    live.close()
    assert capsys.readouterr().err == ""


def test_an_open_page_gets_the_end_before_the_server_goes(fitted, monkeypatch):
    """The last question comes after the race is over, and is answered."""
    monkeypatch.setattr("cvst.report._live.OPEN_FOR", 60.0)
    live = LiveReport()
    show(live, fitted, 1)
    revision = json.loads(ask(live, "/news.json?after=-1")[1])["revision"]
    live.finish(fitted)
    answers = []

    def asks_a_little_later():
        sleep(0.3)
        answers.append(json.loads(ask(live, f"/news.json?after={revision}")[1]))

    page = threading.Thread(target=asks_a_little_later)
    page.start()
    live.close(patience=60)
    page.join()
    assert answers[0]["data"]["finished"]


def test_a_question_that_waits_is_answered_by_the_end(fitted, monkeypatch):
    """However long ago it was asked: browsers slow down pages that nobody looks at."""
    monkeypatch.setattr("cvst.report._live.OPEN_FOR", 0.0)
    live = LiveReport()
    show(live, fitted, 1)
    revision = json.loads(ask(live, "/news.json?after=-1")[1])["revision"]
    answers = []

    def asks():
        answers.append(ask(live, f"/news.json?after={revision}&wait=20"))

    page = threading.Thread(target=asks)
    page.start()
    while not live._n_waiting and page.is_alive():
        sleep(0.01)
    live.finish(fitted)
    live.close(patience=60)
    page.join()
    ((status, body),) = answers
    assert status == 200
    assert json.loads(body)["data"]["finished"]


def test_a_question_that_waits_goes_home_with_the_server(fitted):
    """A race that is broken off has no end to tell."""
    live = LiveReport()
    show(live, fitted, 1)
    answers = []
    path = "/news.json?after=0&wait=20"
    page = threading.Thread(target=lambda: answers.append(ask(live, path)))
    page.start()
    while not live._n_waiting and page.is_alive():
        sleep(0.01)
    live.close()
    page.join()
    assert answers == [(410, "")]


def test_a_connection_ends_with_the_server(fitted):
    """The thread that answers it lives on, and a page may ask again and again."""
    live = LiveReport()
    show(live, fitted, 1)
    port = int(live.url.rstrip("/").rsplit(":", 1)[1])
    with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as page:
        page.request("GET", "/news.json?after=-1")
        page.getresponse().read()
        assert page.sock is not None
        live.close()
        page.request("GET", "/news.json?after=0&wait=20")
        answer = page.getresponse()
        assert answer.status == 410
        answer.read()
        assert page.sock is None


def test_a_page_that_was_closed_while_it_waited_is_not_waited_for(fitted, monkeypatch):
    """It has left with its question unanswered, and nobody hears of the end."""
    monkeypatch.setattr("cvst.report._live.OPEN_FOR", 60.0)
    live = LiveReport()
    show(live, fitted, 1)
    ask(live, "/news.json?after=-1")
    port = int(live.url.rstrip("/").rsplit(":", 1)[1])
    page = HTTPConnection("127.0.0.1", port, timeout=120)
    page.request("GET", "/news.json?after=0&wait=20")
    while not live._n_waiting:
        sleep(0.01)
    page.close()
    live.finish(fitted)
    with live._lock:
        assert live._lock.wait_for(live._end_is_told, 30)
    live.close()


@pytest.mark.parametrize("asked", [False, True])
def test_a_page_that_is_gone_is_not_waited_for(fitted, asked, monkeypatch):
    """Without a page, or with one that was closed, the end comes at once."""
    monkeypatch.setattr("cvst.report._live.OPEN_FOR", 0.0)
    live = LiveReport()
    show(live, fitted, 1)
    if asked:
        ask(live, "/news.json?after=-1")
    live.finish(fitted)

    def wait(timeout=None):
        raise AssertionError("there is no reader to wait for")

    monkeypatch.setattr(live._lock, "wait", wait)
    live.close()
