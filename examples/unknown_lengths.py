"""Backstepping with lengths that are wrong by 5 to 10 percent and an unknown payload of 1 kg, on two arms.

`python examples/unknown_lengths.py [seconds]`, by default 4 s; docs/controllers.md has the results of 24 s.

The gains of the adaptation were chosen on the Panda; the UR5e, with 0.1 kg m^2 of motor inertia, was held out. The
position of the hand is measured, except for the first law, which computes it from the joints with the wrong lengths.
"""

from __future__ import annotations

import sys

import numpy as np

import thunder_py as th
from thunder_py.control import ExactPosition, GradientAdaptation, LengthAdaptation
from thunder_py.robot.lengths import length_names, lengths_of, with_lengths

#: start, factors of the true lengths, amplitude of the motion [m]
ARMS = {
    "panda": ([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], {"d_3": 1.07, "d_5": 0.94, "a_7": 0.9}, (0.1, 0.15, 0.1)),
    "ur5e": ([0.0, -1.2, 1.6, -1.9, -1.57, 0.3], {"a_2": 1.05, "a_3": 0.93, "d_5": 1.1}, (0.08, 0.1, 0.08)),
}
#: Gamma [N/m], gamma [N/(m s)] and scale [m] of the lengths; a huge Gamma keeps the Jacobian as it is, a tiny scale the
#: dependence of the torques on the lengths
LAWS = {
    "torques adapt": (1e12, 0.0, 0.05),
    "Jacobian adapts": (200.0, 0.0, 1e-4),
    "both": (200.0, 0.0, 0.05),
    "both, with gamma": (2000.0, 2000.0, 0.05),
}


def main(duration: float = 4.0, arms: tuple[str, ...] = tuple(ARMS)) -> dict[tuple[str, str], float]:
    """Print and return the mean position error [mm] of the last quarter."""
    errors = {}
    for name in arms:
        robot = th.Robot.load(name)
        if name == "ur5e":  # its last link alone has 0.0003 kg m^2, too little for these gains at 1 kHz
            robot = robot.replace(armature=np.full(robot.n, 0.1))
        q0, factors, amplitude = ARMS[name]
        lengths = dict(zip(length_names(robot.n), lengths_of(robot), strict=True))
        true = {length: factor * lengths[length] for length, factor in factors.items()}
        plant = with_lengths(robot, true)
        curve = th.reference.Lissajous.starting_at(plant.forward_kinematics(q0), amplitude, (0.2, 0.1, 0.4))
        payload = GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown=robot.link_names[-1])
        K_p, K_d = [400] * 3 + [40] * 3, [20] * (robot.n - 3) + [5, 5, 3]
        laws = {"wrong lengths": th.Backstepping(robot, 5.0, K_p, K_d, adaptation=payload)}
        adaptations = {"measured position": None} | {
            law: LengthAdaptation(Gamma, unknown=list(true), gamma=gamma, Gamma_torque=1.0, scale=scale)
            for law, (Gamma, gamma, scale) in LAWS.items()
        }
        for law, adaptation in adaptations.items():
            laws[law] = th.AdaptiveJacobianBackstepping(
                robot, 5.0, K_p, K_d, adaptation=payload, lengths=adaptation, measure=ExactPosition(plant)
            )
        for law, controller in laws.items():
            run = th.simulate(plant, controller, curve, duration, q0=q0, payloads=[th.Payload(1.0)], log_every=10)
            late = run.t > 0.75 * duration
            wanted = np.array([curve(t).p for t in run.t[late]])
            off = np.linalg.norm(wanted - plant.forward_kinematics(run.q[late])[:, :3, 3], axis=1)
            errors[name, law] = 1e3 * off.mean()
            found = (
                controller.lengths if law in LAWS else lengths_of(robot)[[length_names(robot.n).index(x) for x in true]]
            )
            wrong = ", ".join(f"{1e3 * value:.2f}" for value in np.array(list(true.values())) - found)
            print(
                f"{name:6} {law:18} {errors[name, law]:6.2f} mm, lengths wrong by {wrong} mm, {controller.status.name}"
            )
    return errors


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
