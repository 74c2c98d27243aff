"""The Panda of the truth files, a planar elbow, and the article's experiment on them."""

from functools import cache

import numpy as np

import thunder_py as th
from thunder_py.reference import Lissajous, Sinusoid

from .. import truth

Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])


@cache
def panda() -> th.Robot:
    return truth.robot_of("panda")


@cache
def wrong_panda() -> th.Robot:
    """Link 7 as wrong as in the article: 2.5 kg at (20, 20, 20) cm, no inertia about its center."""
    parameters = panda().parameters.copy()
    parameters[60:] = th.model.inertia.reg_from_dyn([2.5, 0.2, 0.2, 0.2, 0, 0, 0, 0, 0, 0])
    return panda().with_parameters(parameters)


@cache
def elbow() -> th.Robot:
    return truth.robot_of("rr_elbow_craig")


def lissajous() -> Lissajous:
    return Lissajous.starting_at(panda().forward_kinematics(Q0), (0.10, 0.15, 0.10), (0.2, 0.1, 0.4))


def elbow_motion() -> Sinusoid:
    return Sinusoid([0.8, 0.6], [0.5, 0.8], center=[0.3, 0.8], phase=[0.0, 0.5])


def backstepping(robot: th.Robot, **changes: object) -> th.Backstepping:
    arguments: dict[str, object] = {
        "Lambda": [5, 5, 5, 4, 4, 4],
        "K_p": [100, 100, 100, 20, 20, 20],
        "K_d": [20, 20, 20, 20, 5, 5, 5],
        "adaptation": th.control.GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown="link7"),
    }
    return th.Backstepping(robot, **{**arguments, **changes})  # type: ignore[arg-type]
