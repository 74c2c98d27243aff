"""SCARA project: kinematics, path, four inverse kinematics, three controllers with a payload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...parallel import Workers, map_seeds
from ..registry import Experiment
from ..results import Draws, Varied, drawing
from .control import (
    DRAWN,
    ScaraControl,
    ScaraDynamics,
    ScaraSampling,
    control_of_seed,
    run_control,
    run_dynamics,
    run_sampling,
    sweep_control,
)
from .kinematics import (
    ScaraClik,
    ScaraKinematics,
    ScaraPlanning,
    ScaraTranspose,
    run_clik,
    run_kinematics,
    run_planning,
    run_transpose,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scara(Varied):
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

    @property
    def parts(self) -> dict[str, Experiment]:
        """Parts by title."""
        return {
            "Chapter 1: kinematics": self.kinematics,
            "Chapter 2: path": self.planning,
            "Chapter 3: inverse kinematics": self.clik,
            "Chapter 3: the transpose at 1 ms": self.transpose,
            "Chapter 4: dynamics": self.dynamics,
            "Chapter 4: control with 5 kg": self.control,
            "Chapter 4: Lambda at 1 ms": self.sampling,
        }

    def table(self) -> str:
        """Return the tables of all parts, as Markdown."""
        texts = (f"{title}\n\n{part.table()}" for title, part in self.parts.items())
        return self.join(*texts, title="Chapter 4: control with other payloads\n\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of all parts, by title."""
        return {title: part.to_dict() for title, part in self.parts.items()} | self.variations()

    plot = drawing("plot_scara")


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> Scara:
    """Run the experiment of the registry, in seconds; `quick` logs every tenth period only. `seeds` payloads."""
    count = (2 if quick else 5) if seeds is None else seeds
    return Scara(
        kinematics=run_kinematics(),
        planning=run_planning(),
        clik=run_clik(),
        transpose=run_transpose(),
        dynamics=run_dynamics(),
        control=run_control(log_every=10 if quick else 1),
        sampling=run_sampling(),
        draws=Draws.of(DRAWN, map_seeds(control_of_seed, count, workers=workers, description="scara")),
        sweep=sweep_control(quick, workers),
    )
