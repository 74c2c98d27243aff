"""appendix_c.cpp once more, from Python: the adaptive controller of the Thunder article on a generated package.

thunder gen elbow -p
pip install ./elbow_generatedFiles
python appendix_c.py
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from thunder_elbow import thunder_elbow

Array = npt.NDArray[np.float64]
LAMBDA, K_D, GAMMA = 5.0, 20.0, 0.5
DT, DURATION = 1e-3, 20.0


def control(robot: thunder_elbow, q: Array, dq: Array, q_d: Array, dq_d: Array, ddq_d: Array) -> Array:
    """One control cycle: the torque, and the next estimate inside the robot."""
    dq_r = dq_d + LAMBDA * (q_d - q)
    ddq_r = ddq_d + LAMBDA * (dq_d - dq)
    s = dq_r - dq
    robot.setArguments(q, dq, dq_r, ddq_r)
    Yr, pi = robot.get_Yr(), robot.get_par_REG()
    robot.set_par_REG(pi + DT / GAMMA * Yr.T @ s)
    return Yr @ pi + K_D * s


def main() -> tuple[float, float]:
    """Run the loop; the largest errors of its first and last two seconds [rad]."""
    plant, robot = thunder_elbow(), thunder_elbow()
    robot.set_par_REG(0.3 * plant.get_par_REG())  # the controller takes its links for much too light
    q, dq = np.zeros(2), np.zeros(2)
    errors = []
    for t in np.arange(0.0, DURATION, DT):
        q_d = np.array([0.5 * np.sin(t), 0.8 * np.sin(2.0 * t)])
        dq_d = np.array([0.5 * np.cos(t), 1.6 * np.cos(2.0 * t)])
        ddq_d = np.array([-0.5 * np.sin(t), -3.2 * np.sin(2.0 * t)])
        errors.append(np.linalg.norm(q_d - q))
        plant.set_q(q), plant.set_dq(dq), plant.set_tau(control(robot, q, dq, q_d, dq_d, ddq_d))
        dq = dq + DT * plant.get_forward_dynamics()
        q = q + DT * dq
    ends = round(2.0 / DT)
    first, last = float(max(errors[:ends])), float(max(errors[-ends:]))
    print(f"largest error: {1e3 * first:.1f} mrad in the first 2 s, {1e3 * last:.2f} mrad in the last 2 s")
    return first, last


if __name__ == "__main__":
    main()
