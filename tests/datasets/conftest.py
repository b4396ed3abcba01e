"""What the tests of the data sets share."""

import gzip
import http.client
import json
import os
import threading
import urllib.request
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def r_samples():
    """Return summaries of data drawn by the authors' R package."""
    path = Path(__file__).parent / "reference" / "r_samples.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def benchmark_folder():
    """Return the folder of real data sets, where there is one."""
    folder = os.environ.get("CVST_DATA_HOME")
    if not folder:
        pytest.skip("CVST_DATA_HOME names no folder of benchmark data")
    return Path(folder)


@pytest.fixture(scope="session")
def assert_same_quantiles():
    """Return a check that a large sample has the deciles of a reference sample."""

    def check(sample, deciles, n_reference):
        expected = np.arange(1, 10) / 10
        actual = np.mean(sample[:, np.newaxis] <= deciles, axis=0)
        sampling_error = np.sqrt(expected * (1 - expected) / n_reference)
        assert np.all(np.abs(actual - expected) < 4.5 * sampling_error)

    return check


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """Serve files as OpenML does, to scikit-learn's own client.

    They are found where the client keeps what it has downloaded, packed as they travel.
    Returns their folder and the list of paths that were asked for.
    """
    folder, asked = tmp_path / "served", []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            found = folder / "openml" / "openml.org" / f"{self.path.lstrip('/')}.gz"
            content = found.read_bytes() if found.is_file() else b""
            self.send_response(200 if content else 404)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        port = server.server_address[1]

        class ToServer(urllib.request.HTTPSHandler):
            def https_open(self, request):
                def connect(host, **settings):
                    assert host.endswith("openml.org")
                    return http.client.HTTPConnection("127.0.0.1", port, **settings)

                return self.do_open(connect, request)

        no_proxies = urllib.request.ProxyHandler({})
        opener = urllib.request.build_opener(no_proxies, ToServer)
        monkeypatch.setattr("urllib.request._opener", opener)
        monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
        monkeypatch.delenv("CVST_DATA_HOME", raising=False)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, asked
        server.shutdown()
        thread.join()


@pytest.fixture
def german_online(openml):
    """Serve all rows of the German credit data; return the paths asked for."""
    folder, asked = openml
    path = Path(__file__).parent / "reference" / "credit_g.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    _write_openml_cache(folder, 31, kept["attributes"], kept["rows"])
    return asked


@pytest.fixture(scope="session")
def write_openml_cache():
    """Return a function that lays data into the cache of scikit-learn's client."""
    return _write_openml_cache


def _write_openml_cache(folder, data_id, attributes, rows, ignored=()):
    """Put a data set where scikit-learn's OpenML client keeps downloaded ones.

    ``attributes`` maps a name to "numeric" or to a list of categories; the last one
    is the target.
    """
    url = f"https://www.openml.org/data/v1/download/{data_id}/set.arff"
    quoted = {
        name: kind
        if kind == "numeric"
        else "{" + ",".join(f"'{c}'" for c in kind) + "}"
        for name, kind in attributes.items()
    }
    arff = "@relation test\n"
    arff += "".join(f"@attribute {name} {kind}\n" for name, kind in quoted.items())
    arff += "@data\n"
    for row in rows:
        arff += ",".join(str(v) if isinstance(v, int) else f"'{v}'" for v in row) + "\n"
    target = list(attributes)[-1]
    features = [
        {
            "index": str(index),
            "name": name,
            "data_type": "numeric" if kind == "numeric" else "nominal",
            "is_target": str(name == target).lower(),
            "is_ignore": str(name in ignored).lower(),
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for index, (name, kind) in enumerate(attributes.items())
    ]
    description = {
        "id": str(data_id),
        "name": "test",
        "version": "1",
        "description": "test",
        "format": "ARFF",
        "url": url,
        "file_id": str(data_id),
        "status": "active",
        "md5_checksum": md5(arff.encode()).hexdigest(),
    }
    quality = [{"name": "NumberOfInstances", "value": str(len(rows))}]
    api = "api/v1/json/data"
    contents = {
        f"{api}/{data_id}": json.dumps({"data_set_description": description}),
        f"{api}/features/{data_id}": json.dumps(
            {"data_features": {"feature": features}}
        ),
        f"{api}/qualities/{data_id}": json.dumps(
            {"data_qualities": {"quality": quality}}
        ),
        f"data/v1/download/{data_id}/set.arff": arff,
    }
    for place, text in contents.items():
        path = folder / "openml" / "openml.org" / f"{place}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
