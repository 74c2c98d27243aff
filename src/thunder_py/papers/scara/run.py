"""SCARA project: kinematics, path, four inverse kinematics and three controllers with a payload, chapter by chapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..registry import Experiment
from .control import ScaraControl, ScaraDynamics, ScaraSampling, run_control, run_dynamics, run_sampling
from .kinematics import ScaraClik, ScaraKinematics, ScaraTranspose, run_clik, run_kinematics, run_transpose
from .planning import ScaraPlanning, run_planning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Scara", "run"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Scara:
    """Results of the project; every part has its own ``table()`` and ``plot()``.

    Attributes
    ----------
    kinematics : ScaraKinematics
        Chapter 1.
    planning : ScaraPlanning
        Chapter 2.
    clik : ScaraClik
        Chapter 3.
    transpose : ScaraTranspose
        Chapter 3, stability of the printed gains of the transpose.
    dynamics : ScaraDynamics
        Chapter 4, matrices.
    control : ScaraControl
        Chapter 4.
    sampling : ScaraSampling
        Chapter 4, stability of the printed Lambda.
    """

    kinematics: ScaraKinematics
    planning: ScaraPlanning
    clik: ScaraClik
    transpose: ScaraTranspose
    dynamics: ScaraDynamics
    control: ScaraControl
    sampling: ScaraSampling

    def table(self) -> str:
        """Return the tables of all parts, as Markdown."""
        titles: dict[str, Experiment] = {
            "Chapter 1: kinematics": self.kinematics,
            "Chapter 2: path": self.planning,
            "Chapter 3: inverse kinematics": self.clik,
            "Chapter 3: the transpose at 1 ms": self.transpose,
            "Chapter 4: dynamics": self.dynamics,
            "Chapter 4: control with 5 kg": self.control,
            "Chapter 4: Lambda at 1 ms": self.sampling,
        }
        return "\n\n".join(f"{title}\n\n{part.table()}" for title, part in titles.items())

    def plot(self) -> Figure:
        """Draw the path, errors of inverse and transpose, errors along z of the controllers, and the estimated mass."""
        from .figure import plot_scara

        return plot_scara(self)


def run(quick: bool = False) -> Scara:
    """Run the experiment of the registry, in seconds; `quick` logs every tenth period only."""
    return Scara(
        kinematics=run_kinematics(),
        planning=run_planning(),
        clik=run_clik(),
        transpose=run_transpose(),
        dynamics=run_dynamics(),
        control=run_control(log_every=10 if quick else 1),
        sampling=run_sampling(),
    )
