"""Thunder article, Table 8 and Figure 12 over the quantities that section 5.2 does not print."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...robot import Robot
from ...simulation import Payload, Sensors, simulate
from ..gains.setup import DURATION, panda_with_friction
from ..lissajous.run import LOG_EVERY, PERIOD, START, controller_of, curve
from ..sweeps.several import chosen, declared
from ..sweeps.sweep import FreeParameter
from .setup import HAND_COM, HAND_MASS, TABLE_8, hand_of_table_8, merged

#: turn about the flange [deg] and shift [m] of the hand's base; the last gives the true center of mass of Table 8
_MOUNTINGS: dict[str, tuple[float, Array]] = {
    "at the flange": (0.0, np.zeros(3)),
    "turned 3 deg": (3.0, np.zeros(3)),
    "10 mm plate": (0.0, np.array([0.0, 0.0, 0.01])),
    "as in Table 8": (0.0, hand_of_table_8() - np.array(HAND_COM)),
}
QUANTITIES = (
    FreeParameter("mounting", "at the flange", tuple(_MOUNTINGS), "mounting of the hand", "no paper prints it (T-7)"),
    FreeParameter("friction", 1.0, (0.0, 0.5, 2.0), "Coulomb friction / identified",
                  "a real arm; what is compensated?"),
    FreeParameter("Gamma", 1.0, (0.3, 3.0, 10.0, 30.0), "Gamma / ours", "r_m, r_c, r_I; 10 in the published code"),
    FreeParameter("K_p", 1.0, (0.01, 0.1, 0.3, 3.0), "K_p / ours", "0.01 (1 N/m) in the published code"),
    FreeParameter("Lambda", 1.0, (0.3, 5.0 / 3.0, 3.0), "Lambda / ours", "1.7 in the published code"),
    FreeParameter("noise", 0.0, (1e-3, 1e-2), "noise of the velocity [rad/s]", "a real arm"),
    FreeParameter("inertia", 0.0, (1e-3, 3e-3), "inertia of the hand [kg m2]", "about its center of mass"),
    FreeParameter("duration", DURATION, (20.0, 60.0), "length of the run [s]", "unprinted"),
)  # fmt: skip
_PARTS = ("mass [kg]", "c_x [m]", "c_y [m]", "c_z [m]")


def _center(mounting: str) -> Array:
    """Return the center of mass of the hand in the frame of link 7, (3,) [m]."""
    turn, shift = _MOUNTINGS[mounting]
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.asarray(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(HAND_COM) + shift)


def hand_estimate(*, scale: float = 1.0, **given: Any) -> dict[str, float]:
    """Return the rows of Table 8 for link 7 with the hand: the truth, and the estimate at the end.

    Parameters
    ----------
    mounting, friction, Gamma, K_p, Lambda, noise, inertia, duration
        See `QUANTITIES`.
    scale : float
        Factor on the duration, for short tests.
    """
    s = chosen(QUANTITIES, given)
    robot = Robot.load("panda")
    hand = Payload(HAND_MASS, _center(s.mounting), s.inertia * np.eye(3), link="link7")
    run = simulate(
        panda_with_friction(s.friction), controller_of(robot, K_p=s.K_p, Lambda=s.Lambda, Gamma=s.Gamma), curve(robot),
        scale * s.duration, q0=START, payloads=[hand], torque_limits=robot.limits.effort,
        sensors=Sensors(velocity_noise=s.noise) if s.noise else None, log=("error", "parameters"), log_every=LOG_EVERY,
    )  # fmt: skip
    window = min(PERIOD / (scale * s.duration), 0.5)
    bodies = {"true": merged(robot, hand), "estimate": run.parameters[-1, 60:70]}
    found = {f"{name}: {part}": float(x) for name, reg in bodies.items()
             for part, x in zip(_PARTS, [reg[0], *(reg[1:4] / reg[0])], strict=True)}  # fmt: skip
    found.pop("true: mass [kg]")  # printed: the sum of 0.7355 and 0.83 kg
    return found | {"error settles after [s]": run.rise_time(window=window)}


_PRINTED = {f"{name}: {part}": x for name in ("true", "estimate")
            for part, x in zip(_PARTS, TABLE_8[name], strict=True)} | {"error settles after [s]": 10.0}  # fmt: skip
#: Table 8 over `QUANTITIES`
sweep_hand = declared(
    "Thunder article, Table 8: link 7 with the hand", hand_estimate, QUANTITIES, _PRINTED, combined=60, scale=0.1
)
