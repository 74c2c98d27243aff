"""The inventory of docs/papers.md: its rows, and the numbered items that a figure or a table names."""

import re
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.text import Text

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
_LABEL = re.compile(r"(Figure|Table)s? (\d[\d.]*[a-d]?(?:(?:, (?:and )?| to | and )\d[\d.]*[a-d]?)*)")


def numbers(text: str) -> set[str]:
    """Return the numbered items that a text names, such as ``Figure 5``, those of ranges too."""
    found = set()
    for kind, rest in _LABEL.findall(text.replace("(", "").replace(")", "")):
        for part in re.split(r", and |, | and ", rest):
            ends = [end.strip(".abcd").rpartition(".") for end in part.split(" to ")]
            found |= {f"{kind} {ends[0][0]}{ends[0][1]}{k}" for k in range(int(ends[0][2]), int(ends[-1][2]) + 1)}
    return found


def rows() -> list[tuple[str, str, str]]:
    """Return item, outcome and sources of each row."""
    found = []
    for line in PAGE.split("## Inventory")[1].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[2] not in ("outcome", "---"):
            found.append((cells[0], cells[2], cells[3]))
    return found


def assert_shown(name: str, result: Any) -> None:
    """Compare each row whose first source is an experiment with what that draws and prints, in its short form."""
    for item, _, sources in rows():
        source = next(iter(re.findall(r"`([^`]+)`", sources)), "")
        call = re.fullmatch(r'run_experiment\("([\w-]+)"\)((?:\.\w+)*)\.(\w+)\((.*)\)', source)
        if source == f"thunder experiment {name}" or (call and call[1] == name):
            part = result
            for attribute in call[2].split(".")[1:] if call else ():
                part = getattr(part, attribute)
            figure = getattr(part, call[3])(*filter(None, [call[4].strip('"')])) if call else part.plot()
            assert any(axes.has_data() and axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes), source
            words = "\n".join([*(text.get_text() for text in figure.findobj(Text)), part.table()])
            plt.close(figure)
            assert numbers(item) <= numbers(words) or item.startswith("Figures 1 to 13"), (item, source)
