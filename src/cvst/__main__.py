"""``python -m cvst`` is the command ``cvst``."""

import sys

from cvst.cli import main

if __name__ == "__main__":
    sys.exit(main())
