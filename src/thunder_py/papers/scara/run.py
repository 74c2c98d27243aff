"""SCARA project: kinematics, path, four inverse kinematics, three controllers with a payload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...parallel import Workers, map_seeds
from ..registry import Experiment
from ..results import Draws, Varied, drawing
from . import control as chapter_4
from . import kinematics as chapters_1_to_3


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

    kinematics: chapters_1_to_3.ScaraKinematics
    planning: chapters_1_to_3.ScaraPlanning
    clik: chapters_1_to_3.ScaraClik
    transpose: chapters_1_to_3.ScaraTranspose
    dynamics: chapter_4.ScaraDynamics
    control: chapter_4.ScaraControl
    sampling: chapter_4.ScaraSampling

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
        kinematics=chapters_1_to_3.run_kinematics(),
        planning=chapters_1_to_3.run_planning(),
        clik=chapters_1_to_3.run_clik(),
        transpose=chapters_1_to_3.run_transpose(),
        dynamics=chapter_4.run_dynamics(),
        control=chapter_4.run_control(log_every=10 if quick else 1),
        sampling=chapter_4.run_sampling(),
        draws=Draws.of(
            chapter_4.DRAWN, map_seeds(chapter_4.control_of_seed, count, workers=workers, description="scara")
        ),
        judgment=chapter_4.judge_control(quick, workers),
    )
