"""Thunder article, Table 8 and Figure 12 over the quantities that section 5.2 does not print."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...robot import Robot, inertia
from ...simulation import Payload, simulate
from ..gains.setup import DURATION, PUBLISHED, controller_of, curve, panda_with_friction
from ..lissajous.run import LOG_EVERY, PERIOD, START
from ..sweeps.sweep import Sweep, Unprinted, sweep
from .setup import HAND_COM, HAND_MASS, TABLE_8, distances, hand_of_table_8, merged, moments

__all__ = ["QUANTITIES", "center_of_mass", "hand_errors", "sweep_hand"]

#: places of the hand: its base on the flange, turned about it by these angles [deg], or shifted such that the true center
#: of mass of Table 8 results
_MOUNTINGS = ("0 deg", "90 deg", "180 deg", "270 deg", "as Table 8's truth")
QUANTITIES = (
    Unprinted("mounting", "0 deg", _MOUNTINGS, "mounting of the hand", "no paper prints it (T-7)"),
    Unprinted("friction", 1.0, (0.0, 0.5, 2.0), "Coulomb friction / identified", "a real arm; what is compensated?"),
    Unprinted("Gamma", 1.0, (0.3, 3.0, 10.0, 30.0), "Gamma / ours", "r_m, r_c, r_I; 10 in the published code"),
    Unprinted("K_p", 1.0, (0.01, 0.1, 0.3, 3.0), "K_p / ours", "0.01 (1 N/m) in the published code"),
    Unprinted("Lambda", 1.0, (0.3, 5.0 / 3.0, 3.0), "Lambda / ours", "1.7 in the published code"),
    Unprinted("noise", 0.0, (1e-3, 1e-2), "noise of the velocity [rad/s]", "a real arm"),
    Unprinted("inertia", 0.0, (1e-3, 3e-3), "inertia of the hand [kg m2]", "about its center of mass"),
    Unprinted("duration", DURATION, (20.0, 60.0), "length of the run [s]", "unprinted"),
)  # fmt: skip
