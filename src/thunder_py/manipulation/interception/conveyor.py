"""A simulated conveyor belt and the camera above it, with latency, noise, calibration error and outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, nonnegative, numbers, positive, unit_axis, within
from ...errors import ThunderError
from ...perception.pose_source import measurement_times
from ...values import StrEnum, Value, set_fields


@dataclass(frozen=True, eq=False)
class Belt(Value):
    """A conveyor belt in front of a robot, in world coordinates.

    Parameters
    ----------
    reference : (3,) array_like
        p_ref, the preferred meeting point of hand and object [m].
    low, high : (3,) array_like
        Corners of the box that contains the hand from the meeting point until it has closed [m]; p_ref lies inside.
        The arm must reach the whole box, and the distance along the belt that leaving takes beyond it.
    direction : (3,) array_like
        Direction of the belt's motion, a unit vector.
    offset : (3,) array_like
        Vector from the measured point of an object to the frame of the hand that grasps it [m].

    Raises
    ------
    ThunderError
        If an array has the wrong shape, or `reference` is not between `low` and `high`.

    Examples
    --------
    >>> from thunder_py.manipulation import Belt
    >>> belt = Belt(reference=(0.5, 0.0, 0.25), low=(0.4, -0.25, 0.15), high=(0.6, 0.3, 0.35))
    >>> float(belt.along([0.45, -0.1, 0.2]))
    -0.1
    """

    reference: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike
    direction: npt.ArrayLike = (0.0, 1.0, 0.0)
    offset: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("reference", "low", "high", "offset"):
            set_fields(self, **{name: array(getattr(self, name), (3,), f"belt {name}")})
        set_fields(self, direction=unit_axis(self.direction, "belt direction"))
        p, low, high = (np.asarray(x) for x in (self.reference, self.low, self.high))
        if not ((low < p) & (p < high)).all():
            raise ThunderError(f"belt reference must lie between low and high, got {p.tolist()}")

    def along(self, p: npt.ArrayLike) -> Array:
        """Return the coordinate of points (..., 3) along the belt, zero at p_ref [m]."""
        return np.asarray((np.asarray(p, dtype=float) - self.reference) @ np.asarray(self.direction))

    def _settings(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("reference", "low", "high", "direction", "offset")}


class Feed(NamedTuple):
    """Measurements of a run.

    Attributes
    ----------
    taken, available : (K,) array
        Times of the pictures, and times from which their results can be used [s].
    positions : (K, 3) array
        Measured positions [m].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import Feed
    >>> feed = Feed(taken=np.array([0.0, 0.1]), available=np.array([0.08, 0.18]), positions=np.zeros((2, 3)))
    >>> (feed.available - feed.taken).round(2).tolist()
    [0.08, 0.08]
    """

    taken: Array
    available: Array
    positions: Array


@dataclass(frozen=True)
class BeltObject:
    """An object on a belt; its position is that of the measured point.

    The speed oscillates: v(t) = speed (1 + ripple sin(2 pi frequency t + phase)).

    Parameters
    ----------
    belt : Belt
        The belt that carries it.
    start : float
        Coordinate along the belt at time 0, zero at p_ref [m].
    lateral, height : float
        Lateral and vertical distance from p_ref less the offset [m].
    speed : float
        Mean speed [m/s].
    ripple, frequency, phase : float
        Relative amplitude [-], frequency [Hz] and phase [rad] of the oscillation of the speed.
    change_time, change_speed : float
        Time of a change of speed [s] and the speed after it [m/s]: 0 stops the object, a negative one reverses it.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Belt, BeltObject
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35))
    >>> target = BeltObject(belt, start=-0.5, speed=0.2, change_time=2.0)  # stops at 2 s
    >>> target.position([0.0, 1.0, 3.0]).round(3).tolist()
    [[0.5, -0.5, 0.25], [0.5, -0.3, 0.25], [0.5, -0.1, 0.25]]
    >>> target.velocity([1.0, 3.0])[:, 1].tolist()
    [0.2, 0.0]
    """

    belt: Belt
    start: float
    speed: float
    lateral: float = 0.0
    height: float = 0.0
    ripple: float = 0.0
    frequency: float = 1.5
    phase: float = 0.0
    change_time: float = np.inf
    change_speed: float = 0.0

    def _before(self, t: Array) -> Array:
        w = 2.0 * np.pi * self.frequency
        swing = self.ripple / w * (np.cos(self.phase) - np.cos(w * t + self.phase))
        return np.asarray(self.start + self.speed * (t + swing))

    def position(self, t: npt.ArrayLike) -> Array:
        """Return the positions (..., 3) at times (...) [m]."""
        t = np.asarray(t, dtype=float)
        after = np.maximum(t - self.change_time, 0.0)
        s = self._before(np.minimum(t, self.change_time)) + self.change_speed * after
        u = np.asarray(self.belt.direction)
        aside = self.lateral * np.cross((0.0, 0.0, 1.0), u) + np.array([0.0, 0.0, self.height])
        return np.asarray(np.asarray(self.belt.reference) - self.belt.offset + aside + s[..., None] * u)

    def velocity(self, t: npt.ArrayLike) -> Array:
        """Return the velocities (..., 3) at times (...) [m/s]."""
        t = np.asarray(t, dtype=float)
        swing = self.ripple * np.sin(2.0 * np.pi * self.frequency * t + self.phase)
        v = np.where(t < self.change_time, self.speed * (1.0 + swing), self.change_speed)
        return np.asarray(v[..., None] * np.asarray(self.belt.direction))


@dataclass(frozen=True)
class Conveyor:
    """Distribution of the objects on a belt.

    Parameters
    ----------
    speed : float
        Nominal speed, unknown to the robot [m/s].
    entry : float
        Distance before p_ref at which objects enter the camera's view, at time 0 [m].
    speed_error : float
        Standard deviation of the mean speed, relative to it.
    ripple, frequency : float
        Oscillation of the speed within a run, relative to it, and its frequency [Hz].
    lateral, height : float
        Objects lie within plus and minus these of the belt's middle line, laterally and vertically [m].

    Raises
    ------
    ThunderError
        If a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import Belt, Conveyor
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35))
    >>> fast = Conveyor(speed_error=0.0, ripple=0.0).at(0.38)
    >>> target = fast.draw(belt, np.random.default_rng(0))
    >>> target.speed, target.start, round(fast.duration, 2)
    (0.38, -0.55, 2.59)
    """

    speed: float = 0.26
    entry: float = 0.55
    speed_error: float = 0.03
    ripple: float = 0.03
    frequency: float = 1.5
    lateral: float = 0.03
    height: float = 0.01

    def __post_init__(self) -> None:
        """Check everything."""
        positive(self.speed, "speed", "m/s")
        positive(self.entry, "entry", "m")
        positive(self.frequency, "frequency", "Hz")
        for name in ("speed_error", "ripple", "lateral", "height"):
            nonnegative(getattr(self, name), name)

    @property
    def duration(self) -> float:
        """Duration of a run, from the entry into the view until after the grasp [s]."""
        return 1.1 * self.entry / self.speed + 1.0

    def draw(self, belt: Belt, rng: np.random.Generator) -> BeltObject:
        """Draw the object of a run."""
        speed = self.speed * max(1.0 + self.speed_error * rng.standard_normal(), 0.1)
        lateral, height = rng.uniform(-1.0, 1.0, 2) * (self.lateral, self.height)
        phase = rng.uniform(0.0, 2.0 * np.pi)
        return BeltObject(belt, -self.entry, speed, lateral, height, self.ripple, self.frequency, phase)

    def at(self, speed: float) -> Conveyor:
        """Return the same distribution at another nominal speed [m/s]."""
        return replace(self, speed=speed)


@dataclass(frozen=True)
class MeasurementModel:
    """A depth camera on a pole and its processing pipeline, as a model of position measurements.

    The defaults are those of a RealSense D400 about 1 m away, chosen before any result: pictures at 30 Hz of which
    every second one is processed, 80 to 110 ms from the exposure to the centroid, millimeters of noise on a centroid
    seen from one side, and calibration to some millimeters.

    Parameters
    ----------
    rate : float
        Results per second [Hz].
    latency, jitter : float
        Delay from the picture to its result, and the largest additional delay [s].
    dropout : float
        Fraction of the pictures without a result.
    noise : float
        Standard deviation of a position, per axis [m].
    bias : float
        Standard deviation per axis of the calibration error, which is constant within a run [m].
    outliers, outlier_size : float
        Fraction of outliers among the results, from confused clusters for example, and their standard deviation [m].

    Raises
    ------
    ThunderError
        If a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import Belt, BeltObject, MeasurementModel
    >>> target = BeltObject(Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35)), start=-0.5, speed=0.2)
    >>> feed = MeasurementModel(jitter=0.0, dropout=0.0, outliers=0.0).watch(target, 2.0, np.random.default_rng(0))
    >>> bool(np.abs(feed.positions - target.position(feed.taken)).max() < 0.03)
    True
    >>> feed.positions.shape, round(float((feed.available - feed.taken)[0]), 3)
    ((31, 3), 0.08)
    """

    rate: float = 15.0
    latency: float = 0.08
    jitter: float = 0.03
    dropout: float = 0.05
    noise: float = 0.004
    bias: float = 0.003
    outliers: float = 0.01
    outlier_size: float = 0.06

    def __post_init__(self) -> None:
        """Check everything."""
        positive(self.rate, "rate", "Hz")
        for name in ("latency", "jitter", "noise", "bias", "outlier_size"):
            nonnegative(finite(getattr(self, name), name), name)
        for name in ("dropout", "outliers"):
            within(getattr(self, name), name, 0.0, 1.0)

    def watch(self, target: BeltObject, duration: float, rng: np.random.Generator) -> Feed:
        """Return the measurements of an object over a duration [s]; the first picture is taken within a period."""
        taken, available = measurement_times(
            duration, self.rate, latency=self.latency, jitter=self.jitter, dropout=self.dropout, rng=rng
        )
        first = rng.uniform(0.0, 1.0 / self.rate)
        taken, available = taken + first, available + first
        p = target.position(taken) + self.bias * rng.standard_normal(3)
        p += self.noise * rng.standard_normal(p.shape)
        wrong = rng.random(len(p)) < self.outliers
        p += np.where(wrong, self.outlier_size, 0.0)[:, None] * rng.standard_normal(p.shape)
        return Feed(taken, available, p)


@dataclass(frozen=True)
class GraspTolerance:
    """Largest admissible distances and relative speed of hand and object while the hand closes.

    The defaults fit a hand that opens about 10 cm, from above, around a box of 5 cm: half of the play to each side, the
    fingers' depth, and the sliding of an object before the fingers hold it (0.08 m/s for a quarter of a second
    are 2 cm). They were set before any result.

    Parameters
    ----------
    horizontal, vertical : float
        Largest distances [m].
    speed : float
        Largest relative speed [m/s].

    Raises
    ------
    ThunderError
        If a number is not positive.

    Examples
    --------
    >>> from thunder_py.manipulation import GraspTolerance
    >>> GraspTolerance(horizontal=0.01).vertical
    0.02
    """

    horizontal: float = 0.025
    vertical: float = 0.02
    speed: float = 0.08

    def __post_init__(self) -> None:
        """Check all."""
        for name in ("horizontal", "vertical", "speed"):
            positive(getattr(self, name), name)


class GraspOutcome(StrEnum):
    """Outcome of a grasp: success, the quantity out of tolerance, or that the hand has not closed yet.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import GraspOutcome
    >>> [outcome.value for outcome in GraspOutcome]
    ['grasped', 'beside', 'above or below', 'sliding', 'still on its way']
    """

    grasped = "grasped"
    beside = "beside"
    above_or_below = "above or below"
    sliding = "sliding"
    pending = "still on its way"


class Grasp(NamedTuple):
    """Result of a grasp.

    Attributes
    ----------
    success : bool
        Whether all quantities were within tolerance at all times.
    reason : GraspOutcome
        Success, or the quantity out of tolerance.
    along, horizontal, vertical, speed : float
        Mean lead of the hand over the object along its motion, largest horizontal and vertical distance [m], largest
        relative speed [m/s].

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Grasp, GraspOutcome
    >>> grasp = Grasp(False, GraspOutcome.sliding, along=0.002, horizontal=0.01, vertical=0.003, speed=0.12)
    >>> grasp.success, grasp.reason.value
    (False, 'sliding')
    """

    success: bool
    reason: GraspOutcome
    along: float
    horizontal: float
    vertical: float
    speed: float


def evaluate_grasp(
    t: npt.ArrayLike,
    hand: npt.ArrayLike,
    hand_velocity: npt.ArrayLike,
    target: BeltObject,
    tolerance: GraspTolerance | None = None,
) -> Grasp:
    """Compare the motions of hand and object while the hand closes.

    Parameters
    ----------
    t : (k,) array_like
        Times from the arrival to the end of the closing [s].
    hand, hand_velocity : (k, 3) array_like
        Position [m] and velocity [m/s] of the grasping frame.
    target : BeltObject
        True motion of the object.
    tolerance : GraspTolerance, optional
        Admissible differences.

    Returns
    -------
    Grasp

    Raises
    ------
    ThunderError
        If the arrays have the wrong shape or are empty.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import Belt, BeltObject, evaluate_grasp
    >>> target = BeltObject(Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35)), start=-0.2, speed=0.2)
    >>> t = np.linspace(1.0, 1.25, 26)
    >>> evaluate_grasp(t, target.position(t) + [0.0, 0.01, 0.0], target.velocity(t), target).reason.value
    'grasped'
    >>> evaluate_grasp(t, np.tile([0.5, 0.0, 0.25], (26, 1)), np.zeros((26, 3)), target).reason.value  # a hand at rest
    'beside'
    """
    allowed = GraspTolerance() if tolerance is None else tolerance
    times, p, v = numbers(t, "t", 1), numbers(hand, "hand", 2), numbers(hand_velocity, "hand_velocity", 2)
    if len(times) == 0 or p.shape != (len(times), 3) or v.shape != p.shape:
        raise ThunderError(f"hand and hand_velocity must have shape ({len(times)}, 3), got {p.shape} and {v.shape}")
    gap: Array = p - target.position(times) - np.asarray(target.belt.offset)
    slip = float(np.linalg.norm(v - target.velocity(times), axis=1).max())
    horizontal, vertical = float(np.hypot(gap[:, 0], gap[:, 1]).max()), float(np.abs(gap[:, 2]).max())
    along = float((gap @ np.asarray(target.belt.direction)).mean())
    fine = {
        GraspOutcome.beside: horizontal <= allowed.horizontal,
        GraspOutcome.above_or_below: vertical <= allowed.vertical,
        GraspOutcome.sliding: slip <= allowed.speed,
    }
    reason = next((outcome for outcome, met in fine.items() if not met), GraspOutcome.grasped)
    return Grasp(reason is GraspOutcome.grasped, reason, along, horizontal, vertical, slip)
