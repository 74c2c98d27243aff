"""D4.2, section 5, all parts: sampling density, reaches, obstacles, human arm."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import UnknownNameError, nearest_hint
from ..registry import Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PARTS", "HumanLike", "run", "run_human_like"]

#: section -> module
PARTS: dict[str, str] = {
    "sampling": "sampling",
    "real": "real",
    "obstacles": "obstacles",
    "arm": "arm",
}
_TITLES = {
    "sampling": "5.3.1 Sampling density",
    "real": "5.3.2 Reaches",
    "obstacles": "5.3.3 Obstacles",
    "arm": "5.3.4 Human arm",
}
_DPI = 110


@dataclass(frozen=True, eq=False)
class HumanLike:
    """Results of all parts of the validation.

    Attributes
    ----------
    parts : dict of str to Experiment
        Results by the names of `PARTS`; each has its own ``table()``, ``plot()`` and ``to_dict()``.
    """

    parts: dict[str, Experiment]

    def table(self) -> str:
        """Return the tables of all parts, one after the other."""
        return "\n\n".join(f"## {_TITLES[name]}\n\n{part.table()}" for name, part in self.parts.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of all parts."""
        return {name: part.to_dict() for name, part in self.parts.items()}

    def plot(self) -> Figure:
        """Draw the figures of all parts below each other, as images; each of `parts` draws its own figure."""
        import matplotlib.pyplot as plt

        pictures = [_picture(part.plot()) for part in self.parts.values()]
        width = max(picture.shape[1] for picture in pictures)
        heights = [picture.shape[0] * width / picture.shape[1] for picture in pictures]
        size = (width / _DPI, sum(heights) / _DPI)
        figure, column = plt.subplots(
            len(pictures), 1, figsize=size, height_ratios=heights, squeeze=False, layout="constrained"
        )
        for axes, picture in zip(column[:, 0], pictures, strict=True):
            axes.imshow(picture)
            axes.set_axis_off()
        return figure


def _picture(figure: Figure) -> npt.NDArray[np.float32]:
    """Return a figure as pixels (height, width, 4), and close it."""
    import matplotlib.pyplot as plt

    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=_DPI)
        file.seek(0)
        pixels: npt.NDArray[np.float32] = np.asarray(plt.imread(file), dtype=np.float32)
    plt.close(figure)
    return pixels


def run_human_like(
    names: Iterable[str] = tuple(PARTS),
    *,
    quick: bool = False,
    data: str | Path | None = None,
    seeds: int | None = None,
    jobs: int = 1,
) -> HumanLike:
    """Run some or all parts of the validation.

    Parameters
    ----------
    names : iterable of str
        Names from `PARTS`.
    quick : bool
        If True, run short forms.
    data : path, optional
        Folder with recordings, for the parts that take them; see `papers.human_like.real.run`.
    seeds : int, optional
        Number of draws of every part: settings, synthetic reaches, recordings to learn from; default theirs.
    jobs : int
        Number of processes.

    Raises
    ------
    UnknownNameError
        If a part is unknown.
    """
    found = {}
    for name in names:
        if name not in PARTS:
            known = ", ".join(PARTS)
            raise UnknownNameError(f"no part is called {name!r}, only {known}{nearest_hint(name, PARTS)}")
        module = import_module(f".{PARTS[name]}", __package__)
        options = {"data": data} if "data" in inspect.signature(module.run).parameters else {}
        found[name] = module.run(quick, seeds=seeds, jobs=jobs, **options)
    return HumanLike(found)


def run(quick: bool = False, data: str | Path | None = None, *, seeds: int | None = None, jobs: int = 1) -> HumanLike:
    """Run the experiment of the registry: all parts, with `seeds` draws of each."""
    return run_human_like(quick=quick, data=data, seeds=seeds, jobs=jobs)
