"""A Panda picks up an unknown load and learns it: ``python examples/adaptive_panda.py [picture.png]``.

Slotine-Li adaptive control in joint space, with and without adaptation. The load appears after two seconds; the
controller knows the arm but not the load, so it adapts the last link.
"""

from __future__ import annotations

import sys

import numpy as np

import thunder_py as th
from thunder_py.reference import Sinusoid
from thunder_py.simulation import Payload

CENTER = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]


def main(picture: str | None = None) -> dict[bool, th.SimulationResult]:
    """Run both, print what they reach; return the results by whether they adapt."""
    robot = th.Robot.load("panda")
    motion = Sinusoid([0.3] * 7, np.linspace(0.1, 0.5, 7), center=CENTER)
    load = Payload(mass=1.0, com=[0.0, 0.0, 0.1], time=2.0)
    results = {}
    link_7 = th.control.GradientAdaptation(Gamma=1.0, unknown="link7")
    for adaptive in (False, True):
        law = th.SlotineLi(
            robot,
            Lambda=5.0,
            K_d=[20, 20, 20, 20, 2, 2, 2],  # the wrist is light: more would be too stiff for 1 kHz
            adaptation=link_7 if adaptive else None,
        )
        run = th.simulate(robot, law, motion, 20.0, payloads=[load], torque_limits=robot.limits.effort, log_every=10)
        m, *first = run.parameters[-1, 60:64]
        print(
            f"{'adaptive' if adaptive else 'fixed   '}  error {1e3 * run.steady_state_error():6.2f} mrad   "
            f"link 7: {m:.3f} kg, center {np.round(np.array(first) / m, 3)} m"
        )
        results[adaptive] = run
    m, *first = robot.parameters[60:64] + load.parameters[:4]
    print(f"truth {'':26} link 7: {m:.3f} kg, center {np.round(np.array(first) / m, 3)} m")
    if picture is not None:
        results[True].plot()["error"].figure.savefig(picture)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:2])
