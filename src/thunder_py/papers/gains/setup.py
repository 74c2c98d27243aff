"""Thunder article, section 5.1: settings printed in the article, and settings that are not, for Tables 6 and 7."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.joint_data import Friction
from ...robot import Robot


class Case(NamedTuple):
    """Setting of the article.

    Attributes
    ----------
    K_d : tuple of float
        Damping gains [N m s/rad].
    r_7 : float
        Scale of Gamma.
    steady_state, rise_time : float
        Norm of e and rise time [s] printed in Tables 6 and 7.
    """

    K_d: tuple[float, ...]
    r_7: float
    steady_state: float
    rise_time: float


_K_D_2 = (10.0, 10.0, 10.0, 10.0, 5.0, 5.0, 2.0)
#: Tables 6 and 7; their middle columns are the same experiment
CASES: dict[str, Case] = {
    "K_d1": Case((5.0, 5.0, 5.0, 5.0, 3.0, 3.0, 1.0), 10.0, 0.0258, 15.102),
    "K_d2": Case(_K_D_2, 10.0, 0.0219, 19.612),
    "K_d3": Case((30.0, 30.0, 30.0, 30.0, 15.0, 15.0, 5.0), 10.0, 0.0226, 15.961),
    "r_7 = 1": Case(_K_D_2, 1.0, 0.0136, 3.668),
    "r_7 = 10": Case(_K_D_2, 10.0, 0.0219, 19.612),
    "r_7 = 100": Case(_K_D_2, 100.0, 0.1204, 23.572),
}
TABLES = {"Table 6": ("K_d1", "K_d2", "K_d3"), "Table 7": ("r_7 = 1", "r_7 = 10", "r_7 = 100")}

#: Coulomb friction of a Panda's joints [N m]: half of the steps that Gaz et al. identified, phi_1 = 0.54615, 0.87224,
#: 0.64068, 1.2794, 0.83904, 0.30301, 0.56489 ("Dynamic identification of the Franka Emika Panda robot", RA-L 2019)
FRICTION = (0.273, 0.436, 0.320, 0.640, 0.420, 0.152, 0.282)
DURATION = 40.0  # [s]
#: factors on our K_p, Lambda and Gamma in the published code, the backstepping controller of the authors' repository
#: CentroEPiaggio/panda_mact_controller: no gain before the task error, Lambda = (5, 5, 5, 2, 2, 2) 1/s, and Gamma = 1
#: for the mass, 10 for first moments at r_7 = 10
PUBLISHED: dict[str, Any] = {"K_p": 0.01, "Lambda": 5.0 / 3.0, "Gamma": 10.0}


def panda_with_friction(scale: float = 1.0) -> Robot:
    """Return the bundled Panda with `scale` times `FRICTION`, unknown to the controllers."""
    coefficients = scale * np.array(FRICTION)[:, None]
    return Robot.load("panda").replace(friction=Friction(terms=("coulomb",), coefficients=coefficients))
