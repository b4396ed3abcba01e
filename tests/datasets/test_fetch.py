import gzip
import os

import numpy as np
import pytest

from cvst.datasets import fetch_benchmark, list_datasets
from cvst.datasets._catalogue import DatasetInfo
from cvst.datasets._content import read_table
from cvst.datasets._fetch import _bunch, _verify
from cvst.exceptions import DataUnavailableError, InvalidInputError

NAMES = [info.name for info in list_datasets() if info.source.startswith("folder")]


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("CVST_DATA_HOME", raising=False)


@pytest.fixture
def small_set(tmp_path):
    path = tmp_path / "tiny.csv.gz"
    path.write_bytes(gzip.compress(b"width,height,target\n1.5,2,1\n3,4.25,-1\n"))
    table = read_table(path)
    info = DatasetInfo(
        "tiny",
        "classification",
        2,
        2,
        "substitute",
        "folder",
        "nowhere",
        "SUBSTITUTE for a larger one.",
        checksum=table.checksum(),
    )
    return table, info


@pytest.mark.parametrize("name", NAMES)
def test_each_file_of_the_folder_has_the_known_content(benchmark_folder, name):
    """The checksum is compared on the way; shape and task come from the list."""
    info = {info.name: info for info in list_datasets()}[name]

    data = fetch_benchmark(name, data_home=benchmark_folder)

    assert data.data.shape == (info.n_samples, info.n_features)
    assert data.target.shape == (info.n_samples,)
    assert np.isfinite(data.data).all()
    assert len(data.feature_names) == info.n_features
    n_classes = len(np.unique(data.target))
    assert (n_classes == 2) == (data.task == "classification")
    assert ("SUBSTITUTE" in data.DESCR) == (info.status == "substitute")


def test_the_environment_names_the_folder(benchmark_folder, tmp_path, monkeypatch):
    """An explicit data_home comes first."""
    monkeypatch.setenv("CVST_DATA_HOME", str(benchmark_folder))
    assert fetch_benchmark("banana").data.shape == (5300, 2)

    with pytest.raises(DataUnavailableError, match=str(tmp_path)):
        fetch_benchmark("banana", data_home=tmp_path)


def test_a_file_with_other_numbers_is_refused(tmp_path):
    """A wrong file under the right name must not pass for the data."""
    path = tmp_path / "banana.csv.gz"
    path.write_bytes(gzip.compress(b"x1,x2,target\n1,2,1\n3,4,-1\n"))

    with pytest.raises(DataUnavailableError, match="2 rows and 2 features") as caught:
        fetch_benchmark("banana", data_home=tmp_path)
    assert str(path) in str(caught.value)


def test_the_right_shape_alone_does_not_pass(small_set):
    """Same size, one changed number."""
    table, info = small_set
    _verify(table, info, "the file")

    table.data[0, 0] += 1e-9
    with pytest.raises(DataUnavailableError, match="other numbers"):
        _verify(table, info, "the file")


def test_a_bunch_says_what_it_is(small_set):
    """Classes are integers, and a substitute says so in its description."""
    bunch = _bunch(*small_set)

    assert bunch.target.dtype.kind == "i"
    np.testing.assert_array_equal(bunch.target, [1, -1])
    np.testing.assert_array_equal(bunch.data, [[1.5, 2], [3, 4.25]])
    assert bunch.feature_names == ["width", "height"]
    assert (bunch.name, bunch.task, bunch.status) == (
        "tiny",
        "classification",
        "substitute",
    )
    assert "SUBSTITUTE" in bunch.DESCR


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bank32nm", "variant with high noise"),
        ("puma32nm", "variant with high noise"),
        ("kin32nm", "found in no public repository"),
        ("kin8nm", "not been checked yet"),
        ("waveform", "40 features instead of 21"),
        ("covtype", "covtype_full"),
    ],
)
def test_sets_that_cannot_be_downloaded_say_why(no_folder, name, reason):
    """Nothing is downloaded in their place."""
    with pytest.raises(DataUnavailableError, match=reason):
        fetch_benchmark(name)


@pytest.mark.parametrize("name", ["german", "covtype_full"])
def test_without_permission_nothing_is_downloaded(no_folder, name, tmp_path):
    """The message names the switch, and nothing is written."""
    with pytest.raises(DataUnavailableError, match="Allow download_if_missing"):
        fetch_benchmark(name, data_home=tmp_path, download_if_missing=False)
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_the_error_names_the_way_out(
    no_folder, tmp_path, monkeypatch
):
    """A real attempt through a proxy that does not exist."""
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    # It remembers its proxies from the first call on, and must not remember these.
    monkeypatch.setattr("urllib.request._opener", None)

    with pytest.raises(DataUnavailableError) as caught:
        fetch_benchmark("splice", data_home=tmp_path)

    message = str(caught.value)
    assert "could not be downloaded (folder or OpenML 46; URLError" in message
    assert "put splice.csv.gz into a folder" in message


def test_names_are_checked():
    """Generated sets point to their generator, others to the list."""
    with pytest.raises(InvalidInputError, match=r"call make_blocks\(\)"):
        fetch_benchmark("blocks")
    with pytest.raises(InvalidInputError, match="name='iris' must be one of banana,"):
        fetch_benchmark("iris")


@pytest.mark.skipif(
    os.environ.get("CVST_LIVE_TESTS") != "1",
    reason="downloads only with CVST_LIVE_TESTS=1",
)
@pytest.mark.parametrize("name", ["german", "splice", "covtype_full"])
def test_the_public_copy_still_has_the_known_content(no_folder, name, tmp_path):
    """A real download, compared with the checksum."""
    data = fetch_benchmark(name, data_home=tmp_path)

    assert data.status == "exact"
    classes, counts = np.unique(data.target, return_counts=True)
    if name == "covtype_full":
        assert dict(zip(classes, counts, strict=True)) == {1: 211_840, 2: 283_301}
