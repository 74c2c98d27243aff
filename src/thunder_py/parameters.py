"""Subsets of the parameter vector: the unknown ones, and the ones that torques can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .errors import UnknownNameError, nearest_hint

if TYPE_CHECKING:
    from .robot import Robot

__all__ = ["BaseParameters", "UnknownParameters", "find_base_parameters", "select_parameters"]

Array = npt.NDArray[np.float64]

_GROUPS = ("inertial", "friction", "rotor", "armature")


@dataclass(frozen=True)
class UnknownParameters:
    """A choice of unknown parameters; the others keep the robot's values (Thunder article, Remark 2).

    With it ``tau = [Y_known pi_known | Y_unknown] [1; pi_unknown]``.

    Attributes
    ----------
    robot : Robot
        Whose known values are used.
    mask : (p,) bool array
        True where unknown.
    """

    robot: Robot
    mask: npt.NDArray[np.bool_]

    @property
    def indices(self) -> npt.NDArray[np.intp]:
        """Columns of the unknown parameters."""
        return np.flatnonzero(self.mask)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown parameters."""
        return tuple(self.robot.parameter_names[k] for k in self.indices)

    @property
    def values(self) -> Array:
        """The robot's own values of the unknown parameters, (u,)."""
        return self.robot.parameters[self.mask]

    @property
    def parameters(self) -> Array:
        """``[1, pi_unknown]``, what `regressor` multiplies, (1 + u,)."""
        return np.concatenate([[1.0], self.values])

    def base_parameters(self, *, samples: int = 64, tolerance: float = 1e-9, seed: int = 0) -> BaseParameters:
        """Find the combinations of the unknown parameters that torques can tell apart; see `Robot.base_parameters`.

        Columns of ``mapping`` that belong to known parameters are zero.
        """
        return find_base_parameters(self.robot, samples=samples, tolerance=tolerance, seed=seed, mask=self.mask)

    def _split(self, Y: Array) -> Array:
        known = Y[..., ~self.mask] @ self.robot.parameters[~self.mask]
        return np.concatenate([known[..., None], Y[..., self.mask]], axis=-1)

    def regressor(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """``[Y_known pi_known | Y_unknown]``, (..., n, 1 + u); see `Robot.regressor`."""
        return self._split(self.robot.regressor(q, dq, ddq))

    def slotine_li_regressor(
        self, q: npt.ArrayLike, dq: npt.ArrayLike, dq_r: npt.ArrayLike, ddq_r: npt.ArrayLike
    ) -> Array:
        """``[Y_known pi_known | Y_unknown]`` of the Slotine-Li regressor, (..., n, 1 + u)."""
        return self._split(self.robot.slotine_li_regressor(q, dq, dq_r, ddq_r))


def select_parameters(robot: Robot, which: str | Sequence[str] | npt.ArrayLike | None) -> UnknownParameters:
    """Resolve names, groups or a mask to `UnknownParameters`; see `Robot.unknown`."""
    if which is None:
        return UnknownParameters(robot, np.ones(robot.p, dtype=bool))
    names = [which] if isinstance(which, str) else which
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        mask = np.logical_or.reduce([_mask_of_name(robot, str(name)) for name in names])
        return UnknownParameters(robot, mask)
    given = np.asarray(which)
    if given.dtype != np.bool_ or given.shape != (robot.p,):
        raise ValueError(f"unknown must be names or a bool mask of shape ({robot.p},), got {which!r}")
    return UnknownParameters(robot, given.copy())


def _owner(parameter: str) -> str:
    """Link or joint of a parameter; its name may hold dots itself."""
    return parameter.rpartition(".")[0]


def _mask_of_name(robot: Robot, name: str) -> npt.NDArray[np.bool_]:
    names = robot.parameter_names
    if name in _GROUPS:
        d = robot.description
        terms = 0 if d.friction is None else len(d.friction.terms)
        sizes = [10 * robot.n, terms * robot.n, len(d.rotors)]
        group = np.searchsorted(np.cumsum(sizes), np.arange(robot.p), side="right")
        mask: npt.NDArray[np.bool_] = group == _GROUPS.index(name)
    else:
        mask = np.array([name in (full, _owner(full)) for full in names])
    if not mask.any():
        known = {*names, *map(_owner, names), *_GROUPS} - {name}
        raise UnknownNameError(f"no parameter of {robot.name} is called {name!r}{nearest_hint(name, sorted(known))}")
    return mask


@dataclass(frozen=True)
class BaseParameters:
    """Parameter combinations that joint torques can tell apart: ``Y pi = Y[:, independent] (mapping pi)``.

    Attributes
    ----------
    independent : (b,) int array
        Columns of the regressor that are kept.
    mapping : (b, p) array
        Takes all parameters to the base parameters.
    condition_number : float
        Of the kept columns over the random states, scaled to unit norm.
    names : tuple of str
        Names of the kept columns.
    """

    independent: npt.NDArray[np.intp]
    mapping: Array
    condition_number: float
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.independent)


_MOST_SAMPLES = 100_000  # states, of which a regressor each is kept


def find_base_parameters(
    robot: Robot, *, samples: int, tolerance: float, seed: int, mask: npt.NDArray[np.bool_] | None = None
) -> BaseParameters:
    """Rank-revealing QR of stacked regressors, of the columns in `mask`; see `Robot.base_parameters`."""
    from scipy.linalg import qr, solve_triangular

    from .motion.scalars import seed_of, whole, within

    samples, seed = whole(samples, "samples", 1, _MOST_SAMPLES), seed_of(seed)
    tolerance = within(tolerance, "tolerance", 0.0, 1.0, ends="[)")
    if samples * robot.n < robot.p:
        samples = -(-robot.p // robot.n)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (samples, robot.n))
    dq, ddq = rng.uniform(-2.0, 2.0, (2, samples, robot.n))
    W = robot.regressor(q, dq, ddq).reshape(-1, robot.p)
    if mask is not None:
        W[:, ~mask] = 0.0
    # unit columns, so that the rank does not depend on units; columns that never act stay zero
    scale = np.linalg.norm(W, axis=0)
    scale[scale <= tolerance * scale.max()] = np.inf
    W = W / scale
    # weights make pivots prefer the left, as names nearer the base read better, but not at the price of conditioning
    R, order = qr(W * np.geomspace(1.0, 1e-2, robot.p), mode="r", pivoting=True)[-2:]
    pivots = np.abs(np.diag(R))
    rank = int(np.sum(pivots > tolerance * pivots[0]))
    keep = np.sort(order[:rank])
    rest = np.setdiff1d(np.arange(robot.p), keep)
    Q, R = np.linalg.qr(W[:, keep])
    mapping = np.zeros((rank, robot.p))
    mapping[:, keep] = np.eye(rank)
    mapping[:, rest] = solve_triangular(R, Q.T @ W[:, rest])
    mapping /= scale[keep][:, None]
    mapping *= np.where(np.isinf(scale), 0.0, scale)[None, :]
    mapping[np.abs(mapping) < 1e-11] = 0.0
    names = tuple(robot.parameter_names[k] for k in keep)
    condition = float(np.linalg.cond(W[:, keep])) if rank else 1.0
    return BaseParameters(keep, mapping, condition, names)
