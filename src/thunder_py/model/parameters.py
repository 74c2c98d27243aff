"""Subsets of unknown parameters, and base parameters."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, whole, within
from ..errors import ThunderError, ThunderWarning, UnknownNameError, nearest_hint, outer_level
from .description import RobotDescription
from .model import RobotModel

_GROUPS = ("inertial", "friction", "rotor", "armature")


@dataclass(frozen=True)
class UnknownParameters:
    """Select unknown parameters; the others keep the robot's values (Thunder article, Remark 2).

    The torque is ``tau = [Y_known pi_known | Y_unknown] [1; pi_unknown]``. `Robot.unknown` makes these objects.

    Attributes
    ----------
    robot : Robot
        Robot whose known values are used.
    mask : (p,) bool array
        True for unknown parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> unknown = robot.unknown("link7")
    >>> unknown.names[:2], unknown.values.shape
    (('link7.m', 'link7.mcx'), (10,))
    >>> q, dq, ddq = np.full((3, 7), 0.5)
    >>> Y = unknown.regressor(q, dq, ddq)
    >>> Y.shape, np.allclose(Y @ unknown.parameters, robot.inverse_dynamics(q, dq, ddq))
    ((7, 11), True)
    """

    robot: RobotModel
    mask: npt.NDArray[np.bool_]

    @property
    def indices(self) -> npt.NDArray[np.intp]:
        """Indices of the unknown parameters."""
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
        """Vector ``[1, pi_unknown]`` that `regressor` multiplies, (1 + u,)."""
        return np.concatenate([[1.0], self.values])

    def base_parameters(self, *, samples: int = 64, tolerance: float = 1e-5) -> BaseParameters:
        """Find the identifiable combinations of the unknown parameters; see `Robot.base_parameters`.

        Columns of ``mapping`` that belong to known parameters are zero.
        """
        return find_base_parameters(self.robot, samples=samples, tolerance=tolerance, mask=self.mask)

    def _split(self, Y: Array) -> Array:
        known = Y[..., ~self.mask] @ self.robot.parameters[~self.mask]
        return np.concatenate([known[..., None], Y[..., self.mask]], axis=-1)

    def regressor(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Evaluate ``[Y_known pi_known | Y_unknown]``, (..., n, 1 + u); see `Robot.regressor`."""
        return self._split(self.robot.regressor(q, dq, ddq))

    def slotine_li_regressor(
        self, q: npt.ArrayLike, dq: npt.ArrayLike, dq_r: npt.ArrayLike, ddq_r: npt.ArrayLike
    ) -> Array:
        """Evaluate ``[Y_known pi_known | Y_unknown]`` of the Slotine-Li regressor, (..., n, 1 + u)."""
        return self._split(self.robot.slotine_li_regressor(q, dq, dq_r, ddq_r))


def select_parameters(
    robot: RobotModel, which: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None
) -> UnknownParameters:
    """Resolve names, groups or a mask to `UnknownParameters`; see `Robot.unknown`."""
    if which is None:
        return UnknownParameters(robot, np.ones(robot.p, dtype=bool))
    which = which.mask if isinstance(which, UnknownParameters) else which
    names = [which] if isinstance(which, str) else which
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        mask = np.logical_or.reduce([_mask_of_name(robot, str(name)) for name in names])
        return UnknownParameters(robot, mask)
    selection = np.asarray(which)
    if selection.dtype != np.bool_ or selection.shape != (robot.p,):
        raise ThunderError(f"unknown must be names or a bool mask of shape ({robot.p},), got {which!r}")
    return UnknownParameters(robot, selection.copy())


def _owner(parameter: str) -> str:
    """Return the link or joint of a parameter; its name may contain dots."""
    return parameter.rpartition(".")[0]


def _mask_of_name(robot: RobotModel, name: str) -> npt.NDArray[np.bool_]:
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
        raise unknown_parameter(robot, name)
    return mask


def unknown_parameter(robot: RobotModel, name: str, others: Iterable[str] = ()) -> UnknownNameError:
    """Return the error of a name that selects no parameter; it suggests the nearest one, also of `others`."""
    names = robot.parameter_names
    known = {*names, *map(_owner, names), *_GROUPS, *others} - {name}
    return UnknownNameError(f"no parameter of {robot.name} is called {name!r}{nearest_hint(name, sorted(known))}")


def parameter_changes(description: RobotDescription, parameters: npt.ArrayLike) -> dict[str, Any]:
    """Return the fields of a description for another parameter vector; see `Robot.with_parameters`."""
    d, n = description, len(description.joint_types)
    terms = 0 if d.friction is None else len(d.friction.terms)
    sizes = [10 * n, terms * n, len(d.rotors), 0 if d.armature is None else n]
    pi = array(parameters, (sum(sizes),), "parameters")
    inertial, friction, rotors, armature = np.split(pi, np.cumsum(sizes[:-1]))
    changes: dict[str, Any] = {"inertial": inertial.reshape(n, 10)}
    if d.friction is not None:
        changes["friction"] = dataclasses.replace(d.friction, coefficients=friction.reshape(n, terms))
    pairs = zip(d.rotors, rotors.tolist(), strict=True)
    changes["rotors"] = tuple(dataclasses.replace(rotor, inertia=value) for rotor, value in pairs)
    if d.armature is not None:
        changes["armature"] = armature
    return changes


@dataclass(frozen=True)
class BaseParameters:
    """Store identifiable parameter combinations: ``Y pi = Y[:, independent] (mapping pi)``.

    `Robot.base_parameters` computes them. The equality is exact where `gap` is infinite, else it holds to the size of
    the singular values that were dropped.

    Attributes
    ----------
    independent : (b,) int array
        Independent columns of the regressor.
    mapping : (b, p) array
        Matrix from all parameters to the base parameters.
    condition_number : float
        Condition number of the independent columns over the random states, scaled to unit norm.
    names : tuple of str
        Parameters of the independent columns.
    gap : float
        Smallest kept singular value over the largest dropped one; infinite if those dropped are zero to rounding. A
        gap below 1000 leaves open how many parameters there are: some are nearly unidentifiable.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> base = robot.base_parameters()
    >>> base.count, base.mapping.shape, base.gap
    (6, (6, 20), inf)
    >>> Y = robot.regressor([0.1, 0.2], [0.3, -0.1], [1.0, 0.5])
    >>> np.allclose(Y[:, base.independent] @ (base.mapping @ robot.parameters), Y @ robot.parameters)
    True
    """

    independent: npt.NDArray[np.intp]
    mapping: Array
    condition_number: float
    names: tuple[str, ...]
    gap: float = np.inf

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.independent)


_MOST_SAMPLES = 100_000  # states; the regressors of all are in memory
_ROUNDING = 1e-12  # columns and singular values that are zero, relative to the largest one
_SMALL_GAP = 1e3


def find_base_parameters(
    robot: RobotModel,
    *,
    samples: int = 64,
    tolerance: float = 1e-5,
    mask: npt.NDArray[np.bool_] | None = None,
) -> BaseParameters:
    """Find base parameters among the columns in `mask`; see `Robot.base_parameters`."""
    from scipy.linalg import qr, solve_triangular

    samples = max(whole(samples, "samples", 1, _MOST_SAMPLES), -(-robot.p // robot.n))
    tolerance = within(tolerance, "tolerance", 0.0, 1.0, ends="[)")
    rng = np.random.default_rng(0)  # the same states at every call
    q = rng.uniform(-np.pi, np.pi, (samples, robot.n))
    dq, ddq = rng.uniform(-2.0, 2.0, (2, samples, robot.n))
    W = robot.regressor(q, dq, ddq).reshape(-1, robot.p)
    if mask is not None:
        W[:, ~mask] = 0.0
    scale = np.linalg.norm(W, axis=0)
    size = _largest_of_kind(scale, robot.parameter_names)
    singular = np.linalg.svd(np.linalg.qr(W / size, mode="r"), compute_uv=False)
    singular /= singular[0] or 1.0
    present = scale > tolerance * size
    rank = min(int(np.sum(singular > tolerance)), int(present.sum()))
    dropped = float(singular[rank:].max(initial=0.0))
    scale[scale == 0.0] = 1.0
    W = W / scale
    # weights prefer columns of links near the base as pivots; 1e-2 limits the loss of conditioning
    order = qr(W * np.geomspace(1.0, 1e-2, robot.p) * present, mode="r", pivoting=True)[-1]
    keep = np.sort(order[:rank])
    rest = np.setdiff1d(np.arange(robot.p), keep)
    Q, R = np.linalg.qr(W[:, keep])
    mapping = np.zeros((rank, robot.p))
    mapping[:, keep] = np.eye(rank)
    mapping[:, rest] = solve_triangular(R, Q.T @ W[:, rest])
    mapping /= scale[keep][:, None]
    mapping *= scale
    mapping[np.abs(mapping) < max(1e-11, dropped)] = 0.0
    names = tuple(robot.parameter_names[k] for k in keep)
    condition = float(np.linalg.cond(W[:, keep])) if rank else 1.0
    gap = np.inf if rank == 0 or dropped <= _ROUNDING else float(singular[rank - 1]) / dropped
    if gap < _SMALL_GAP:
        warnings.warn(
            f"{robot.name} has {rank} base parameters or another number: singular values next to the tolerance differ "
            f"by a factor of {gap:.3g} only; a combination of parameters is nearly unidentifiable",
            ThunderWarning,
            stacklevel=outer_level(),
        )
    return BaseParameters(keep, mapping, condition, names, gap)


def _largest_of_kind(lengths: Array, names: Sequence[str]) -> Array:
    """Return the length of the longest column of the same unit: m, mc, I or one kind of the joints' parameters.

    The rank does not depend on units then, and a column of rounding errors stays as small as they are; it is infinite
    if all columns of a unit are rounding errors.
    """
    kinds = np.array([name.rpartition(".")[2].rstrip("xyz") for name in names])
    longest = np.array([lengths[kinds == kind].max() for kind in kinds])
    return np.where(longest > _ROUNDING * lengths.max(), longest, np.inf)
