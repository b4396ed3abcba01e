"""``python -m cvst`` is the command ``cvst``."""

import os
import sys


def _forget_the_current_folder() -> None:
    """Take the current folder off the path, where ``python -m`` has put it.

    Files beside the data must not be imported instead of packages.
    """
    here = os.path.realpath(os.curdir)
    package = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120 # no pathlib yet
    added = not sys.flags.safe_path and os.path.realpath(sys.path[0]) == here
    # Running the sources where they lie needs that folder.
    if added and os.path.dirname(package) != here:  # noqa: PTH120
        del sys.path[0]


if __name__ == "__main__":
    _forget_the_current_folder()

    from cvst.cli import main

    sys.exit(main())
