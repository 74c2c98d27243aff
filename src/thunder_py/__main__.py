"""``python -m thunder_py`` is the command ``thunder``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
