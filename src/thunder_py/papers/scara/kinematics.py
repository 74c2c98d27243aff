"""SCARA project, chapters 1 to 3: direct kinematics, ellipsoids, the planned path, closed-loop inverse kinematics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...kinematics import CLIK, CLIKResult, Manipulability
from ...reference import SetPose
from ...robot import Ellipsoid, Robot
from ...trajectory import Arc, Line, Orientation, Path, TimingLaw, cubic, trapezoidal
from ..results import drawing
from ..tables import markdown

#: rows of the geometric Jacobian for the motions of a SCARA: x, y, z and the angle about z
ROWS = (0, 1, 2, 5)
#: the report's three configurations [rad, m]
POSTURES: dict[str, Array] = {
    "q1": np.array([0.0, np.pi / 2, 0.0, 0.0]),
    "q2": np.array([np.pi / 4, np.pi / 4, 0.1, np.pi / 18]),
    "q3": np.array([0.0, np.radians(5.0), 0.0, 0.0]),
}
_PLANE = (0, 1)


def printed_direct_kinematics(q: npt.ArrayLike) -> Array:
    """Return the report's x_e = k(q): x, y, z [m] and the angle of the y axis of the end effector [rad], (..., 4)."""
    t1, t2, d3, t4 = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    x, y = (np.cos(t1 + t2) + np.cos(t1)) / 2, (np.sin(t1 + t2) + np.sin(t1)) / 2
    return np.stack([x, y, 0.5 - d3, t1 + t2 - t4], axis=-1)


def printed_jacobian(q: npt.ArrayLike) -> Array:
    """Return the Jacobian of section 1.2 without its rows of zeros, (..., 4, 4)."""
    t1, t2, *_ = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    J = np.zeros((*t1.shape, 4, 4))
    J[..., 0, 1], J[..., 1, 1] = -np.sin(t1 + t2) / 2, np.cos(t1 + t2) / 2
    J[..., 0, 0], J[..., 1, 0] = J[..., 0, 1] - np.sin(t1) / 2, J[..., 1, 1] + np.cos(t1) / 2
    J[..., 2, 2] = -1.0
    J[..., 3, :] = 1.0, 1.0, 0.0, -1.0
    return J


def inverse_kinematics(p: npt.ArrayLike, phi: float, *, elbow: int = 1) -> Array:
    """Return the joint positions for a position and angle of the end effector.

    Parameters
    ----------
    p : (3,) array_like
        Position [m].
    phi : float
        The report's angle, ``q1 + q2 - q4`` [rad].
    elbow : {1, -1}
        Sign of q2, positive in the report's configurations.

    Raises
    ------
    ValueError
        If `p` is out of reach.
    """
    x, y, z = (float(value) for value in np.asarray(p, dtype=np.float64))
    cosine = 2.0 * (x * x + y * y) - 1.0
    if not abs(cosine) <= 1.0:
        raise ThunderError(f"p must be within 1 m of the axis of the first joint, got {[x, y, z]}")
    t2 = float(np.copysign(np.arccos(cosine), elbow))
    t1 = float(np.arctan2(y, x)) - 0.5 * t2  # equal links: the arm is an isosceles triangle
    return np.array([t1, t2, 0.5 - z, t1 + t2 - phi])


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraKinematics:
    """Comparison of the arm with its printed kinematics.

    Attributes
    ----------
    robot : Robot
        The bundled SCARA.
    differences : dict of str to float
        Largest difference between printed formulae and the package, at random states.
    """

    robot: Robot
    differences: Mapping[str, float]

    def velocity(self, q: npt.ArrayLike) -> Ellipsoid:
        """Return the velocity ellipsoid in the horizontal plane [m/s for unit joint velocities]."""
        return self.robot.velocity_ellipsoid(q, rows=_PLANE)

    def force(self, q: npt.ArrayLike) -> Ellipsoid:
        """Return the force ellipsoid in the horizontal plane [N for unit joint torques]."""
        return self.robot.force_ellipsoid(q, rows=_PLANE)

    def table(self) -> str:
        """Return the checks and the ellipsoids, as Markdown."""
        checks = markdown(["printed formula", "largest difference"], self.differences.items(), 2)
        return f"{checks}\n\n{self.ellipsoids()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the largest differences from the printed formulae, and the ellipsoids in the three configurations."""
        names = ("q", "manipulability", "velocity_half_axes_m_s", "force_half_axes_N")
        postures = {name: dict(zip(names, (q, *self._sizes(q)), strict=True)) for name, q in POSTURES.items()}
        return {"largest_differences": self.differences, "postures": postures}

    def _sizes(self, q: Array) -> tuple[float, Array, Array]:
        return float(self.robot.manipulability(q, rows=ROWS)), self.velocity(q).lengths, self.force(q).lengths

    def ellipsoids(self) -> str:
        """Return manipulability and half axes in the report's configurations, as Markdown."""
        rows: list[list[object]] = []
        for name, q in POSTURES.items():
            w, *ellipsoids = self._sizes(q)
            axes = [f"{a:.3g}, {b:.3g}" for a, b in ellipsoids]
            rows.append([name, float(np.degrees(q[1])), abs(float(np.sin(q[1]))) / 4, w, *axes])
        header = ["", "theta_2 [deg]", "w, report", "w", "velocity: half axes [m/s]", "force: half axes [N]"]
        return markdown(header, rows, 4)

    plot = drawing("plot_postures")
    plot_workspace = drawing("plot_workspace")


def run_kinematics(samples: int = 200) -> ScaraKinematics:
    """Compare the report's formulae with the package, at random states."""
    robot = Robot.load("scara")
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (samples, robot.n))
    T, J = robot.forward_kinematics(q), robot.jacobian(q)[:, ROWS, :]
    k = printed_direct_kinematics(q)
    y_axis = np.stack([np.cos(k[:, 3]), np.sin(k[:, 3]), np.zeros(samples)], axis=-1)
    inverse = np.array(
        [inverse_kinematics(x[:3], x[3], elbow=int(np.sign(np.sin(s[1])))) for x, s in zip(k, q, strict=True)]
    )
    pairs = {
        "position": (T[:, :3, 3], k[:, :3]),
        "angle, as direction of the y axis": (T[:, :3, 1], y_axis),
        "Jacobian": (J, printed_jacobian(q)),
        "det J = sin(theta_2) / 4": (np.linalg.det(J), np.sin(q[:, 1]) / 4),
        "w = abs(sin(theta_2)) / 4": (robot.manipulability(q, rows=ROWS), np.abs(np.sin(q[:, 1])) / 4),
        "(inverse kinematics, not printed)": (robot.forward_kinematics(inverse), T),
    }
    return ScaraKinematics(
        robot=robot, differences={name: float(np.abs(a - b).max()) for name, (a, b) in pairs.items()}
    )


#: duration of the path [s]
DURATION = 20.0
#: center of the drawing in the plane of the sheet [m], and height of the sheet [m]
CENTER, SHEET = (0.42, 0.0), 0.20
#: scale of the drawing [m], and height of its start and end above the sheet [m]
SCALE, LIFT = 0.16, 0.06
#: fraction of each portion with acceleration, and fraction that overlaps with the next portion at a via point
BLEND, OVERLAP = 0.25, 0.25


class _Portion(NamedTuple):
    end: tuple[float, float]
    via: tuple[float, float] | None = None  # of an arc
    over_flown: bool = False
    lift: float = 0.0


#: the drawing: right and up, in units of its half width; up points away from the arm
_START = (-1.0, 0.0)
_PORTIONS = (
    _Portion((-1.0, 0.0)),  # down to the sheet
    _Portion((-1.0, 0.5)),
    _Portion((-1.0, 0.9), via=(-1.2, 0.7)),
    _Portion((-1.0, 1.3)),
    _Portion((1.0, 1.3), via=(0.0, 2.3)),  # the head
    _Portion((1.0, 0.9)),
    _Portion((1.0, 0.5), via=(1.2, 0.7)),
    _Portion((1.0, 0.0)),
    _Portion((2 / 3, 0.35), over_flown=True),  # the hem
    _Portion((1 / 3, 0.0), over_flown=True),
    _Portion((0.0, 0.35), over_flown=True),
    _Portion((-1 / 3, 0.0), over_flown=True),
    _Portion((-2 / 3, 0.35), over_flown=True),
    _Portion((-1.0, 0.0)),
    _Portion((-1.0, 0.0), lift=1.0),
)


def _place(point: tuple[float, float], lift: float = 0.0) -> Array:
    """Map the drawing to the world: right is -y, up is x."""
    right, up = point
    return np.array([CENTER[0] + SCALE * up, CENTER[1] - SCALE * right, SHEET + LIFT * lift])


#: key points, (16, 3) [m]
KEY_POINTS: Array = np.array([_place(_START, 1.0), *(_place(portion.end, portion.lift) for portion in _PORTIONS)])


def orientation_at_zero() -> Array:
    """Return the orientation of the end effector for ``q1 + q2 - q4 = 0``: y forward, z down (errata S-4)."""
    return np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])


def scara_path() -> Path:
    """Return the path of 20 s; durations of portions grow linearly with their lengths, with an offset."""
    law = trapezoidal(duration=1.0, blend=BLEND)
    weights = np.array([_segment(k, law).length + 0.05 for k in range(len(_PORTIONS))])
    early = np.array([OVERLAP * portion.over_flown for portion in _PORTIONS[:-1]])
    overlaps = early * np.minimum(weights[:-1], weights[1:])
    unit = DURATION / (weights.sum() - overlaps.sum())
    segments = [_segment(k, law.stretched(unit * weight)) for k, weight in enumerate(weights)]
    half = trapezoidal(duration=0.5 * DURATION, blend=BLEND)
    orientation = Orientation.about(orientation_at_zero(), [0, 0, 1], [0.0, math.pi, 0.5 * math.pi], half)
    return Path(segments, anticipation=unit * overlaps, orientation=orientation)


def _segment(k: int, law: TimingLaw) -> Line | Arc:
    start, end, via = KEY_POINTS[k], KEY_POINTS[k + 1], _PORTIONS[k].via
    return Line(start, end, law) if via is None else Arc(start, _place(via), end, law)


#: counts in the report; its task requires 11 points, 1 straight, 1 circular portion and 4 via points
PRINTED_COUNTS = {"key points": 16, "straight portions": 12, "circular portions": 3, "via points": 5}


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraPlanning:
    """The path and its parts.

    Attributes
    ----------
    path : Path
        Outline of a ghost.
    """

    path: Path

    def counts(self) -> dict[str, int]:
        """Return the counts of `PRINTED_COUNTS` for our path."""
        straight = sum(isinstance(segment, Line) for segment in self.path.segments)
        numbers = (len(self.path.key_points), straight, len(self.path.segments) - straight, self.path.over_flown.sum())
        return dict(zip(PRINTED_COUNTS, map(int, numbers), strict=True))

    def angle(self, t: Array) -> Array:
        """Return the report's angle of the end effector, that of its y axis, over time, unwrapped, (k,) [rad]."""
        R = self.path(t).R
        return np.asarray(np.unwrap(np.arctan2(R[:, 1, 1], R[:, 0, 1])))

    def index_ratio(self) -> float:
        """Return the `acceleration_index` of our trapezoids relative to the cubic, section 2's comparison of laws."""
        return acceleration_index(trapezoidal(duration=1.0, blend=BLEND)) / acceleration_index(cubic(1.0))

    def table(self) -> str:
        """Return the counts, distances from the first axis, times of the angle, largest speeds, as Markdown."""
        counts: list[list[object]] = [[name, PRINTED_COUNTS[name], number] for name, number in self.counts().items()]
        t = np.linspace(0.0, self.path.duration, 4001)
        states, angle = self.path(t), self.angle(t)
        reach = np.linalg.norm(states.p[:, :2], axis=1)
        turns = "0, pi, pi/2 at 0, 10, 20 s"
        ours = ", ".join(f"{angle[k] / np.pi:.2f} pi" for k in (0, 2000, 4000))
        rows: list[list[object]] = [
            *counts,
            ["angle", turns, ours],
            ["index, trapezoid / cubic", "worse, limited", self.index_ratio()],
            ["distance from the first axis [m]", "less than 1", f"{reach.min():.2f} to {reach.max():.2f}"],
            ["largest speed [m/s]", None, float(np.linalg.norm(states.xi[:, :3], axis=1).max())],
            ["largest acceleration [m/s2]", None, float(np.linalg.norm(states.xi_dot[:, :3], axis=1).max())],
        ]
        return markdown(["", "report", "ours"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report's counts and ours, and the duration and length of the path."""
        length = float(sum(segment.length for segment in self.path.segments))
        return {
            "report": PRINTED_COUNTS, "ours": self.counts(), "duration_s": self.path.duration, "length_m": length,
            "index_trapezoid_by_cubic": self.index_ratio(),
        }  # fmt: skip

    plot = drawing("plot_path")
    plot_profiles = drawing("plot_profiles")


def acceleration_index(law: TimingLaw) -> float:
    """Return the integral of the squared acceleration of a law over its duration, for unit length and duration [1].

    The cubic has the least among all laws from rest to rest, 12; a trapezoid with blends b has 2 / (b (1 - b)^2), 13.5
    for b = 1/3 and more for others.
    """
    t = law.duration * (np.arange(4000) + 0.5) / 4000
    return float(np.mean(np.square(law(t).dds)) * law.duration**4)


def run_planning() -> ScaraPlanning:
    """Return the path of `scara_path` with its counts."""
    return ScaraPlanning(path=scara_path())


PERIOD = 1e-3  # [s]
TASK = ("x", "y", "z", "rz")
RELAXED = ("y", "z", "rz")
#: printed gains, sections 3.1 to 3.4 [1/s], those of second order [1/s^2] and [1/s]
GAINS: dict[str, tuple[float, ...]] = {
    "inverse": (500.0, 500.0, 700.0, 2.0),
    "transpose": (2000.0, 1300.0, 400.0, 350.0),
    "pseudo-inverse": (1000.0, 1500.0, 5.0),
    "K_P": (1000.0, 1000.0, 2000.0, 1.0),
    "K_D": (10.0, 10.0, 50.0, 1.0),
}
K_0 = 10.0  # gain of the gradient of w
#: section 3.2: order of magnitude of the error
PRINTED_ORDER = {"inverse": 1e-5, "transpose": 1e-3}


class Scheme(NamedTuple):
    """Scheme of chapter 3 and its result.

    Attributes
    ----------
    clik : CLIK
        The law.
    result : CLIKResult
        Its motion along the path.
    """

    clik: CLIK
    result: CLIKResult

    def position_error(self) -> Array:
        """Return the norm of the position error in the rows of the task over time, (k,) [m]."""
        rows = [k for k, name in enumerate(self.result.rows) if name in "xyz"]
        return np.asarray(np.linalg.norm(self.result.error[:, rows], axis=1))

    def angle_error(self) -> Array:
        """Return the error of the angle over time, (k,) [rad]."""
        return self.result.error[:, self.result.rows.index("rz")]


def _clik(robot: Robot, gain: Any, rows: tuple[str, ...] = TASK, **options: Any) -> CLIK:
    return CLIK(robot, gain, rows=rows, orientation="rotation_vector", **options)


def schemes(robot: Robot) -> dict[str, CLIK]:
    """Return the report's schemes with the printed gains.

    The error of the angle is the angle itself (``rotation_vector``), for which the analytical Jacobian equals the
    geometric one, as in the report.
    """
    return {
        "inverse": _clik(robot, GAINS["inverse"], method="inverse"),
        "transpose": _clik(robot, GAINS["transpose"], method="transpose"),
        "pseudo-inverse": _clik(robot, GAINS["pseudo-inverse"], RELAXED),
        "pseudo-inverse, w": _clik(robot, GAINS["pseudo-inverse"], RELAXED, null_space=Manipulability(K_0)),
        "second order": _clik(robot, None, method="inverse", K_0=GAINS["K_P"], K_1=GAINS["K_D"]),
    }


def start(path: Path) -> Array:
    """Return the initial joint positions: at the start of the path, with the report's angle zero, (4,)."""
    return inverse_kinematics(path.key_points[0], 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraClik:
    """Results of the schemes along the path.

    Attributes
    ----------
    robot : Robot
        The arm.
    path : Path
        Path of the end effector.
    schemes : dict of str to Scheme
        By name; the objective of ``"pseudo-inverse, w"`` is the manipulability.
    """

    robot: Robot
    path: Path
    schemes: Mapping[str, Scheme]

    @property
    def t(self) -> Array:
        """Times of all schemes [s]."""
        return self.schemes["inverse"].result.t

    def table(self) -> str:
        """Return the errors with the report's orders of magnitude, and manipulability, as Markdown."""
        return f"{self.errors()}\n\n{self.dexterity()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report's orders of magnitude, and the largest errors of every scheme."""
        share = self.feedforward_share()
        return {"report_order_m": PRINTED_ORDER, "largest": self.largest(), "feedforward_share": share}

    def largest(self) -> dict[str, dict[str, float]]:
        """Return largest errors and velocities, and the least manipulability, of every scheme."""
        return {
            name: {
                "error_norm": float(scheme.result.error_norm().max()),
                "position_m": float(scheme.position_error().max()),
                "angle_rad": float(np.abs(scheme.angle_error()).max()),
                "joint_velocity_rad_s": float(np.abs(scheme.result.dq).max()),
                "manipulability": float(scheme.result.manipulability.min()),
            }
            for name, scheme in self.schemes.items()
        }

    def errors(self) -> str:
        """Return the largest errors of every scheme, as Markdown."""
        orders = {name: f"{order:.0e}" for name, order in PRINTED_ORDER.items()}
        rows = [[name, orders.get(name, ""), *list(found.values())[:4]] for name, found in self.largest().items()]
        header = ["largest", "error, report", "norm of e", "position [m]", "angle [rad]", "joint velocity [rad/s]"]
        return markdown(header, rows)

    def feedforward_share(self) -> float:
        """Return the fraction of the transpose's squared error that the missing feedforward explains over the path.

        Without feedforward the error settles where ``J J' K e`` is the commanded velocity.
        """
        result = self.schemes["transpose"].result
        J = self.robot.jacobian(result.q)[:, [0, 1, 2, 5], :]
        xi = self.path(result.t).xi[:, [0, 1, 2, 5]]
        expected = np.linalg.solve(J @ J.swapaxes(-1, -2) @ np.diag(GAINS["transpose"]), xi[..., None])[..., 0]
        return 1.0 - float(np.sum((result.error - expected) ** 2) / np.sum(result.error**2))

    def dexterity(self) -> str:
        """Return the manipulability of the relaxed task with and without the objective, as Markdown."""
        rows: list[list[object]] = []
        for name in ("pseudo-inverse", "pseudo-inverse, w"):
            w, x = self.schemes[name].result.manipulability, self.relaxed_error(name)
            rows.append([name, *(float(v) for v in (w.min(), w.mean(), w[-1])), float(np.abs(x).max())])
        return markdown(["relaxed x", "w: least", "mean", "at the end", "x leaves the path by [m]"], rows)

    def relaxed_error(self, name: str) -> Array:
        """Return x of the path less x of the arm over time, (k,) [m]."""
        result = self.schemes[name].result
        desired: Array = self.path(result.t).p[:, 0]
        return desired - self.robot.forward_kinematics(result.q)[:, 0, 3]

    plot = drawing("plot_errors")
    plot_velocities = drawing("plot_velocities")
    plot_dexterity = drawing("plot_dexterity")


def run_clik() -> ScaraClik:
    """Follow the path from its first point with every scheme of the report.

    Notes
    -----
    The report does not print its key points, durations or the integrator of its second-order scheme; see `scara_path`.
    """
    robot, path = Robot.load("scara"), scara_path()
    q0 = start(path)
    runs = {name: Scheme(law, law.follow(path, q0, path.duration, PERIOD)) for name, law in schemes(robot).items()}
    return ScaraClik(robot=robot, path=path, schemes=runs)


#: factor on the printed gains with which they are stable in every configuration
HALF = 0.5
#: a configuration in which the printed gains are stable
FOLDED = np.array([0.0, 2.4, 0.1, 0.0])
OFFSET = 0.01  # initial distance of each joint from the set point [rad, m]
TRANSPOSE_DURATION = 3.0  # duration of a run to a set point [s]


def stability_number(
    robot: Robot, q: npt.ArrayLike, K: npt.ArrayLike = GAINS["transpose"], dt: float = PERIOD
) -> Array:
    """Return dt times the largest eigenvalue of J J' K, (...,); Euler's rule is stable below 2.

    Parameters
    ----------
    robot : Robot
        The SCARA.
    q : (..., 4) array_like
        Joint positions [rad, m].
    K : (4,) array_like
        Diagonal gains, positive.
    dt : float
        Time step [s].

    Notes
    -----
    About a set point the error obeys ``e[k+1] = (I - dt J J' K) e[k]``.
    """
    root = np.sqrt(np.asarray(K, dtype=np.float64))
    J = root[:, None] * robot.jacobian(q)[..., ROWS, :]  # root J J' root has the eigenvalues of J J' K
    largest: Array = np.linalg.norm(J, 2, axis=(-2, -1)) ** 2
    return dt * largest


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraTranspose:
    """Runs with the Jacobian transpose.

    Attributes
    ----------
    robot : Robot
        The arm.
    set_points : dict of str to dict of str to CLIKResult
        Runs to set points by configuration, then by ``"printed"`` and ``"half"``.
    on_path : dict of str to CLIKResult
        Runs along the path by ``"printed"`` and ``"half"``.
    """

    robot: Robot
    set_points: Mapping[str, Mapping[str, CLIKResult]]
    on_path: Mapping[str, CLIKResult]

    def worst_on_path(self, gains: str = "printed") -> float:
        """Return the largest stability number along the path."""
        return _scale(gains) * float(stability_number(self.robot, self.on_path[gains].q).max())

    def worst_anywhere(self, gains: str = "printed") -> float:
        """Return the largest stability number over all configurations."""
        angles = np.linspace(0.0, np.pi, 73)
        t1, t2 = np.meshgrid(angles, angles)
        q = np.stack([t1, t2, 0.0 * t1, 0.0 * t1], axis=-1)
        return _scale(gains) * float(stability_number(self.robot, q).max())

    def table(self) -> str:
        """Return stability numbers and final errors, as Markdown."""
        numbers = list(self.to_dict().values())
        rows: list[list[object]] = []
        for name, q in _postures().items():
            rows.append(
                [name, float(np.degrees(q[1])), *(x for part in numbers for x in part["set_points"][name].values())]
            )
        rows.append(["path, worst", None, *(x for part in numbers for x in part["path"].values())])
        rows.append(["anywhere", None, *(x for part in numbers for x in (part["stability_number_anywhere"], None))])
        header = ["", "theta_2 [deg]", "K_tr: dt lambda_max", "norm of e", "K_tr / 2: dt lambda_max", "norm of e"]
        return markdown(header, rows)

    plot = drawing("plot_transpose")

    def to_dict(self) -> dict[str, Any]:
        """Return stability numbers and errors, by gains: ``"printed"`` and ``"half"``."""
        return {
            gains: {
                "set_points": {
                    name: {
                        "stability_number": _scale(gains) * float(stability_number(self.robot, _postures()[name])),
                        "final_error_norm": float(runs[gains].error_norm()[-1]),
                    }
                    for name, runs in self.set_points.items()
                },
                "path": {"stability_number": self.worst_on_path(gains), "error_norm": float(result.error_norm().max())},
                "stability_number_anywhere": self.worst_anywhere(gains),
            }
            for gains, result in self.on_path.items()
        }

    def map(self, x: Array, y: Array) -> Array:
        """Return the stability number with the tip at x, y, of the same shape, NaN out of reach."""
        reachable = np.hypot(x, y) < 1.0
        q = [inverse_kinematics([*point, 0.0], 0.0) for point in zip(x[reachable], y[reachable], strict=True)]
        number = np.full(x.shape, np.nan)
        number[reachable] = stability_number(self.robot, q)
        return number


def _scale(gains: str) -> float:
    return HALF if gains == "half" else 1.0


def _postures() -> dict[str, Array]:
    return {**POSTURES, "folded": FOLDED}


def run_transpose() -> ScaraTranspose:
    """Run the Jacobian transpose to the report's configurations and along the path, with the printed gains and half.

    Every run to a set point starts 0.01 from it in each joint [rad, m], close enough for the linearized error.
    """
    robot, path = Robot.load("scara"), scara_path()
    laws = {
        gains: _clik(robot, _scale(gains) * np.array(GAINS["transpose"]), method="transpose")
        for gains in ("printed", "half")
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the printed gains are unstable is a result
        set_points = {
            name: {
                gains: law.follow(SetPose(robot.forward_kinematics(q + OFFSET)), q, TRANSPOSE_DURATION, PERIOD)
                for gains, law in laws.items()
            }
            for name, q in _postures().items()
        }
    on_path = {gains: law.follow(path, start(path), path.duration, PERIOD) for gains, law in laws.items()}
    return ScaraTranspose(robot=robot, set_points=set_points, on_path=on_path)
