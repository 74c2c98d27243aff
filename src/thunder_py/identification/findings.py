"""Results of an identification that only wrong data explain, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array
from .prediction import ratio

if TYPE_CHECKING:
    from .identification import Identification

#: residual relative to the torque of every joint above which a fit explains nothing
_UNEXPLAINED = 0.5
#: standard deviations below zero from which on a value is certainly negative, and positions at which inertias are
_CERTAIN, _POSITIONS = 3.0, 20


def diagnose(identification: Identification, torque_rms: Array) -> list[str]:
    """Return sentences on wrong signs, units or order of joints, and on logs without motion.

    Parameters
    ----------
    identification : Identification
        The result.
    torque_rms : (r,) array
        Root mean square of the measured torque of each row [N m or N].
    """
    found, base = [], identification.base
    told = {name for group in identification.invisible for name in group}
    known = np.isfinite(identification.standard_deviations) | np.isin(base.names, list(told))
    of_links = known[base.independent < identification.robot.p]
    if 2 * of_links.sum() < of_links.size:
        found.append(
            f"the motion determines only {of_links.sum()} of {of_links.size} base parameters, the others keep their "
            "prior: move all joints, see optimize_excitation"
        )
    relative = ratio(identification.residual_rms, torque_rms)
    if identification.rank and (relative > _UNEXPLAINED).all():
        found.append(
            f"the fit leaves {100.0 * relative.min():.0f} % of the torque or more at every joint: are q in rad or m, "
            "and the signs and the order of the joints those of the robot? Has the log outliers (robust=True)?"
        )
    hint = "is the sign of tau or of q wrong, the unit of q, or does the model lack something?"
    negative = _negative_inertia(identification)
    if negative:
        found.append(f"the log asks for negative inertia at {', '.join(negative)}: {hint}")
    values = zip(base.names, identification.base_parameters, identification.standard_deviations, strict=True)
    friction = [
        f"{name} ({value:.3g})"
        for name, value, sigma in values
        if name.endswith((".viscous", ".coulomb")) and value < -_CERTAIN * sigma
    ]
    if friction:
        found.append(f"the log asks for negative friction, {', '.join(friction)}: {hint}")
    return found


def _negative_inertia(identification: Identification) -> list[str]:
    """Return the joints whose diagonal element of the mass matrix is certainly negative at all of some positions.

    These elements are linear in the base parameters, so that their standard deviations follow from the covariance.
    """
    robot, base = identification.robot, identification.base
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSITIONS, robot.n))
    still, b = np.zeros_like(q), base.count
    gravity, names = robot.regressor(q, still, still), []
    for j, name in enumerate(robot.joint_names):
        ddq = still.copy()
        ddq[:, j] = 1.0
        columns = np.zeros((_POSITIONS, identification.parameters.size))
        columns[:, : robot.p] = (robot.regressor(q, still, ddq) - gravity)[:, j]
        own = columns[:, base.independent]
        sigma = np.sqrt(np.maximum(np.einsum("kb,bc,kc->k", own, identification.covariance[:b, :b], own), 0.0))
        if (columns @ identification.parameters < -_CERTAIN * sigma).all():
            names.append(name)
    return names
