"""Partial derivatives of inverse and forward dynamics as named tuples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array


class InverseDynamicsDerivatives(NamedTuple):
    """Store the partial derivatives of tau = M ddq + C dq + G + friction; ``v`` stands for dq.

    Attributes
    ----------
    dtau_dq : (..., n, n) array
        By the joint positions, ``[i, j]`` of tau_i by q_j.
    dtau_dv : (..., n, n) array
        By the joint velocities.
    M : (..., n, n) array
        By the joint accelerations: the mass matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> d = robot.inverse_dynamics_derivatives([0.3, 0.5], [1.0, -1.0], [0.0, 0.0])
    >>> np.allclose(d.dtau_dv, 2 * robot.coriolis_matrix([0.3, 0.5], [1.0, -1.0]))  # without friction
    True
    """

    dtau_dq: Array
    dtau_dv: Array
    M: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """Store the partial derivatives of the joint accelerations ddq(q, dq, tau); ``v`` stands for dq.

    Attributes
    ----------
    ddq_dq : (..., n, n) array
        By the joint positions, ``[i, j]`` of ddq_i by q_j.
    ddq_dv : (..., n, n) array
        By the joint velocities.
    Minv : (..., n, n) array
        By the torques: the inverse of the mass matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> d = robot.forward_dynamics_derivatives([0.3, 0.5], [1.0, -1.0], [0.0, 0.0])
    >>> np.allclose(d.Minv @ robot.mass_matrix([0.3, 0.5]), np.eye(2))
    True
    """

    ddq_dq: Array
    ddq_dv: Array
    Minv: Array


class InverseDynamicsSecondDerivatives(NamedTuple):
    """Store the second partial derivatives of tau(q, dq, ddq); ``v`` stands for dq. Others than these are zero.

    Attributes
    ----------
    d2tau_dqdq : (..., n, n, n) array
        ``[i, j, k]`` of tau_i by q_j and q_k.
    d2tau_dvdq : (..., n, n, n) array
        ``[i, j, k]`` of tau_i by dq_j and q_k.
    dM_dq : (..., n, n, n) array
        ``[i, j, k]`` of tau_i by ddq_j and q_k, or of M_ij by q_k.
    d2tau_dvdv : (..., n, n, n) array
        ``[i, j, k]`` of tau_i by dq_j and dq_k.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> second = robot.inverse_dynamics_second_derivatives([0.3, 0.5], [1.0, -1.0], [0.0, 0.0])
    >>> np.allclose(second.dM_dq, robot.mass_matrix_derivative([0.3, 0.5]))
    True
    """

    d2tau_dqdq: Array
    d2tau_dvdq: Array
    dM_dq: Array
    d2tau_dvdv: Array


class ForwardDynamicsSecondDerivatives(NamedTuple):
    """Store the second partial derivatives of ddq(q, dq, tau); ``v`` stands for dq. Others than these are zero.

    Attributes
    ----------
    d2ddq_dqdq : (..., n, n, n) array
        ``[i, j, k]`` of ddq_i by q_j and q_k.
    d2ddq_dvdq : (..., n, n, n) array
        ``[i, j, k]`` of ddq_i by dq_j and q_k.
    dMinv_dq : (..., n, n, n) array
        ``[i, j, k]`` of ddq_i by tau_j and q_k, or of the inverse of M by q_k.
    d2ddq_dvdv : (..., n, n, n) array
        ``[i, j, k]`` of ddq_i by dq_j and dq_k.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> second = robot.forward_dynamics_second_derivatives([0.3, 0.5], [1.0, -1.0], [0.0, 0.0])
    >>> np.allclose(second.d2ddq_dqdq, second.d2ddq_dqdq.swapaxes(1, 2))
    True
    """

    d2ddq_dqdq: Array
    d2ddq_dvdq: Array
    dMinv_dq: Array
    d2ddq_dvdv: Array


class DerivativeMethods(_core.Model):
    """Give the parts of stacked derivatives their names; base class of `Robot`."""

    def inverse_dynamics_derivatives(  # type: ignore[override]
        self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike, *, out: Array | None = None, threads: int = 1
    ) -> InverseDynamicsDerivatives:
        """Compute the partial derivatives of the inverse dynamics by an analytic recursion.

        Friction, rotors, armature and prismatic joints are included, as in `inverse_dynamics`.

        Parameters
        ----------
        q, dq, ddq : (..., n) array_like
            Joint positions, velocities and accelerations [rad, m and their rates].
        out : (..., 3, n, n) ndarray, optional
            Array to fill, of which the results are views.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        InverseDynamicsDerivatives
            ``dtau_dq``, ``dtau_dv``, ``M``.

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Composite bodies with the recursion of Singh, Russell and Wensing (2022), O(n) per column. Kernel:
        ``cpp/include/thunder/dynamics/inverse_dynamics_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 7), 0.5)
        >>> dtau_dq, dtau_dv, M = robot.inverse_dynamics_derivatives(q, dq, ddq)
        >>> step = 1e-6 * np.eye(7)
        >>> ahead, behind = robot.inverse_dynamics(q + step, dq, ddq), robot.inverse_dynamics(q - step, dq, ddq)
        >>> np.allclose(dtau_dq, (ahead - behind).T / 2e-6, atol=1e-7)
        True
        """
        parts = super().inverse_dynamics_derivatives(q, dq, ddq, out=out, threads=threads)
        return InverseDynamicsDerivatives(*np.moveaxis(parts, -3, 0))

    def forward_dynamics_derivatives(  # type: ignore[override]
        self, q: npt.ArrayLike, dq: npt.ArrayLike, tau: npt.ArrayLike, *, out: Array | None = None, threads: int = 1
    ) -> ForwardDynamicsDerivatives:
        """Compute the partial derivatives of the forward dynamics from those of the inverse dynamics.

        Parameters
        ----------
        q, dq, tau : (..., n) array_like
            Joint positions, velocities and torques [rad, rad/s, N m; or m, m/s, N].
        out : (..., 3, n, n) ndarray, optional
            Array to fill, of which the results are views.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        ForwardDynamicsDerivatives
            ``ddq_dq``, ``ddq_dv``, ``Minv``.

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        ``ddq_dq = -Minv dtau_dq`` and ``ddq_dv = -Minv dtau_dv`` at the acceleration of the state. Kernel:
        ``cpp/include/thunder/dynamics/forward_dynamics_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, tau = np.full((3, 7), 0.5)
        >>> d = robot.forward_dynamics_derivatives(q, dq, tau)
        >>> np.allclose(d.Minv @ robot.mass_matrix(q), np.eye(7))
        True
        >>> A = np.block([[np.zeros((7, 7)), np.eye(7)], [d.ddq_dq, d.ddq_dv]])  # of the state (q, dq)
        >>> A.shape
        (14, 14)
        """
        parts = super().forward_dynamics_derivatives(q, dq, tau, out=out, threads=threads)
        return ForwardDynamicsDerivatives(*np.moveaxis(parts, -3, 0))

    def inverse_dynamics_second_derivatives(  # type: ignore[override]
        self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike, *, out: Array | None = None, threads: int = 1
    ) -> InverseDynamicsSecondDerivatives:
        """Compute the second partial derivatives of the inverse dynamics.

        Parameters
        ----------
        q, dq, ddq : (..., n) array_like
            Joint positions, velocities and accelerations [rad, m and their rates].
        out : (..., 4, n, n, n) ndarray, optional
            Array to fill, of which the results are views.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        InverseDynamicsSecondDerivatives
            ``d2tau_dqdq``, ``d2tau_dvdq``, ``dM_dq``, ``d2tau_dvdv``.

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over the analytic first derivatives, exact to rounding. Kernel:
        ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, ddq = np.full((3, 7), 0.5)
        >>> second = robot.inverse_dynamics_second_derivatives(q, dq, ddq)
        >>> np.allclose(second.d2tau_dvdv, 2 * robot.christoffel_symbols(q))  # the Panda has no friction
        True
        """
        parts = super().inverse_dynamics_second_derivatives(q, dq, ddq, out=out, threads=threads)
        return InverseDynamicsSecondDerivatives(*np.moveaxis(parts, -4, 0))

    def forward_dynamics_second_derivatives(  # type: ignore[override]
        self, q: npt.ArrayLike, dq: npt.ArrayLike, tau: npt.ArrayLike, *, out: Array | None = None, threads: int = 1
    ) -> ForwardDynamicsSecondDerivatives:
        """Compute the second partial derivatives of the forward dynamics.

        Parameters
        ----------
        q, dq, tau : (..., n) array_like
            Joint positions, velocities and torques [rad, rad/s, N m; or m, m/s, N].
        out : (..., 4, n, n, n) ndarray, optional
            Array to fill, of which the results are views.
        threads : int, default 1
            Threads for a batch; 0 is one per core.

        Returns
        -------
        ForwardDynamicsSecondDerivatives
            ``d2ddq_dqdq``, ``d2ddq_dvdq``, ``dMinv_dq``, ``d2ddq_dvdv``.

        Raises
        ------
        ValueError
            For a wrong shape or type, or a value that is not finite.

        Notes
        -----
        Dual numbers over the analytic first derivatives, exact to rounding. Kernel:
        ``cpp/include/thunder/dynamics/partial_derivatives.hpp``; theory: ``docs/derivatives.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot = th.Robot.load("panda")
        >>> q, dq, tau = np.full((3, 7), 0.5)
        >>> robot.forward_dynamics_second_derivatives(q, dq, tau).d2ddq_dqdq.shape
        (7, 7, 7)
        """
        parts = super().forward_dynamics_second_derivatives(q, dq, tau, out=out, threads=threads)
        return ForwardDynamicsSecondDerivatives(*np.moveaxis(parts, -4, 0))
