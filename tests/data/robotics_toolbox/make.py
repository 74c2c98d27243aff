"""Record the Robotics Toolbox's answers for docs/coming_from/robotics_toolbox.md.

``PYTHONPATH=. python tests/data/robotics_toolbox/make.py`` where roboticstoolbox-python 1.5.0, NumPy 2.4 and this
package are installed. The tests compare this package with answers.json and do without the toolbox.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.docs.pages import snippets
from tests.docs.test_coming_from import PAGES, TOOLBOX_ROWS, toolbox_names

LINK = ("a", "alpha", "d", "theta", "offset", "isrevolute", "isflip", "m", "r", "I", "G", "B", "Jm")


def exists(root: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(root, name):
            return False
        root = getattr(root, name)
    return True


def main() -> None:
    """Run the page's program, evaluate the left cells, and write what a converted robot needs."""
    names: dict[str, Any] = {}
    exec(snippets((PAGES / "robotics_toolbox.md").read_text(encoding="utf-8"))[0].code, names)
    puma = names["puma"]
    answers = {
        "version": names["rtb"].__version__,
        "robot": {
            "n": puma.n,
            "mdh": puma.mdh,
            "qlim": puma.qlim,
            "gravity": puma.gravity,
            "base": puma.base.A,
            "tool": puma.tool.A,
            "links": [{name: getattr(link, name) for name in LINK} for link in puma.links],
        },
        "values": {row.code[0]: np.array(eval(row.code[0], names)) for row in TOOLBOX_ROWS},
        "names": sorted(f"{root}.{path}" for root, path in toolbox_names() if exists(names[root], path)),
    }
    text = json.dumps(answers, indent=1, default=lambda value: value.tolist())
    Path(__file__).with_name("answers.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
