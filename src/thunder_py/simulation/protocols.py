"""Protocols of plants and controllers written in Python."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from ..checks import Array


class PlantLike(Protocol):
    """A plant written in Python.

    Optional methods: ``begin_step(t)``, called before each integration step, for changes at an instant;
    ``advance(t, q, dq, tau, dt)``, which returns q and dq at t + dt with the torque held, for
    ``simulate(..., integrator="plant")``; ``mass_matrix(q)`` and ``mass_matrix_dot(q, dq)``, (n, n), for
    ``integrator="implicit_midpoint"``.

    A plant with elastic joints has the attribute ``motor_joints``, a tuple of the joints, from 0, that have a motor of
    their own. Then ``forward_dynamics(q, dq, tau, x, dx)`` returns ddq and ddx, and ``advance(t, q, dq, tau, dt, x,
    dx)`` returns q, dq, x and dx. The optional ``elastic_equilibrium(q)`` returns motor positions at rest, (e,).

    The optional attribute ``robot`` is the `Robot` for which `simulate` checks the gains of controllers; default their
    model.

    Examples
    --------
    A mass of 2 kg on a rail under computed torque:

    >>> import thunder_py as th
    >>> class Mass:
    ...     n = 1
    ...     def forward_dynamics(self, q, dq, tau):
    ...         return tau / 2.0
    >>> class PD:
    ...     def step(self, t, q, dq, reference):
    ...         return 50.0 * (reference.q - q) - 20.0 * dq
    >>> run = th.simulate(Mass(), PD(), th.reference.SetPoint([0.1]), 4.0, q0=[0.0])
    >>> round(float(run.q[-1, 0]), 3)
    0.1
    """

    n: int

    def forward_dynamics(self, q: Array, dq: Array, tau: Array, /) -> npt.ArrayLike:
        """Return the joint accelerations, (n,)."""


class ControllerLike(Protocol):
    """A controller written in Python.

    Optional attributes: ``status`` (a `thunder_py.control.Status`), ``signals`` (a mapping of names to vectors of
    fixed length, present before the first step) and ``reset()``, called before a run. Where the attribute
    ``sees_motors`` is true, the controller is called as ``step(t, q, dq, reference, x, dx)`` with the positions and
    velocities (e,) of the motors of elastic joints.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> class Damping:
    ...     def __init__(self):
    ...         self.signals = {"power": np.zeros(1)}
    ...     def step(self, t, q, dq, reference):
    ...         self.signals["power"][:] = 5.0 * dq @ dq
    ...         return -5.0 * dq
    >>> run = th.simulate(th.Robot.load("elbow"), Damping(), th.reference.SetPoint([0.0, 0.0]), 0.5)
    >>> run.signals["power"].shape
    (501, 1)
    """

    def step(self, t: float, q: Array, dq: Array, reference: Any, /) -> npt.ArrayLike:
        """Return the torque, (n,)."""
