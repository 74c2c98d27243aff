"""D4.2, Tables 10 and 11: planned reaches against recorded ones of people the planners have not seen."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..progress import progress_bar
from .human_like_comparison import OTHER_CUTS, Comparison, compare, steps
from .human_like_reaches import Reaches, reaches_of
from .human_like_real_tables import REASONS, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HumanLikeReal", "run", "run_human_like_real"]


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeReal:
    """What the experiment found.

    Attributes
    ----------
    sources : tuple of Comparison
        One for each source of reaches.
    """

    sources: tuple[Comparison, ...]

    def table(self) -> str:
        """Return Tables 10 and 11 with the report's numbers beside ours, differences with intervals, and reasons."""
        return "\n\n".join([*(tables(source) for source in self.sources), REASONS])

    def plot(self) -> Figure:
        """Draw distances of all methods, and examples: paths and speeds."""
        from ..plotting.human_like_real import plot_human_like_real

        return plot_human_like_real(self)


def run_human_like_real(
    sources: Iterable[Reaches], *, cuts: Iterable[float] = OTHER_CUTS, progress: bool = False
) -> HumanLikeReal:
    """Compare planners with the reaches of some sources.

    Parameters
    ----------
    sources : iterable of Reaches
    cuts : iterable of float
        Other speeds at which recordings are cut, to see what the cut does [m/s].
    progress : bool
        Show a bar.
    """
    given, speeds = list(sources), tuple(cuts)
    total, done = sum(steps(reaches, speeds) for reaches in given), 0
    bar = progress_bar(total, desc="subjects left out") if progress else nullcontext(lambda _: None)
    with bar as report:

        def step() -> None:
            nonlocal done
            done += 1
            report(done / total)

        found = tuple(compare(reaches, speeds, step) for reaches in given)
    return HumanLikeReal(sources=found)


def run(quick: bool = False, data: str | Path | None = None) -> HumanLikeReal:
    """Run the experiment.

    Parameters
    ----------
    quick : bool
        Fewer reaches.
    data : path-like, optional
        Folder with recordings, ``culm/`` and ``kinesis_rtg/`` or one of them; synthetic reaches without any.
    """
    if quick:
        return run_human_like_real(reaches_of(data, quick), cuts=())
    return run_human_like_real(reaches_of(data), progress=True)
