"""Identification of a payload from logs with it, by a known robot or by logs without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, above_zero, all_positive, array, probability
from ..errors import ThunderError
from ..robot import Robot, inertia
from ..robot.payload import Payload
from ..robot.robot import UnknownParameters
from ..table import Table
from .equations import all_names, all_parameters, equations, extended, selection
from .least_squares import ConsistentProblem, Data, Fit, compress, fit, fit_reweighted, solve_consistent
from .log import read_log
from .segments import SignalsLike, listed_logs

__all__ = ["PayloadIdentification", "identify_payload"]

#: density of the sphere that is the default prior [kg/m^3]
_DENSITY = 1000.0
#: parameters of a body in DYN order, with units
_NAMES = ("m", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
#: relative step of differences
_STEP = 1e-6
#: torque of a row relative to the largest: lower bound for weights
_SMALLEST_SCALE = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadIdentification:
    """Result of `identify_payload`.

    Attributes
    ----------
    parameters : (10,) array
        REG parameters of the payload in the frame of its link.
    covariance : (10, 10) array
        Their covariance by plain least squares, zero in directions that the logs do not determine.
    determined : (10,) bool array
        Whether the logs determine each parameter.
    link : int
        Number of the link that carries the payload, from 1.
    noise : (r,) array
        Standard deviations that weighted the rows [N m or N].
    condition : float
        Condition number of the weighted columns, scaled to unit length.
    consistent : bool
        Whether the fit was restricted to bodies that can exist.
    """

    parameters: Array
    covariance: Array = field(repr=False)
    determined: npt.NDArray[np.bool_]
    link: int
    noise: Array
    condition: float
    consistent: bool

    #: names of `estimates`: mass [kg], center of mass [m], inertia about it [kg m^2] in axes of the link
    names = _NAMES

    @property
    def payload(self) -> Payload:
        """Payload for `simulate`; raises if the parameters, found without ``consistent=True``, are not physical."""
        mass, com, about_com = self.estimates[0], self.estimates[1:4], np.zeros((3, 3))
        about_com[np.triu_indices(3)] = self.estimates[4:]
        return Payload(mass, com, about_com + np.triu(about_com, 1).T, link=self.link)

    @property
    def estimates(self) -> Array:
        """Mass, center of mass and inertia about it, in the order of `names`, (10,)."""
        return inertia.dyn_from_reg(self.parameters)

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of `estimates` to first order, (10,), infinite where not determined."""
        steps = _STEP * np.maximum(np.abs(self.parameters), self.parameters[0])
        shifts = np.diag(steps)
        ahead, behind = (inertia.dyn_from_reg(self.parameters + sign * shifts) for sign in (1.0, -1.0))
        slopes = ((ahead - behind) / (2.0 * steps[:, None])).T
        deviations = np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", slopes, self.covariance, slopes), 0.0))
        hidden = (np.abs(slopes[:, ~self.determined]) > _STEP).any(axis=1)
        return np.where(hidden, np.inf, deviations)

    def intervals(self, level: float = 0.95) -> Array:
        """Return confidence intervals of `estimates`, (10, 2), for normal errors."""
        from scipy.stats import norm

        reach = float(norm.ppf(0.5 + 0.5 * probability(level, "level"))) * self.standard_deviations
        return np.column_stack([self.estimates - reach, self.estimates + reach])

    def table(self) -> Table:
        """Return a table of mass, center of mass and inertia: name, value, standard deviation."""
        header = ["parameter", "value", "standard deviation"]
        return Table(header, zip(self.names, self.estimates, self.standard_deviations, strict=True))


def identify_payload(
    robot: Robot,
    loaded: SignalsLike | Sequence[SignalsLike],
    unloaded: SignalsLike | Sequence[SignalsLike] | None = None,
    *,
    link: int | str | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    prior: Payload | None = None,
    consistent: bool = True,
    regularization: float = 1.0,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    cutoff: float | None = None,
    hold: float = 0.0,
) -> PayloadIdentification:
    """Identify mass, center of mass and inertia of a body fixed to a link.

    Parameters
    ----------
    robot : Robot
        Robot without the payload.
    loaded : log or sequence of logs
        Logs with the payload; see `identify_model`.
    unloaded : log or sequence of logs, optional
        Logs without it. The parameters `unknown` of the robot are then identified in the same problem, and what the
        robot's parameters are wrong by does not enter the payload. Default: the parameters of `robot` are trusted.
    link : int or str, optional
        Number or name of the link that carries the payload; default the last.
    unknown
        As in `identify`; only with `unloaded`.
    prior : Payload, optional
        Body from which the consistent fit measures its divergence; default a ball of water with the mass and center
        found by least squares.
    consistent : bool
        Restrict the fit to bodies that can exist: a positive definite pseudo-inertia.
    regularization : float
        Weight of the divergence from the prior; see `identify`.
    weights, cutoff, hold
        As in `identify`.

    Returns
    -------
    PayloadIdentification
        Payload and its uncertainty.

    Raises
    ------
    ThunderError
        If an argument is invalid, or the consistent fit has no prior because least squares finds no positive mass.

    Notes
    -----
    The payload adds the columns of its link to the regressor: ``tau = Y pi + Y_link pi_payload``. The consistent fit
    eliminates the robot's parameters from the normal equations, which is exact, and minimizes the remaining squares
    plus the entropic divergence of the payload's pseudo-inertia from the prior.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import identify_payload
    >>> robot, t = th.Robot.load("panda"), np.arange(0.0, 10.0, 5e-3)
    >>> motion = th.reference.Sinusoid([0.5] * 7, np.arange(3, 10) / 10.0, center=[0, 0, 0, -1.5, 0, 1.8, 0])
    >>> q, dq, ddq = motion(t)
    >>> box = th.Payload(2.0, com=(0.02, 0.0, 0.1), inertia=0.01 * np.eye(3))
    >>> tau = box.added_to(robot).inverse_dynamics(q, dq, ddq)
    >>> tau += np.random.default_rng(0).normal(scale=0.05, size=tau.shape)
    >>> found = identify_payload(robot, SimpleNamespace(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> found.payload.mass.round(2), found.payload.com.round(3).tolist()
    (2.0, [0.02, 0.0, 0.1])
    >>> bool(found.standard_deviations[0] < 0.01)
    True
    """
    index = Payload(0.0, link=link).link_index(robot)
    problem = _Problem.of(robot, index, unknown, trusted=unloaded is None)
    parts = [problem.data(log, cutoff, hold, carries=True) for log in listed_logs(loaded)]
    if unloaded is not None:
        parts += [problem.data(log, cutoff, hold, carries=False) for log in listed_logs(unloaded)]
    data, gain = _merged([part.data for part in parts]), float(np.mean([part.gain for part in parts]))
    if isinstance(weights, str):
        found = fit_reweighted(data)
    else:
        noise = 1.0 / all_positive(array(weights, (robot.n,), "weights"), "weights")
        found = fit(data, noise[parts[0].joints])
    count = problem.columns.size - 10
    half = (found.basis * found.gains)[count:]
    parameters = found.deviation[count:]
    if consistent:
        R, z = _remaining(data, found, count)
        body = _ball(parameters, found.determined[count]) if prior is None else prior.parameters
        names = tuple(f"payload.{name}" for name in _NAMES)
        none = np.zeros(0, dtype=np.intp)
        squares = ConsistentProblem(
            R * gain**0.5, z * gain**0.5, body, np.arange(10), np.zeros(1, np.intp), none, names
        )
        parameters = solve_consistent(squares, above_zero(regularization, "regularization"))
    return PayloadIdentification(
        parameters=parameters,
        covariance=half @ half.T / gain,
        determined=found.determined[count:],
        link=index,
        noise=found.noise,
        condition=found.condition,
        consistent=consistent,
    )


class _Part(NamedTuple):
    """Factors of one log, the noise gain of its filter, and the joint of each row."""

    data: Data
    gain: float
    joints: npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Problem:
    """Robot, its known torque's parameters, and the columns: unknown ones of the robot, then those of the payload."""

    robot: Robot
    theta: Array
    columns: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls,
        robot: Robot,
        link: int,
        unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
        *,
        trusted: bool,
    ) -> _Problem:
        payload = 10 * (link - 1) + np.arange(10)
        if trusted:
            if unknown is not None:
                raise ThunderError("unknown must be None without unloaded logs: the robot's parameters are trusted")
            return cls(robot, all_parameters(robot), payload)
        chosen, elastic = selection(robot, unknown)
        base = extended(chosen.base_parameters(), elastic, all_names(robot))
        return cls(robot, all_parameters(robot), np.concatenate([base.independent, payload]))

    def data(self, log: SignalsLike, cutoff: float | None, hold: float, *, carries: bool) -> _Part:
        signals = {name: getattr(log, name, None) for name in ("q", "tau", "x", "joint_torque")}
        if cutoff is None:
            signals |= {name: getattr(log, name, None) for name in ("dq", "ddq", "dx", "ddx")}
        samples = read_log(self.robot, log.t, signals, cutoff, hold)
        rows = equations(self.robot, samples, None, np.zeros(self.robot.e))
        present = np.ones(self.columns.size)
        present[-10:] = carries
        W = rows.W[..., self.columns] * present
        errors = len(rows.y) * rows.errors[:, self.columns] * present[:, None]
        scale = np.sqrt(np.mean(rows.y**2, axis=0))
        scale = np.maximum(scale, (_SMALLEST_SCALE * scale.max()) or 1.0)
        left = rows.y - rows.W @ self.theta
        return _Part(
            compress(W, left, scale, errors[..., self.columns] * present, errors @ self.theta),
            samples.gains[0],
            rows.joints,
        )


def _merged(parts: Sequence[Data]) -> Data:
    """Return the sums of all logs."""
    stacked = zip(*(part.factors for part in parts), strict=True)
    factors = np.array([np.linalg.qr(np.vstack(rows), mode="r") for rows in stacked])
    counts = np.array([part.count for part in parts])
    scale = np.sqrt(counts @ np.array([part.scale**2 for part in parts]) / counts.sum())
    errors, pull = (
        sum((getattr(part, name) for part in parts[1:]), getattr(parts[0], name)) for name in ("errors", "pull")
    )
    return Data(factors, int(counts.sum()), scale, errors, pull)


def _remaining(data: Data, found: Fit, count: int) -> tuple[Array, Array]:
    """Return R and z of the squares |R x - z|^2 of the payload's parameters, the first `count` ones eliminated."""
    weighted = data.factors / found.noise[:, None, None]
    lengths = np.linalg.norm(weighted.reshape(-1, weighted.shape[-1])[:, :-1], axis=0)
    lengths[lengths == 0.0] = 1.0
    rows = np.linalg.pinv(lengths[:, None] * found.basis * found.gains) * lengths
    z = rows @ found.deviation
    U, s, _ = np.linalg.svd(rows[:, :count] / lengths[:count], full_matrices=False)
    U = U[:, s > 1e-9 * s[0]] if s.size else U[:, :0]
    left = np.column_stack([rows[:, count:], z])
    R = np.asarray(np.linalg.qr(left - U @ (U.T @ left), mode="r"))[:10]
    return R[:, :-1], R[:, -1]


def _ball(parameters: Array, determined: np.bool_) -> Array:
    """Return the parameters of a ball of water with the mass and center of these."""
    mass = float(parameters[0])
    if not determined or mass <= 0.0:
        found = f"found {mass:.3g} kg" if determined else "do not determine it"
        raise ThunderError(
            f"prior must be given, because the logs must show a positive mass of the payload, and {found}"
        )
    radius = (3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    ball = Payload(mass, parameters[1:4] / mass, 0.4 * mass * radius**2 * np.eye(3))
    return ball.parameters
