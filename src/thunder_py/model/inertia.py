"""Inertial parameters of a rigid body: REG, DYN, pseudo-inertia and log-Cholesky coordinates.

REG ``[m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``: inertia about the origin of the link frame; regressors
multiply it. DYN ``[m, cx, cy, cz, Ixx, ...]``: inertia about the center of mass, axes of the link frame; files hold it.
Elements are those of the tensor, ``Ixy = -integral(x y dm)``. Every function accepts leading batch axes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..checks import Array, points, real
from ..errors import ThunderError

__all__ = [
    "dyn_from_reg",
    "is_physical",
    "log_cholesky_from_reg",
    "nearest_physical",
    "pseudo_inertia",
    "reg_from_dyn",
    "reg_from_log_cholesky",
    "reg_from_pseudo_inertia",
    "violation",
]


#: indices of the six inertia elements in a symmetric 3x3 matrix
_ROW, _COL = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])


def _parameters(value: npt.ArrayLike, what: str) -> Array:
    result = points(real(value, what, finite=False, expected="numbers of shape (..., 10)"), what, (10,))
    if not np.isfinite(result).all():
        raise ThunderError(f"{what} must be finite, got {value!r}")
    return result


def _steiner(mass: Array, com: Array) -> Array:
    """Six elements of ``m (c'c 1 - c c')``, the inertia of a point mass."""
    x, y, z = com[..., 0], com[..., 1], com[..., 2]
    return mass[..., None] * np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=-1)


def reg_from_dyn(dyn: npt.ArrayLike) -> Array:
    """Convert DYN parameters (about the center of mass) to REG (about the link origin).

    Parameters
    ----------
    dyn : (..., 10) array_like
        DYN order [kg, m, kg m^2].

    Returns
    -------
    (..., 10) array
        REG order [kg, kg m, kg m^2].

    Raises
    ------
    ThunderError
        If the last axis has not 10 entries or an entry is not finite.

    Examples
    --------
    >>> from thunder_py.model.inertia import reg_from_dyn
    >>> reg_from_dyn([2.0, 0.5, 0, 0, 0.01, 0, 0, 0.03, 0, 0.03]).round(3).tolist()
    [2.0, 1.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.53, 0.0, 0.53]
    """
    dyn = _parameters(dyn, "dyn")
    mass, com = dyn[..., 0], dyn[..., 1:4]
    return np.concatenate([dyn[..., :1], dyn[..., :1] * com, dyn[..., 4:] + _steiner(mass, com)], axis=-1)


def dyn_from_reg(reg: npt.ArrayLike) -> Array:
    """Convert REG parameters (about the link origin) to DYN (about the center of mass).

    Parameters
    ----------
    reg : (..., 10) array_like
        REG order [kg, kg m, kg m^2].

    Returns
    -------
    (..., 10) array
        DYN order [kg, m, kg m^2]; the center of a body without mass and first moment is the origin.

    Raises
    ------
    ThunderError
        If a mass is zero and its first moment is not, the last axis has not 10 entries, or an entry is not finite.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.model.inertia import dyn_from_reg
    >>> dyn_from_reg(th.Robot.load("elbow").inertial)[0].round(4).tolist()
    [3.0, -0.22, 0.03, 0.01, 0.011, 0.002, -0.001, 0.082, 0.0015, 0.086]
    """
    reg = _parameters(reg, "reg")
    mass, moment = reg[..., 0], reg[..., 1:4]
    massless = mass == 0.0
    if np.any(massless & np.any(moment != 0.0, axis=-1)):
        raise ThunderError(
            "reg must have a non-zero mass where its first moment m c is not zero: no center of mass exists"
        )
    com = moment / np.where(massless, 1.0, mass)[..., None]
    return np.concatenate([reg[..., :1], com, reg[..., 4:] - _steiner(mass, com)], axis=-1)


def pseudo_inertia(reg: npt.ArrayLike) -> Array:
    """Return pseudo-inertia matrices ``[[Sigma, h], [h', m]]`` with ``Sigma = tr(I)/2 1 - I``.

    Linear in `reg`, and positive definite exactly for physically consistent bodies (Wensing, Kim, Slotine 2018).

    Parameters
    ----------
    reg : (..., 10) array_like
        REG order.

    Returns
    -------
    (..., 4, 4) array
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.model.inertia import pseudo_inertia
    >>> P = pseudo_inertia([2.0, 1.0, 0, 0, 0.02, 0, 0, 0.54, 0, 0.54])
    >>> P.shape, bool(np.linalg.eigvalsh(P).min() > 0)
    ((4, 4), True)
    """
    reg = _parameters(reg, "reg")
    P = np.empty((*reg.shape[:-1], 4, 4))
    P[..., _ROW, _COL] = P[..., _COL, _ROW] = -reg[..., 4:]
    half_trace = 0.5 * (reg[..., 4] + reg[..., 7] + reg[..., 9])
    P[..., range(3), range(3)] += half_trace[..., None]
    P[..., :3, 3] = P[..., 3, :3] = reg[..., 1:4]
    P[..., 3, 3] = reg[..., 0]
    return P


def reg_from_pseudo_inertia(P: npt.ArrayLike) -> Array:
    """Convert pseudo-inertia matrices to REG parameters, the inverse of `pseudo_inertia`.

    Parameters
    ----------
    P : (..., 4, 4) array_like
        Symmetric matrices.

    Returns
    -------
    (..., 10) array
        REG order.

    Raises
    ------
    ThunderError
        If the shape is wrong, an entry is not finite, or a matrix is not symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.model.inertia import reg_from_pseudo_inertia
    >>> x = np.array([[0.3, 0.0, 0.1, 1.0], [-0.2, 0.4, 0.0, 1.0]])  # two particles of 1 kg, homogeneous coordinates
    >>> reg_from_pseudo_inertia(x.T @ x).round(3).tolist()
    [2.0, 0.1, 0.4, 0.1, 0.17, 0.08, -0.03, 0.14, 0.0, 0.29]
    """
    P = np.asarray(P, dtype=np.float64)
    if P.ndim < 2 or P.shape[-2:] != (4, 4):
        raise ThunderError(f"P must have shape (..., 4, 4), got {P.shape}")
    if not np.isfinite(P).all():
        raise ThunderError("P must be finite")
    scale = np.abs(P).max(initial=0.0)
    if np.abs(P - np.swapaxes(P, -1, -2)).max(initial=0.0) > 1e-9 * scale:
        raise ThunderError("P must be symmetric")
    Sigma = P[..., :3, :3]
    trace = np.trace(Sigma, axis1=-2, axis2=-1)
    inertia = trace[..., None, None] * np.eye(3) - Sigma
    return np.concatenate([P[..., 3:, 3], P[..., :3, 3], inertia[..., _ROW, _COL]], axis=-1)


def log_cholesky_from_reg(reg: npt.ArrayLike) -> Array:
    """Convert REG parameters to log-Cholesky coordinates, which are physically consistent for any ten numbers.

    ``P = U U'`` with ``U = exp(alpha) [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]``.

    Parameters
    ----------
    reg : (..., 10) array_like
        REG order, physically consistent.

    Returns
    -------
    (..., 10) array
        ``[alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3]``.

    Raises
    ------
    ThunderError
        If a pseudo-inertia is not positive definite.

    References
    ----------
    Rucker and Wensing 2022.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.model.inertia import log_cholesky_from_reg, reg_from_log_cholesky
    >>> reg = th.Robot.load("elbow").inertial
    >>> theta = log_cholesky_from_reg(reg)
    >>> theta.shape, np.allclose(reg_from_log_cholesky(theta), reg)
    ((2, 10), True)
    """
    P = pseudo_inertia(reg)
    try:  # numpy factors L L' with L lower; reversing the order of rows and columns makes it U U'
        U = np.linalg.cholesky(P[..., ::-1, ::-1])[..., ::-1, ::-1]
    except np.linalg.LinAlgError as error:
        raise ThunderError("reg must be physically consistent: its pseudo-inertia is not positive definite") from error
    scale = U[..., 3, 3]
    V = U / scale[..., None, None]
    logs = np.log(np.stack([scale, V[..., 0, 0], V[..., 1, 1], V[..., 2, 2]], axis=-1))
    return np.concatenate([logs, V[..., [0, 1, 0, 0, 1, 2], [1, 2, 2, 3, 3, 3]]], axis=-1)


def reg_from_log_cholesky(theta: npt.ArrayLike) -> Array:
    """Convert log-Cholesky coordinates to REG parameters, the inverse of `log_cholesky_from_reg`.

    Parameters
    ----------
    theta : (..., 10) array_like
        ``[alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3]``, any real numbers.

    Returns
    -------
    (..., 10) array
        REG order, physically consistent.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.model.inertia import is_physical, reg_from_log_cholesky
    >>> theta = np.random.default_rng(0).normal(size=(1000, 10))
    >>> bool(is_physical(reg_from_log_cholesky(theta)).all())
    True
    """
    theta = _parameters(theta, "theta")
    U = np.zeros((*theta.shape[:-1], 4, 4))
    U[..., range(3), range(3)] = np.exp(theta[..., 1:4])
    U[..., 3, 3] = 1.0
    U[..., [0, 1, 0, 0, 1, 2], [1, 2, 2, 3, 3, 3]] = theta[..., 4:]
    U *= np.exp(theta[..., 0])[..., None, None]
    return reg_from_pseudo_inertia(U @ np.swapaxes(U, -1, -2))


def _of_com(P: Array) -> Array:
    """Return the part h h' / m (..., 3, 3) of the second moments of pseudo-inertias that the center of mass has."""
    mass, h = P[..., 3:, 3:], P[..., :3, 3]
    return np.asarray(h[..., :, None] * h[..., None, :] / np.where(mass > 0.0, mass, 1.0))


def is_physical(reg: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Test for physical consistency: positive mass, positive definite second moments about the center of mass.

    Equivalent to a positive definite pseudo-inertia, without its mixed units: the second moment is compared with its
    own size. Point masses, rods and plates (singular up to rounding) are not physical.

    Parameters
    ----------
    reg : (..., 10) array_like
        REG order.

    Returns
    -------
    (...) array of bool
        True where consistent.

    Examples
    --------
    >>> from thunder_py.model.inertia import is_physical
    >>> box = [1.0, 0, 0, 0, 0.02, 0, 0, 0.03, 0, 0.04]
    >>> impossible = [1.0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.05]  # Izz > Ixx + Iyy
    >>> is_physical([box, impossible]).tolist()
    [True, False]
    """
    P = pseudo_inertia(reg)
    Sigma = P[..., :3, :3]
    smallest = np.linalg.eigvalsh(Sigma - _of_com(P))[..., 0]
    rounding = 16 * np.finfo(np.float64).eps * np.abs(np.trace(Sigma, axis1=-2, axis2=-1))
    return np.asarray((P[..., 3, 3] > 0.0) & (smallest > rounding))


def nearest_physical(reg: npt.ArrayLike) -> Array:
    """Return the nearest physically consistent parameters of each body.

    Mass and center of mass stay. The second moments about the center of mass change least in the Frobenius norm:
    eigenvalues are at least 1e-6 of the largest one, or of those of a ball of the body's mass with 1 cm as radius of
    gyration, whichever is larger. Consistent bodies stay as they are; those whose mass is not positive become massless.

    Parameters
    ----------
    reg : (..., 10) array_like
        REG order.

    Returns
    -------
    (..., 10) array
        REG order; `is_physical` holds, except for massless bodies.

    Examples
    --------
    >>> from thunder_py.model.inertia import nearest_physical
    >>> nearest_physical([1.0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.05]).round(3).tolist()  # Izz > Ixx + Iyy
    [1.0, 0.0, 0.0, 0.0, 0.025, 0.0, 0.0, 0.025, 0.0, 0.05]
    """
    reg = _parameters(reg, "reg")
    P = pseudo_inertia(reg)
    mass, of_com = P[..., 3, 3:], _of_com(P)
    values, axes = np.linalg.eigh(P[..., :3, :3] - of_com)
    least = 1e-6 * np.maximum(np.abs(values).max(axis=-1, keepdims=True), 1e-4 * mass)
    P[..., :3, :3] = (axes * np.maximum(values, least)[..., None, :]) @ np.swapaxes(axes, -1, -2) + of_com
    nearest = np.where(mass > 0.0, reg_from_pseudo_inertia(P), 0.0)
    return np.where(is_physical(reg)[..., None], reg, nearest)


def violation(reg: npt.ArrayLike) -> str:
    """Say which inequality keeps a body from being physically consistent, and by how much.

    Parameters
    ----------
    reg : (10,) array_like
        REG order.

    Returns
    -------
    str
        Empty where none is violated beyond rounding; point masses, rods and plates violate none.

    Examples
    --------
    >>> from thunder_py.model.inertia import violation
    >>> violation([1.0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.05])
    'principal moments about the center of mass must satisfy J1 <= J2 + J3, got 0.05 > 0.02 + 0.02, by 0.01 kg m^2'
    """
    P = pseudo_inertia(np.reshape(_parameters(reg, "reg"), (10,)))
    if P[3, 3] <= 0.0:
        return f"mass must be positive, got {P[3, 3]:g} kg" if P.any() else ""
    second = np.linalg.eigvalsh(P[:3, :3] - _of_com(P))
    if second[0] >= -1e-9 * np.abs(P[:3, :3]).max():
        return ""
    J3, J2, J1 = np.sort(second.sum() - second)
    return (
        "principal moments about the center of mass must satisfy J1 <= J2 + J3, "
        f"got {J1:.4g} > {J2:.4g} + {J3:.4g}, by {-2 * second[0]:.3g} kg m^2"
    )
