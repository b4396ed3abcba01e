"""One process at a time; a lock whose process is gone does not count."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from cvst.exceptions import CheckpointError
from cvst.search.checkpoint import _lock as lock_module
from cvst.search.checkpoint._lock import Lock


@pytest.fixture
def path(tmp_path):
    return tmp_path / "race"


def taken(path):
    lock = Lock(path)
    lock.take()
    return lock


def written(path):
    return json.loads(path.with_name("race.lock").read_text())


def test_a_lock_can_be_taken_again_after_it_is_released(path):
    taken(path).release()
    taken(path).release()
    assert not list(path.parent.iterdir())


def test_the_same_process_cannot_take_it_twice(path):
    lock = taken(path)
    with pytest.raises(CheckpointError, match="in use by this process"):
        taken(path)
    lock.release()


def test_a_file_with_two_names_has_one_lock(path, tmp_path):
    """A link in another folder leads to the same file."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "mine"
    link.symlink_to(path)
    lock = taken(path)
    with pytest.raises(CheckpointError, match="mine' is in use by this process"):
        taken(link)
    lock.release()
    taken(link).release()


def linked(path, tmp_path):
    target = tmp_path / "victim"
    target.write_bytes(b"")
    path.symlink_to(target)


def folder(path, tmp_path):
    path.mkdir()


def pipe(path, tmp_path):
    os.mkfifo(path)


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("made", [linked, folder, pipe])
def test_what_is_no_regular_file_is_no_lock(made, path, tmp_path):
    """A link could lead to any file of the user, and a pipe waits for ever."""
    made(path.with_name("race.lock"), tmp_path)
    with pytest.raises(CheckpointError, match="is not a regular file"):
        taken(path)
    if made is linked:
        assert (tmp_path / "victim").read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_lock_that_became_a_link_is_left_alone(path, tmp_path):
    lock = taken(path)
    file = path.with_name("race.lock")
    file.unlink()
    linked(file, tmp_path)
    lock.release()
    assert file.is_symlink()


OTHER = """
import os, signal, sys
from pathlib import Path
from cvst.exceptions import CheckpointError
from cvst.search.checkpoint._lock import Lock

try:
    Lock(Path(sys.argv[1])).take()
except CheckpointError as error:
    print(error, flush=True)
Lock(Path(sys.argv[2])).take()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for states")
def test_another_process_is_refused_and_one_that_ended_unnoticed_is_not_obeyed(
    path, tmp_path
):
    """The other is told by whom, takes another lock, and is killed.

    As its parent has not asked how it ended, it still has its number.
    """
    lock, left = taken(path), tmp_path / "left"
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(path), str(left)],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        said = child.stdout.read()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        os.kill(child.pid, 0)  # the number is still taken
        assert json.loads((tmp_path / "left.lock").read_text())["pid"] == child.pid
        taken(left).release()
    assert f"is in use by process {os.getpid()}, which is still running" in said
    lock.release()


def test_a_lock_of_a_process_that_is_gone_is_taken_over(path, caplog):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    identity = {**lock_module._identity(os.getpid()), "pid": child.pid}
    path.with_name("race.lock").write_text(json.dumps(identity))
    lock = taken(path)
    assert written(path)["pid"] == os.getpid()
    assert f"was left by process {child.pid}, which is gone" in caplog.text
    lock.release()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_number_that_another_process_has_by_now_is_recognised(path):
    identity = {**lock_module._identity(os.getpid()), "began": "an earlier boot 17"}
    path.with_name("race.lock").write_text(json.dumps(identity))
    taken(path).release()


LEAVES_A_LOCK = """
import os, signal, sys
from pathlib import Path
from cvst.search.checkpoint._lock import Lock

Lock(Path(sys.argv[1])).take()
os.kill(os.getpid(), signal.SIGKILL)
"""


def left_by(path, *before):
    """Let a process take a lock and be killed; return its number."""
    command = [*before, sys.executable, "-c", LEAVES_A_LOCK, str(path)]
    subprocess.run(command, check=False)
    return written(path)["pid"]


NEXT_PID = Path("/proc/sys/kernel/ns_last_pid")


@pytest.mark.skipif(not os.access(NEXT_PID, os.W_OK), reason="cannot choose numbers")
def test_a_process_that_has_the_number_of_one_that_was_killed_is_told_apart(path):
    """Really: the kernel is asked to give that number again."""
    pid = left_by(path)
    for _ in range(50):  # others may be faster
        NEXT_PID.write_text(str(pid - 1))
        with subprocess.Popen(["sleep", "600"]) as process:
            try:
                if process.pid != pid:
                    continue
                os.kill(pid, 0)
                taken(path).release()
                return
            finally:
                process.kill()
    pytest.skip("others were faster")


ELSEWHERE = ("unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh")


def _has_other_hosts():
    try:
        return not subprocess.run([*ELSEWHERE, "true"], check=False).returncode
    except OSError:
        return False


@pytest.mark.skipif(not _has_other_hosts(), reason="cannot name a host")
def test_a_lock_that_was_left_on_another_host_is_not_taken_over(path):
    """Really: by a process whose machine has another name, for itself."""
    pid = left_by(path, *ELSEWHERE)
    with pytest.raises(CheckpointError, match=f"by process {pid} on .* 'elsewhere'"):
        taken(path)
    path.with_name("race.lock").unlink()
    taken(path).release()


# A process has a number of its own there, and sees no others.
CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc")


def _has_containers():
    try:
        return not subprocess.run([*CONTAINER, "true"], check=False).returncode
    except OSError:
        return False


HOLDS_A_LOCK = """
import sys
from pathlib import Path
from cvst.search.checkpoint._lock import Lock

Lock(Path(sys.argv[1])).take()
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not _has_containers(), reason="cannot make a container")
def test_a_lock_of_another_container_counts_while_its_process_lives(path, caplog):
    """Really: the other process has a number of ours, and the same host name."""
    command = [*CONTAINER, sys.executable, "-c", HOLDS_A_LOCK, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as other:
        assert other.stdout.readline() == "taken\n"
        assert written(path)["host"] == platform.node()
        with pytest.raises(CheckpointError, match="by process 1 in another container"):
            taken(path)
        other.stdin.close()  # it ends, and leaves its lock
    lock = taken(path)
    assert "was left by process 1, which is gone" in caplog.text
    lock.release()


@pytest.mark.skipif(not _has_containers(), reason="cannot make a container")
def test_what_was_forked_does_not_hold_a_lock_for_its_parent(path):
    """A worker that outlives its killed parent must not keep others out."""
    forks = HOLDS_A_LOCK.replace(
        'print("taken"',
        'import os, time\nif not os.fork():\n    time.sleep(600)\nprint("taken"',
    ).replace("sys.stdin.read()", "os.kill(os.getpid(), 9)")
    # Without --kill-child the forked process lives on until its container ends, which
    # is when the shell ends.
    script = f"{sys.executable} -c '{forks}' {path}; echo over; read line"
    command = [*CONTAINER, "sh", "-c", script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as other:
        assert other.stdout.readline() == "taken\n"
        assert other.stdout.readline() == "over\n"
        taken(path).release()
        other.stdin.close()


def test_a_lock_of_another_machine_is_named(path):
    owner = {"pid": 1, "host": f"not {platform.node()}", "began": None}
    path.with_name("race.lock").write_text(json.dumps(owner))
    with pytest.raises(
        CheckpointError, match=r"process 1 on the machine 'not .*delete"
    ):
        taken(path)


def test_a_lock_left_before_it_was_written_is_taken_over(path, monkeypatch):
    monkeypatch.setattr(lock_module, "WRITING_SECONDS", 0.01)
    path.with_name("race.lock").touch()
    taken(path).release()


@pytest.mark.parametrize("content", ["garbage", "[]", "{}", '{"pid": "x"}'])
def test_a_lock_that_says_nothing_is_left_alone(path, content):
    path.with_name("race.lock").write_text(content)
    with pytest.raises(CheckpointError, match="is in use"):
        taken(path)


STALE = {"pid": 2**22 + 1, "host": platform.node(), "began": "long ago"}


def _take(paths, gate, holders):
    for path in paths:
        gate.wait()
        try:
            lock = taken(path)
        except CheckpointError:
            lock = None
        holders.put((path.name, lock is not None))
        gate.wait()  # until all have tried
        if lock is not None:
            lock.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes of that kind here")
def test_of_several_that_find_a_stale_lock_one_takes_it(tmp_path):
    """The second must not remove what the first has just written."""
    fork = get_context("fork")
    paths = [tmp_path / str(trial) for trial in range(100)]
    for path in paths:
        path.with_name(f"{path.name}.lock").write_text(json.dumps(STALE))
    gate, holders = fork.Barrier(4, timeout=300), fork.SimpleQueue()
    several = [
        fork.Process(target=_take, args=(paths, gate, holders)) for _ in range(4)
    ]
    for one in several:
        one.start()
    told = [holders.get() for _ in range(4 * len(paths))]
    for one in several:
        one.join()
    assert sorted(name for name, holds in told if holds) == sorted(
        path.name for path in paths
    )
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".lock"]


def test_a_lock_that_somebody_else_has_by_now_is_left_alone(tmp_path):
    lock = Lock(tmp_path / "race")
    lock.path.write_text(json.dumps({**STALE, "pid": 1}))
    lock.release()
    assert lock.path.exists()


@pytest.mark.parametrize("interrupted", ["_identity", "_began"])
def test_a_lock_whose_taking_was_interrupted_is_released(
    path, interrupted, monkeypatch
):
    def interrupt(pid):
        raise KeyboardInterrupt

    monkeypatch.setattr(lock_module, "WRITING_SECONDS", 0.01)
    lock = Lock(path)
    with monkeypatch.context() as patch:
        patch.setattr(lock_module, interrupted, interrupt)
        with pytest.raises(KeyboardInterrupt):
            lock.take()
    lock.release()
    taken(path).release()
    assert not list(path.parent.iterdir())


def test_a_lock_that_was_refused_is_not_released(path):
    lock, refused = taken(path), Lock(path)
    with pytest.raises(CheckpointError):
        refused.take()
    refused.release()
    assert written(path)["pid"] == os.getpid()
    lock.release()
