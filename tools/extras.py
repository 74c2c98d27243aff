"""Print what extras of the installed package ask for, a requirement a line: installing these builds nothing again.

Usage: python tools/extras.py dev notebooks
"""

import re
import sys
from importlib.metadata import requires


def requirements(extras):
    """Return the requirements that belong to one of the extras."""
    found = []
    for line in requires("thunder_py") or []:
        requirement, _, marker = line.partition(";")
        named = re.search(r"extra == ['\"](\w+)['\"]", marker)
        if named and named[1] in extras:
            found.append(requirement.strip())
    return found


if __name__ == "__main__":
    wanted = requirements(sys.argv[1:])
    if not wanted:
        sys.exit(f"no requirements of extras {sys.argv[1:]}")
    print("\n".join(wanted))
