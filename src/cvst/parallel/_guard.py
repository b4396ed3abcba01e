"""Worker processes that can be ended: one fit that hangs or crashes is one failure.

joblib's workers take tasks from a queue, so it is not known outside which of them does
what. Here each process is asked one thing at a time, and ended if it takes too long.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from cvst.parallel._pickling import cloudpickle, pickling
from cvst.parallel._single import for_workers
from cvst.parallel._worker import START

__all__ = ["Guard", "called_within"]

T = TypeVar("T")

# What a worker answers a chunk of groups with: something for each configuration.
Results = list[Any]


class _EndedError(Exception):
    """A worker that gives no answer; the text says why."""


class _TooSlowError(_EndedError):
    """A worker that was ended, since it took too long."""


@dataclass
class _Work:
    """What one run asks of the processes, and whether it still wants an answer."""

    content: bytes
    lost: Callable[[list[list[int]], str], Results]
    over: bool = False


class Guard:
    """A few worker processes, each of which can be replaced.

    Parameters
    ----------
    n_workers : int
        How many work side by side.
    seconds : float
        What one configuration may take; a group that shares work may take as much for
        each of its members.

    Notes
    -----
    A process starts with the first chunk and again after each that had to be ended,
    which takes a second or two: Python and scikit-learn are imported anew.
    """

    def __init__(self, n_workers: int, seconds: float) -> None:
        self.n_workers = n_workers
        self.seconds = seconds
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._lock = threading.Lock()

    def run(
        self,
        function: Callable[[Any], Results],
        chunks: Iterable[list[list[int]]],
        lost: Callable[[list[list[int]], str], Results],
        *,
        eager: bool = True,
    ) -> Generator[Results, None, None]:
        """Call a function on every group of every chunk, and yield results in order.

        Parameters
        ----------
        function : callable
            What to do with a chunk of groups.
        chunks : iterable
            The work.
        lost : callable
            Given a chunk and the reason, returns what stands for its results.
        eager : bool
            Whether chunks are taken before a worker is free.
        """
        with pickling():
            content = cloudpickle.dumps(for_workers(function))
        groups = ([group] for chunk in chunks for group in chunk)
        waiting: deque[Future[Results]] = deque()
        ahead = self.n_workers * (2 if eager else 1)
        work = _Work(content, lost)
        executor = ThreadPoolExecutor(self.n_workers, thread_name_prefix="cvst-guard")
        try:
            while True:
                for chunk in islice(groups, ahead - len(waiting)):
                    waiting.append(executor.submit(self._attempt, work, chunk))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            # Whoever has seen enough does not wait for fits in flight.
            with self._lock:
                work.over = True
            # Before processes are ended: each would make room for the next chunk.
            executor.shutdown(wait=False, cancel_futures=True)
            self._end_busy()
            executor.shutdown(wait=True)

    def wake(self, function: Callable[[Any], Any]) -> None:
        """Let all processes start and receive a function: what is timed must not wait.

        Parameters
        ----------
        function : callable
            Needs what fits need, and does nothing.
        """
        chunks = [[[0]] for _ in range(self.n_workers)]
        for _ in self.run(function, chunks, lambda *_: []):
            pass

    def close(self) -> None:
        """End all processes; none is busy once :meth:`run` is over."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _attempt(
        self, work: _Work, chunk: list[list[int]], again: bool = True
    ) -> Results:
        members = [number for group in chunk for number in group]
        try:
            return self._ask(work, chunk, self.seconds * len(members))
        except _EndedError as error:
            if work.over:
                return []
            if len(members) > 1:
                # Only one of them may be to blame.
                alone = (self._attempt(work, [[number]]) for number in members)
                return [result for results in alone for result in results]
            if again and not isinstance(error, _TooSlowError):
                return self._attempt(work, chunk, again=False)
            return work.lost(chunk, str(error))

    def _ask(self, work: _Work, chunk: Any, seconds: float) -> Results:
        with self._lock:
            if work.over:
                raise _EndedError
            process = self._idle.pop() if self._idle else _Process()
            self._busy.add(process)
        try:
            results = process.ask(work.content, chunk, seconds)
        except BaseException:
            process.end()
            raise
        finally:
            with self._lock:
                self._busy.discard(process)
        with self._lock:
            self._idle.append(process)
        return results

    def _end_busy(self) -> None:
        with self._lock:
            busy = list(self._busy)
        for process in busy:
            process.end()


def called_within(seconds: float, function: Callable[[], T]) -> T | None:
    """Call a function in a process of its own; None if it takes longer, or ends it.

    Examples
    --------
    >>> called_within(60.0, partial(max, 2, 3))
    3
    """
    with closing(Guard(1, seconds)) as guard:
        work = guard.run(partial(_alone, function), [[[0]]], lambda *_: [None])
        with closing(work):
            [[found]] = work
    result: T | None = found
    return result


def _alone(function: Callable[[], T], chunk: Any) -> list[T]:
    del chunk
    return [function()]


class _Process:
    """One worker process and the way to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # With it go the processes that a fit has started.
            start_new_session=True,
        )
        self._known = b""

    def ask(self, content: bytes, chunk: Any, seconds: float) -> Results:
        """Return what a function makes of a chunk, within some seconds."""
        if content is not self._known:
            # Starting and unpacking do not count as fitting.
            self._answer(("function", content))
            self._known = content
        late = threading.Event()

        def too_late() -> None:
            late.set()
            self._kill()

        # No clock runs for longer.
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), too_late)
        timer.daemon = True
        timer.start()
        try:
            results: Results = self._answer(("chunk", chunk))
        except _EndedError:
            if not late.is_set():
                raise
        finally:
            timer.cancel()
            # A timer that fired just now has ended the process: wait until it says so.
            timer.join()
        if late.is_set():
            raise _TooSlowError(
                f"TimeoutError: no result within fit_timeout={seconds:g} seconds"
            )
        return results

    def end(self) -> None:
        """End the process, whatever it does."""
        self._kill()
        for pipe in (self._process.stdin, self._process.stdout):
            # What was on the way has nowhere to go.
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _send(self, message: Any) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
        pipe.flush()

    def _answer(self, message: Any) -> Any:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            if not self._known:
                self._send(sys.path)
            self._send(message)
            good, answer = pickle.load(pipe)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            raise _EndedError(self._last_words()) from error
        if not good:
            raise answer
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return (
            f"WorkerDied: the process that fitted it ended {how}, twice; a crash, too "
            "little memory or a call of os._exit does that"
        )
