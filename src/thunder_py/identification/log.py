"""Logged motion and torque, filtered where accelerations are missing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, zero_or_above
from ..errors import ThunderError
from ..result import SimulationResult
from ..robot import Robot
from .signals import (
    Motion,
    central_differences,
    checked_cutoff,
    differentiate,
    instants,
    lowpass,
    noise_gain,
    sampling_period,
    white_noise,
)

__all__ = ["Log", "read_log"]

#: periods of the cutoff at either end in which filtered signals are left out
_EDGE = 2.0
#: cutoff for positions that columns are formed of before the filter, relative to its cutoff
_WIDER = 4.0


@dataclass(frozen=True, kw_only=True)
class Log:
    """Signals at the same instants.

    Attributes
    ----------
    motion : Motion
        Motion of the links, (k, n) each.
    torque : (k, n) array
        Measured torque [N m or N].
    motors : Motion or None
        Motion of the motors of elastic joints, (k, e) each.
    joint_torque : (k, e) array or None
        Measured torque of springs and dampers on the links.
    gains : tuple of 3 floats
        Variances of white noise and of its first two derivatives after the filter, relative to that before.
    position_noise : tuple of (n,) and (e,) arrays, or None
        Variances of the noise of q and x, where they were filtered.
    wide : tuple of 2 Motion, or None
        Motions of links and motors, where these exist; filtered ones at all instants, behind a higher cutoff.
    smooth : callable or None
        The filter of the torques, from all instants to those of the log.
    """

    motion: Motion
    torque: Array
    motors: Motion | None = None
    joint_torque: Array | None = None
    gains: tuple[float, float, float] = (1.0, 0.0, 0.0)
    position_noise: tuple[Array, Array] | None = None
    wide: tuple[Motion, Motion] | None = None
    smooth: Callable[[Array], Array] | None = None

    def filtered(self, columns: Array) -> Array:
        """Filter columns (k, e, c) of a regressor of `wide` like the torques.

        The filter of a power of x - q is not the power of the filtered x - q. Columns are therefore formed before the
        filter, of positions that have lost only noise far above it.
        """
        if self.smooth is None:
            return columns
        flat = columns.reshape(len(columns), -1)
        used = flat.any(axis=0)
        found = np.zeros((len(self.torque), flat.shape[1]))
        found[:, used] = self.smooth(flat[:, used])
        return found.reshape(-1, *columns.shape[1:])

    def deflection(self, robot: Robot) -> Array:
        """Return x - q of the elastic joints, (k, e)."""
        if self.motors is None:
            return np.zeros((len(self.torque), 0))
        return np.asarray(self.motors.q - self.motion.q[:, [drive.joint - 1 for drive in robot.elastic]])


def read_log(
    robot: Robot,
    t: npt.ArrayLike | SimulationResult,
    signals: dict[str, npt.ArrayLike | None],
    cutoff: float | None,
    hold: float,
) -> Log:
    """Check the signals ``q, dq, ddq, tau, x, dx, ddx, joint_torque``, and filter them unless `ddq` is given."""
    if isinstance(t, SimulationResult):
        t, signals = _of_run(robot, t, signals)
    times = instants(t)
    given = {name: value for name, value in signals.items() if value is not None}
    _require(robot, given)
    columns = dict.fromkeys(("x", "dx", "ddx", "joint_torque"), robot.e)
    checked = {name: array(value, (times.size, columns.get(name, robot.n)), name) for name, value in given.items()}
    if "ddq" in checked:
        links = Motion(checked["q"], checked["dq"], checked["ddq"])
        motors = Motion(checked["x"], checked["dx"], checked["ddx"]) if robot.e else None
        return Log(
            motion=links,
            torque=checked["tau"],
            motors=motors,
            wide=None if motors is None else (links, motors),
            joint_torque=checked.get("joint_torque"),
        )
    if cutoff is None:
        raise ThunderError(
            "cutoff must be given without ddq, because accelerations are computed from filtered positions"
        )
    cutoff = checked_cutoff(cutoff, sampling_period(times))
    return _filtered(times, checked, cutoff, zero_or_above(hold, "hold"))


def _of_run(
    robot: Robot, run: SimulationResult, signals: dict[str, npt.ArrayLike | None]
) -> tuple[Array, dict[str, npt.ArrayLike | None]]:
    given = [name for name, value in signals.items() if value is not None and name != "joint_torque"]
    if given:
        raise ThunderError(f"{', '.join(given)} must be None where t is a SimulationResult")
    if run.x.shape[1] != robot.e:
        wanted = f"with {robot.e} elastic joints" if robot.e else "without elastic joints"
        raise ThunderError(f"t must be a run {wanted}: their torques drive motors, not links; got {run.x.shape[1]}")
    # the last row is always logged, off the grid of the log, and repeats the torque before
    inner = slice(0, -1)
    sensed = signals.get("joint_torque")
    return run.t[inner], {
        "q": run.q[inner],
        "tau": run.tau[inner],
        "x": run.x[inner] if robot.e else None,
        "joint_torque": None if sensed is None else array(sensed, (run.t.size, robot.e), "joint_torque")[inner],
    }


def _require(robot: Robot, signals: Collection[str]) -> None:
    """Raise unless the signals suffice."""
    for name in ("q", "tau"):
        if name not in signals:
            raise ThunderError(f"{name} must be given unless t is a SimulationResult")
    if "ddq" in signals and "dq" not in signals:
        raise ThunderError("dq must be given together with ddq")
    if not robot.e:
        for name in ("x", "dx", "ddx", "joint_torque"):
            if name in signals:
                raise ThunderError(f"{name} must be None, because {robot.name} has no elastic joints")
        return
    if "x" not in signals:
        raise ThunderError(
            f"x must be given, because {robot.name} has elastic joints, whose torques drive motors; for torques "
            "measured on the links use robot.replace(elastic=())"
        )
    if "ddq" in signals and not ("dx" in signals and "ddx" in signals):
        raise ThunderError("dx and ddx must be given together with ddq")


def _filtered(times: Array, signals: dict[str, Array], cutoff: float, hold: float) -> Log:
    torque = signals["tau"]
    if hold > 0.0:
        torque = np.column_stack([np.interp(times, times + 0.5 * hold, column) for column in torque.T])
    cut = min(round(_EDGE / (cutoff * (times[1] - times[0]))), (times.size - 5) // 2)
    inner = slice(cut, times.size - cut)

    def motion(name: str) -> Motion:
        return Motion(*(signal[inner] for signal in differentiate(times, signals[name], cutoff)))

    def smooth(columns: Array) -> Array:
        return lowpass(times, columns, cutoff)[inner]

    elastic = "x" in signals
    sensed = signals.get("joint_torque")
    return Log(
        motion=motion("q"),
        torque=smooth(torque),
        motors=motion("x") if elastic else None,
        joint_torque=None if sensed is None else smooth(sensed),
        gains=(noise_gain(times, cutoff), noise_gain(times, cutoff, 1), noise_gain(times, cutoff, 2)),
        position_noise=(white_noise(signals["q"]), white_noise(signals["x"]) if elastic else np.zeros(0)),
        wide=(_wide(times, signals["q"], cutoff), _wide(times, signals["x"], cutoff)) if elastic else None,
        smooth=smooth,
    )


def _wide(times: Array, positions: Array, cutoff: float) -> Motion:
    """Return the motion behind a filter of a higher cutoff, or behind none where the log has no higher frequencies."""
    higher = _WIDER * cutoff
    if higher < 0.5 / sampling_period(times):
        return differentiate(times, positions, higher)
    return central_differences(times, positions)
