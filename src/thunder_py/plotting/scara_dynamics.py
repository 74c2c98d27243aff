"""Figure of the SCARA project's dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .style import COLORS, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..experiments.scara_dynamics import ScaraDynamics

__all__ = ["plot_coriolis"]


def plot_coriolis(dynamics: ScaraDynamics) -> Figure:
    """Draw the Coriolis torques of joints 1 and 2 along the path by the printed matrix and by the printed formula."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(1, 2, figsize=(12, 3.4), sharey=True, layout="constrained")
    for joint, panel in enumerate(panels):
        panel.plot(dynamics.t, dynamics.torque[:, joint], color=COLORS[0], label="printed matrix")
        panel.plot(dynamics.t, dynamics.printed_torque[:, joint], "--", color=COLORS[1], label="printed formula")
        panel.set(title=f"Coriolis torque of joint {joint + 1} [N m]", xlabel="time [s]", xlim=(0.0, dynamics.t[-1]))
        tidy(panel)
    panels[0].legend(fontsize="small")
    return figure
