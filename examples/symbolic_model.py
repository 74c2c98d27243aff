"""A symbolic arm: expressions, a function of one's own, run-time parameters: ``python examples/symbolic_model.py``.

The inertial parameters of the SCARA arm's last link become an argument; everything else is baked into the recording.
"""

from __future__ import annotations

import numpy as np

import thunder_py as th
from thunder_py.symbolic import SymbolicModel, gradient


def reach(model: SymbolicModel) -> None:
    """Add the squared distance from a target, and the torque of a spring that pulls there."""
    target = model.symbol("target", 3)
    error = model.forward_kinematics()[:3, 3] - target
    distance = error @ error
    model.add_function("distance", distance, ["q", "target"], "squared distance of the end effector from the target")
    model.add_function("pull", -0.5 * gradient(distance, model.q), ["q", "target"], "torque of a spring of 1 N/m")


def main() -> None:
    """Record, look, evaluate, differentiate."""
    robot = th.Robot.load("scara")
    last_link = np.arange(10 * robot.n) >= 10 * (robot.n - 1)
    model = robot.symbolic(inertial=last_link)
    print(model)

    mass = model.function("mass", model.mass_matrix())
    print(mass, "depth", mass.depth)
    q = np.array([0.3, -0.4, 0.1, 0.2])
    heavier = robot.inertial.copy()
    heavier[-1, 0] += 2.0
    print("M as Robot has it", np.allclose(mass(q, robot.inertial.ravel()), robot.mass_matrix(q), atol=1e-14))
    print("with 2 kg more   ", np.diag(mass(q, heavier.ravel())).round(3))

    reach(model)
    pull = model.functions["pull"]
    target = robot.forward_kinematics(q)[:3, 3] + [0.1, 0.0, 0.05]
    print("pull             ", pull(q, target).round(4))
    print("stiffness        ", np.diag(pull.jacobian("q")(q, target)).round(4))
    many = np.linspace(q, q + 0.1, 1000)
    print("a batch          ", pull(many, target).shape)


if __name__ == "__main__":
    main()
