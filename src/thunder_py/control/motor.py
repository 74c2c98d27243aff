"""Geared DC motors, with their quantities reflected to the joint."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_nonnegative, all_positive, number_or_row
from ..errors import ThunderError


def _read(value: npt.ArrayLike, name: str, *, zero_allowed: bool = False) -> Array:
    return (all_nonnegative if zero_allowed else all_positive)(number_or_row(value, name), name)


class DCMotor:
    """Geared DC motors from data-sheet values, with their quantities reflected to the joints.

    ``inertia ddtheta + damping dtheta = torque_constant i - load`` and ``resistance i + back_emf dtheta = voltage``,
    with ``theta = gear_ratio q``. Every entry is a number or one number per joint.

    Parameters
    ----------
    inertia : float or (n,) array_like
        Rotor inertia about its axis, J_m [kg m^2].
    damping : float or (n,) array_like
        Mechanical damping of the rotor, B_m [N m s/rad].
    torque_constant : float or (n,) array_like
        k_m [N m/A].
    resistance : float or (n,) array_like
        Armature resistance, R [ohm].
    back_emf : float or (n,) array_like, optional
        Back-EMF constant, k_b [V s/rad]; default `torque_constant`, equal to it in SI units.
    gear_ratio : float or (n,) array_like
        Rotor turns per joint turn.

    Raises
    ------
    ValueError
        If an entry is negative, a torque constant, resistance or ratio is zero, or entries have different sizes.

    Notes
    -----
    Lecture notes, lecture 20. Pass ``joint_inertia`` and ``joint_damping`` to `IndependentJoint` if the motor currents
    are controlled. For voltage commands, `voltage` converts a torque and compensates the back EMF, which would
    otherwise damp the joint by ``joint_back_emf``.

    Examples
    --------
    >>> import thunder_py as th
    >>> motor = th.control.DCMotor(3e-5, 1e-5, torque_constant=0.05, resistance=0.5, gear_ratio=100.0)
    >>> [round(float(value), 3) for value in (motor.joint_inertia, motor.joint_damping, motor.joint_back_emf)]
    [0.3, 0.1, 50.0]
    >>> volts = motor.voltage(tau=10.0, dq=1.0)
    >>> round(float(volts), 3), round(float(motor.torque(volts, dq=1.0)), 3)
    (6.0, 10.0)
    """

    def __init__(
        self,
        inertia: npt.ArrayLike,
        damping: npt.ArrayLike,
        torque_constant: npt.ArrayLike,
        resistance: npt.ArrayLike,
        back_emf: npt.ArrayLike | None = None,
        gear_ratio: npt.ArrayLike = 1.0,
    ) -> None:
        self.inertia = _read(inertia, "inertia", zero_allowed=True)
        self.damping = _read(damping, "damping", zero_allowed=True)
        self.torque_constant = _read(torque_constant, "torque_constant")
        self.resistance = _read(resistance, "resistance")
        self.back_emf = _read(torque_constant if back_emf is None else back_emf, "back_emf", zero_allowed=True)
        self.gear_ratio = _read(gear_ratio, "gear_ratio")
        sizes = {name: value.size for name, value in vars(self).items() if value.ndim}
        if len(set(sizes.values())) > 1:
            raise ThunderError(f"entries must be numbers, or rows with one for each joint, got sizes {sizes}")

    @property
    def joint_inertia(self) -> Array:
        """Inertia at the joint, ``gear_ratio^2 J_m`` [kg m^2]."""
        return np.asarray(self.gear_ratio**2 * self.inertia)

    @property
    def joint_damping(self) -> Array:
        """Mechanical damping at the joint, ``gear_ratio^2 B_m`` [N m s/rad]."""
        return np.asarray(self.gear_ratio**2 * self.damping)

    @property
    def joint_back_emf(self) -> Array:
        """Damping by back EMF at constant voltage, ``gear_ratio^2 k_m k_b / R`` [N m s/rad]."""
        return np.asarray(self.gear_ratio**2 * self.torque_constant * self.back_emf / self.resistance)

    def voltage(self, tau: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
        """Return the voltage [V], (..., n), for the joint torque `tau` [N m] at joint velocity `dq` [rad/s]."""
        current = np.asarray(tau) / (self.gear_ratio * self.torque_constant)
        return np.asarray(self.resistance * current + self.back_emf * self.gear_ratio * np.asarray(dq))

    def torque(self, voltage: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
        """Return the joint torque [N m], (..., n), for `voltage` [V] at joint velocity `dq` [rad/s]."""
        current = (np.asarray(voltage) - self.back_emf * self.gear_ratio * np.asarray(dq)) / self.resistance
        return np.asarray(self.gear_ratio * self.torque_constant * current)
