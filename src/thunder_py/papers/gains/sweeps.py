"""Thunder article, Tables 6 and 7 and Figure 10 over the quantities that section 5.1 does not print.

"Published code" are settings of the authors' repository, see `papers.gains.setup.PUBLISHED`; those of the runs in the
article may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...parallel import Workers
from ...robot import Robot
from ...simulation import RunSpec, Sensors, SimulationResult, simulate_many
from ..lissajous.run import LOG_EVERY, PERIOD, START, controller_of, curve, wrong_last_link
from ..sweeps.several import chosen, declared
from ..sweeps.sweep import FreeParameter
from .setup import CASES, DURATION, panda_with_friction

QUANTITIES = (
    FreeParameter("K_p", 1.0, (0.01, 0.1, 0.3, 3.0), "K_p / ours", "0.01 (1 N/m) in the published code"),
    FreeParameter("Lambda", 1.0, (0.3, 5.0 / 3.0, 3.0), "Lambda / ours", "1.7 in the published code"),
    FreeParameter("Gamma", 1.0, (0.3, 3.0, 10.0, 30.0), "Gamma / ours", "r_m, r_c, r_I; 10 in the published code"),
    FreeParameter("friction", 0.0, (0.5, 1.0, 2.0), "Coulomb friction / identified",
                  "Gazebo's model has none, an arm has"),
    FreeParameter("noise", 0.0, (1e-3, 1e-2), "noise of the velocity [rad/s]", "not mentioned"),
    FreeParameter("start", "on the curve", ("on the curve", "at its center"), "start of the arm",
                  "as printed, the curve "
              "begins 0.15 m from its center (T-15)"),
    FreeParameter("duration", DURATION, (30.0, 60.0), "length of a run [s]", "60 s in the published code"),
    FreeParameter("fraction", 0.1, (0.02, 0.05, 0.37), "rise time: remaining share", "rise time is not defined"),
)  # fmt: skip
_FIXED = "not adaptive"
_DIFFERENT = {name: case for name, case in CASES.items() if name != "r_7 = 10"}  # K_d2, too


def table_errors(*, scale: float = 1.0, workers: Workers = 1, **given: Any) -> dict[str, float]:
    """Return steady state and rise time [s] of every setting, and the steady state without adaptation.

    Parameters
    ----------
    K_p, Lambda, Gamma, friction, noise, start, duration, fraction
        See `QUANTITIES`.
    scale : float
        Factor on the duration, for short tests.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    s = chosen(QUANTITIES, given)
    robot, plant, end = Robot.load("panda"), panda_with_friction(s.friction), scale * s.duration
    reference = curve(robot, centered=s.start != "on the curve")
    settings: dict[str, dict[str, Any]] = {name: {"K_d": c.K_d, "r_7": c.r_7} for name, c in _DIFFERENT.items()}
    settings[_FIXED] = {"adaptive": False}
    specs = []
    for options in settings.values():
        law = controller_of(wrong_last_link(robot), K_p=s.K_p, Lambda=s.Lambda, Gamma=s.Gamma, **options)
        specs.append(RunSpec(plant, law, reference, end, q0=START, torque_limits=robot.limits.effort,
                             sensors=Sensors(velocity_noise=s.noise) if s.noise else None, log=("error",),
                             log_every=LOG_EVERY))  # fmt: skip
    runs = simulate_many(specs, workers=workers)
    window = min(PERIOD / end, 0.5)
    found: dict[str, float] = {}
    for k, name in enumerate(settings):
        run: SimulationResult | None = None if k in runs.failures else runs[k]
        found[f"{name}: norm of e"] = np.inf if run is None else run.steady_state_error(window)
        if name != _FIXED:
            found[f"{name}: rise time [s]"] = np.inf if run is None else run.rise_time(s.fraction, window)
    return found


_PRINTED = {f"{_FIXED}: norm of e": 0.9}
for _name, _case in _DIFFERENT.items():
    _PRINTED |= {f"{_name}: norm of e": _case.steady_state, f"{_name}: rise time [s]": _case.rise_time}
#: Tables 6 and 7 over `QUANTITIES`
sweep_tables = declared(
    "Thunder article, Tables 6 and 7, Figure 10", table_errors, QUANTITIES, _PRINTED, combined=16, scale=0.1
)
