"""The inventory of docs/papers.md: its rows, and the numbered items that a figure or a table names."""

import re
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
_LABEL = re.compile(r"([Ff]igure|[Tt]able|[Ll]ecture)s? (\d[\d.]*[a-d]?(?:(?:, (?:and )?| to | and )\d[\d.]*[a-d]?)*)")


def numbers(text: str) -> set[str]:
    """Return the numbered items that a text names, such as ``Figure 5``, those of ranges too."""
    found = set()
    for kind, rest in _LABEL.findall(text.replace("(", "").replace(")", "")):
        for part in re.split(r", and |, | and ", rest):
            ends = [end.strip(".abcd").rpartition(".") for end in part.split(" to ")]
            found |= {
                f"{kind.capitalize()} {ends[0][0]}{ends[0][1]}{k}" for k in range(int(ends[0][2]), int(ends[-1][2]) + 1)
            }
    return found


def rows() -> list[tuple[str, str, str]]:
    """Return item, outcome and sources of each row."""
    found = []
    for line in PAGE.split("## Inventory")[1].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[2] not in ("outcome", "---"):
            found.append((cells[0], cells[2], cells[3]))
    return found


_TIME = "time [s]"
_ERROR = "norm of $e$ [m, rad]"
_ABOVE = ("y [m]", "z [m]")
_PLANE = ("x [m]", "y [m]")
_MASS = (_TIME, "$m$ [kg]")
_BELT = ("speed of the belt [m/s]", "success [%]")
#: axes of a panel of each figure, with quantity and unit, by experiment
DRAWN: dict[str, dict[str, tuple[str, str]]] = {
    "gains": {
        "Figure 5": _ABOVE,
        **{f"Figure {k}": (_TIME, _ERROR) for k in (6, 8, 10)},
        **{f"Figure {k}": _MASS for k in (7, 9)},
    },
    "lissajous": {"Figure 7": _MASS, "Figure 10": (_TIME, "position error [mm]")},
    "softhand": {"Figure 12": (_TIME, _ERROR), "Figure 13": _MASS},
    "elbow": {"Figure 2": _PLANE},
    "scara": {
        "Figure 2.1": ("y [m]", "x [m]"),
        "Figure 2.2": (_TIME, r"$\varphi$ [rad]"),
        "Figure 2.3": (_TIME, "velocity [m/s]"),
        "Figure 2.4": (_TIME, "acceleration [m/s²]"),
        "Figure 3.3": (_TIME, "velocity [rad/s]"),
        "Figure 3.4": (_TIME, "error [µm]"),
        "Figure 3.7": (_TIME, "q [rad, m]"),
        "Figure 3.8": (_TIME, r"$w = \sqrt{\det(J J^\top)}$ [m]"),
        **{f"Figure {k}": (_TIME, "error along z [m]") for k in (4.2, 4.5)},
        "Figure 4.4": (_TIME, "mass of link 3 [kg]"),
        "Figure 4.7": (_TIME, "torque [N m], force [N]"),
        "Section 1.4": _PLANE,
    },
    "d42-joint": {
        "Figure 14": (_TIME, "norm of $e$ [rad]"),
        "Figure 15": (_TIME, r"condition number of $\hat M$ [1]"),
    },
    "d42-cartesian": {
        **{f"Figure {k}": _ABOVE for k in (16, 18)},
        **{f"Figure {k}": (_TIME, "position error [m]") for k in (17, 21, 22, 23)},
    },
    "d42-estimation": {"Figure 19": (_TIME, "$m c$ [kg m]"), "Figure 20": (_TIME, "norm of $e$ [rad]")},
    "throwing": {
        **{f"Figure {k}": _PLANE for k in (25, 28)},
        "Figure 27": ("x, landing minus target [cm]", "y, landing minus target [cm]"),
    },
    "throwing --physics": {"Figure 27": ("x, landing minus target [cm]", "y, landing minus target [cm]")},
    "human-like-sampling": {
        "Figure 30": ("number of via points tried", "mean time of a plan [ms]"),
    },
    "human-like-obstacles": {"Figure 31": _PLANE, "Figure 32": (_TIME, "speed [m/s]")},
    "human-like-arm": {"Figure 33": _PLANE, "Figure 34": _PLANE},
    "moving-objects": {"Figure 37": (_TIME, "jerk [m/s³]"), "Figure 39": _BELT},
    "moving-objects-clouds": {"Figure 38": ("", "success [%]"), "Figure 39": _BELT},
    "grasping": {"Figure 39": ("belt [m/s]", "lifted and held [%]")},
    "pose-accuracy": {"Figure 43": ("hidden part of the visible surface [%]", "error, median [mm]")},
    "picking": {f"Figure {k}": ("picked [%], with 95 % interval", "") for k in (44, 45)},
    "picking --physics": {f"Figure {k}": ("object", "success [%]") for k in (44, 45)},
}
#: axes of the pictures of pages, drawn by the scripts beside them
PICTURES: dict[str, tuple[str, str]] = {
    "Figure 24": ("d [m]", "height [m]"),
    "Figure 29": ("x [m]", "z [m]"),
    "Figure 35": (r"object less $p_{ref}$ at $t_f$ [m]", "goal [m], time [s]"),
}
_SUCCESS = (95, 91, 52, 81, 31, 0)
#: the paper's numbers, copied from it, which the experiment prints beside ours, and words
PRINTED: dict[str, dict[str, tuple[float | str, ...]]] = {
    "gains": {
        "Table 6": (0.0258, 0.0219, 0.0226, 15.102, 19.612, 15.961),
        "Table 7": (0.0136, 0.0219, 0.1204, 3.668, 19.612, 23.572),
    },
    "softhand": {"Table 8": (1.5655, 0.0617, -0.0004, 0.0009, 1.7542, 0.0414, -0.0039, -0.0191, 0.736, 0.014, -0.045)},
    "scara": {"Section 2": ("index, trapezoid / cubic", "worse, limited", 1.19)},
    "human-like-sampling": {
        "Figure 30": (0.848, 6.88, 0.8, 0.2),
        "Section 5.3.1": ("Does the number change the mean jerk?",),
    },
    "d42-joint": {"Table 7": (0.311, 1.07, 0.173, 0.137)},
    "d42-cartesian": {
        "Table 8": (0.2545, 0.0266, 0.0505, 0.0768, 0.0313, 0.0315),
        "Table 9": (0.0537, 0.0267, 0.0350, 0.0571, 0.0347, 0.0387, 0.0862, 0.0357, 0.0491),
    },
    "throwing": {"Figure 27": (0.603, 17.4)},
    "human-like-sweeps": {
        "Table 10": (0.0306, 0.0411),
        "Table 11": (0.1976, 0.0884, 1.1503),
        "Table 12": (3.24e-2, 0.80e-2, 1.84e-2, 2.30e-2),
        "Table 13": (0.22, 0.21, 0.22, 0.26, 1.19, 1.59, 1.31, 1.28),
        "Table 14": (0.28, 0.31, 1.65, 3.19),
        "Table 15": (0.32, 0.97, 0.78, 1.87, 5.77, 3.00),
    },
    "moving-objects": {"Figure 39": _SUCCESS},
    "moving-objects-sweeps": {"Table 16": _SUCCESS},
    "grasping": {"Figure 39": _SUCCESS},
    "picking": {"Figure 44": (95,), "Figure 45": (95,)},
    "picking --physics": {"Figure 44": (95,), "Figure 45": (95,)},
}
#: the report has those of the article
_SAME = "Figures 1 to 13, Tables 2 to 6"


def items(item: str) -> set[str]:
    """Return the figures, tables and the section that a row is about."""
    return numbers(item) | ({item} if item.startswith("Section") else set())


def shown() -> Iterator[tuple[str, str, str, Any]]:
    """Iterate over experiment, item, source and what the source calls on the result, of rows with an experiment."""
    for item, _, sources in rows():
        for source in re.findall(r"`([^`]+)`", sources):
            call = re.fullmatch(r'run_experiment\("([\w-]+)"\)((?:\.\w+)*)\.(\w+)\((.*)\)', source)
            command = re.fullmatch(r"thunder experiment ([\w-]+(?: --physics)?)", source)
            if (call or command) and not item.startswith(_SAME):
                name = call[1] if call else command[1]  # type: ignore[index]
                yield name, item, source, call


def assert_shown(name: str, result: Any) -> None:
    """Find figures with their axes and the paper's numbers in what each row's experiment draws and prints.

    A panel names its figure in its title, or the figure as a whole does.
    """
    for where, item, source, call in shown():
        if where != name:
            continue
        part = result
        for attribute in call[2].split(".")[1:] if call else ():
            part = getattr(part, attribute)
        figure = getattr(part, call[3])(*filter(None, [call[4].strip('"')])) if call else part.plot()
        text = result.table()
        for one in items(item):
            if one in DRAWN.get(name, ()):
                assert DRAWN[name][one] in axes_of(figure, one), (one, source)
            if one in PRINTED.get(name, ()):
                assert one in numbers(text) or not one.startswith("Table"), (one, source)
                assert [x for x in PRINTED[name][one] if not _printed(x, text)] == [], (one, source)
        plt.close(figure)


def axes_of(figure: Figure, item: str) -> list[tuple[str, str]]:
    """Return the labels of the panels with data that name an item, or of all if only the title of the figure does."""
    panels = [axes for axes in figure.axes if axes.has_data()]
    named = [axes for axes in panels if _names(axes.get_title(), item)]
    whole = panels if not named and _names(figure.get_suptitle(), item) else named
    return [(axes.get_xlabel(), axes.get_ylabel()) for axes in whole]


def _names(text: str, item: str) -> bool:
    return item in numbers(text) or item.lower() in text.lower()


def _printed(value: float | str, text: str) -> bool:
    """Return whether a number is in a table, with the digits that it has there, or a word."""
    if isinstance(value, str):
        return value in text
    cells = (float(x) for x in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", text))
    return any(abs(x - value) <= 5e-3 * abs(value) for x in cells)
