"""What travels between processes: by value where the other side may not know it.

Plain pickle sends classes and functions by name, and those of a script or a notebook
have no name that another process knows; cloudpickle sends them as they are.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, Self, TypeVar

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals import cloudpickle

from cvst.exceptions import InvalidInputError

__all__ = ["Packed", "cloudpickle", "pickling", "portable"]

T = TypeVar("T")


@contextmanager
def pickling() -> Iterator[None]:
    """Say in a sentence that the user's own objects cannot be pickled."""
    try:
        yield
    except (MemoryError, OSError, InvalidInputError):
        raise
    except Exception as error:  # of any type: objects may say how they are pickled
        why = type(error).__name__
        with suppress(Exception):  # an error may fail to say what it is
            why = f"{why}: {error}"
        raise InvalidInputError(
            "Other processes need the estimator, the score and what fit is given, and "
            f"a part of it cannot be pickled: {why}. Leave "
            "that part out, or let one process do the work (n_jobs=1, no fit_timeout)."
        ) from error


class Packed(Generic[T]):
    """A function that any process can receive, whatever pickles its arguments."""

    def __init__(self, function: Callable[..., T]) -> None:
        self.function = function
        self._content: bytes | None = None

    def __call__(self, *args: Any) -> T:
        """Call the function."""
        return self.function(*args)

    def ready(self) -> Self:
        """Pickle it now: whoever sends it would say less of why it cannot be sent."""
        self._pickled()
        return self

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return _unpacked, (self._pickled(),)

    def _pickled(self) -> bytes:
        # Once, for all the chunks it goes with.
        if self._content is None:
            with pickling():
                self._content = cloudpickle.dumps(self.function)
        return self._content


def _unpacked(content: bytes) -> Packed[Any]:
    return Packed(pickle.loads(content))


def portable(error: Exception) -> Exception:
    """Return an error that survives the way to another process.

    Examples
    --------
    >>> class Odd(Exception):
    ...     def __init__(self, first, second):
    ...         super().__init__(f"{first} and {second}")
    >>> portable(Odd(1, 2))
    RuntimeError('Odd: 1 and 2')
    """
    try:
        copy = pickle.loads(cloudpickle.dumps(error))
        if type(copy).__qualname__ == type(error).__qualname__:
            return error
    except Exception:  # whatever reducing or making it raises
        pass
    name = type(error).__name__
    try:
        return RuntimeError(f"{name}: {error}" if str(error) else name)
    except Exception:  # it may fail to say what it is
        return RuntimeError(name)
