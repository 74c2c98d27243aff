"""The domain of the servoing law: how errors fall from several angles, and how fast the law asks to turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_servoing_domain"]

_PAPER, _LOG = "#D55E00", "#0072B2"


def plot_servoing_domain(gain: float = 2.0, duration: float = 3.0) -> Figure:
    """Draw the angle over time for both orientation errors, and the angular speed asked for over the angle.

    Parameters
    ----------
    gain : float
        K_o [1/s].
    duration : float
        [s].

    Notes
    -----
    Closed solutions with a target at rest: sin(theta) falls as exp(-K t) for r sin(theta), theta for r theta. Past a
    right angle the law without its guard would lead to half a turn.
    """
    import matplotlib.pyplot as plt

    figure, (course, speed) = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    t = np.linspace(0.0, duration, 300)
    for degrees in (20.0, 50.0, 80.0, 88.0, 100.0, 130.0, 160.0):
        fallen = np.degrees(np.arcsin(np.sin(np.radians(degrees)) * np.exp(-gain * t)))
        inside = degrees < 90.0
        course.plot(t, fallen if inside else 180.0 - fallen, color=_PAPER, linestyle="-" if inside else "--")
        course.plot(t, degrees * np.exp(-gain * t), color=_LOG, linewidth=0.9)
    for color, line, label in (
        (_PAPER, "-", "eq. 124"),
        (_PAPER, "--", "eq. 124 past its domain, unguarded"),
        (_LOG, "-", "logarithm"),
    ):
        course.plot([], [], color=color, linestyle=line, label=label)
    course.axhspan(90.0, 180.0, color="#EEEEEE", zorder=0)
    course.set(xlabel="time [s]", ylabel="angle to the target [deg]", ylim=(0.0, 180.0), title=f"K = {gain:g} 1/s")
    angle = np.linspace(0.0, 89.9, 500)
    speed.plot(angle, gain * np.tan(np.radians(angle)), color=_PAPER, label="eq. 124: K tan(theta)")
    whole = np.linspace(0.0, 180.0, 100)
    speed.plot(whole, gain * np.radians(whole), color=_LOG, label="logarithm: K theta")
    speed.axvspan(90.0, 180.0, color="#EEEEEE", zorder=0)
    speed.set(xlabel="angle to the target [deg]", ylabel="angular speed asked for [rad/s]", ylim=(0.0, 20.0))
    speed.set(xlim=(0.0, 180.0), title="outside the domain: grey")
    for axes in (course, speed):
        axes.legend(fontsize="small")
        tidy(axes)
    return figure
