"""A conveyor belt and the camera above it, with all that a camera does to a measurement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, numbers, positive, unit_axis
from ...errors import ThunderError
from ...perception.pose_source import finite, measurement_times, not_negative, probability
from ...values import Value, set_fields

__all__ = ["Belt", "BeltObject", "Camera", "Conveyor", "Feed", "Grasp", "GraspTolerance", "judge"]


@dataclass(frozen=True, eq=False)
class Belt(Value):
    """A belt before a robot, all in the world.

    Parameters
    ----------
    reference : (3,) array_like
        p_ref, where the grasping hand best meets an object [m].
    low, high : (3,) array_like
        Corners of the box that the hand is in from where it meets an object until it has closed [m]; p_ref lies inside.
        The arm has to reach all of it, and what leaving takes along the belt beyond.
    direction : (3,) array_like
        Of the belt's motion, a unit vector.
    offset : (3,) array_like
        From the measured point of an object to the frame of the hand that grasps it [m].
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
        """How far points (..., 3) are past p_ref along the belt [m]."""
        return np.asarray((np.asarray(p, dtype=float) - self.reference) @ np.asarray(self.direction))

    def _settings(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("reference", "low", "high", "direction", "offset")}


class Feed(NamedTuple):
    """Measurements of a run.

    Attributes
    ----------
    taken, available : (K,) array
        When pictures were taken, and when their results can be used [s].
    positions : (K, 3) array
        Measured [m].
    """

    taken: Array
    available: Array
    positions: Array


@dataclass(frozen=True)
class BeltObject:
    """An object on a belt; its position is that of the point that is measured.

    The belt's speed swings by a part `ripple`: v(t) = speed (1 + ripple sin(2 pi frequency t + phase)).

    Parameters
    ----------
    belt : Belt
        Where it lies.
    start : float
        Along the belt at time 0, past p_ref [m].
    lateral, height : float
        Where it lies aside of and above p_ref less the offset [m].
    speed : float
        [m/s].
    ripple, frequency, phase : float
        Of the speed [-], [Hz], [rad].
    change_time, change_speed : float
        From then on it moves with this speed instead [s], [m/s]: 0 stops it, a negative one turns it back.
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
        """Where it is at times (...): (..., 3) [m]."""
        t = np.asarray(t, dtype=float)
        after = np.maximum(t - self.change_time, 0.0)
        s = self._before(np.minimum(t, self.change_time)) + self.change_speed * after
        u = np.asarray(self.belt.direction)
        aside = np.cross((0.0, 0.0, 1.0), u)
        base = (
            np.asarray(self.belt.reference)
            - self.belt.offset
            + self.lateral * aside
            + self.height * np.array([0, 0, 1])
        )
        return np.asarray(base + s[..., None] * u)

    def velocity(self, t: npt.ArrayLike) -> Array:
        """How it moves at times (...): (..., 3) [m/s]."""
        t = np.asarray(t, dtype=float)
        swing = self.ripple * np.sin(2.0 * np.pi * self.frequency * t + self.phase)
        v = np.where(t < self.change_time, self.speed * (1.0 + swing), self.change_speed)
        return np.asarray(v[..., None] * np.asarray(self.belt.direction))


@dataclass(frozen=True)
class Conveyor:
    """How objects come along a belt, and how they differ.

    Parameters
    ----------
    speed : float
        Nominal [m/s]. The robot is not told.
    entry : float
        How far before p_ref objects enter the camera's view, at time 0 [m].
    speed_error : float
        Standard deviation of the mean speed, as a part of it.
    ripple, frequency : float
        Swing of the speed within a run, as a part of it, and its frequency [Hz].
    lateral, height : float
        Objects lie within plus and minus this of the belt's middle, and their measured points above and below [m].
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
            not_negative(getattr(self, name), name)

    @property
    def duration(self) -> float:
        """Of a run, from the entry into the view until well after the grasp [s]."""
        return 1.1 * self.entry / self.speed + 1.0

    def draw(self, belt: Belt, rng: np.random.Generator) -> BeltObject:
        """Return an object of a run."""
        speed = self.speed * max(1.0 + self.speed_error * rng.standard_normal(), 0.1)
        lateral, height = rng.uniform(-1.0, 1.0, 2) * (self.lateral, self.height)
        phase = rng.uniform(0.0, 2.0 * np.pi)
        return BeltObject(belt, -self.entry, speed, lateral, height, self.ripple, self.frequency, phase)

    def at(self, speed: float) -> Conveyor:
        """Return the same belt at another speed [m/s]."""
        return replace(self, speed=speed)


@dataclass(frozen=True)
class Camera:
    """A depth camera on a pole and the pipeline behind it: what comes of a position.

    The defaults are those of a RealSense D400 about 1 m away, chosen before any result: pictures at 30 Hz of which
    every second one is worked on, 80 to 110 ms from the exposure to the centroid, millimetres of noise on a centroid
    that is seen from one side, and calibration to some millimetres.

    Parameters
    ----------
    rate : float
        Results per second [Hz].
    latency, jitter : float
        From the picture to its result, and the longest further delay [s].
    dropout : float
        Part of the pictures without a result.
    noise : float
        Standard deviation of a position, per axis [m].
    bias : float
        Standard deviation per axis of an error of calibration, one and the same for a whole run [m].
    outliers, outlier_size : float
        Part of the results that are wrong, as where clusters are mixed up, and their standard deviation [m].
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
            not_negative(finite(getattr(self, name), name), name)
        for name in ("dropout", "outliers"):
            probability(getattr(self, name), name)

    def watch(self, target: BeltObject, duration: float, rng: np.random.Generator) -> Feed:
        """Return the measurements of an object over a time [s]; the first picture comes within a period."""
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
    """How well hand and object must go together while the hand closes.

    The defaults fit a hand that opens about 10 cm, from above, around a box of 5 cm: half of the play to each side, the
    fingers' depth, and what an object slides in the hand before the fingers hold it (0.08 m/s for a quarter of a second
    are 2 cm). They were set before any result.

    Parameters
    ----------
    horizontal, vertical : float
        Largest distances [m].
    speed : float
        Largest relative speed [m/s].
    """

    horizontal: float = 0.025
    vertical: float = 0.02
    speed: float = 0.08

    def __post_init__(self) -> None:
        """Check all."""
        for name in ("horizontal", "vertical", "speed"):
            positive(getattr(self, name), name)


class Grasp(NamedTuple):
    """How a grasp went.

    Attributes
    ----------
    success : bool
        All within tolerance, all the time.
    reason : str
        ``"grasped"``, or what was out of tolerance: ``"beside"``, ``"above or below"``, ``"sliding"``.
    along, horizontal, vertical, speed : float
        Mean lead of the hand over the object along its motion, largest horizontal and vertical distance [m], largest
        relative speed [m/s].
    """

    success: bool
    reason: str
    along: float
    horizontal: float
    vertical: float
    speed: float


def judge(
    t: npt.ArrayLike,
    hand: npt.ArrayLike,
    hand_velocity: npt.ArrayLike,
    target: BeltObject,
    tolerance: GraspTolerance | None = None,
) -> Grasp:
    """Compare hand and object while the hand closes.

    Parameters
    ----------
    t : (k,) array_like
        Times from the arrival to the end of the closing [s].
    hand, hand_velocity : (k, 3) array_like
        Of the frame that grasps [m], [m/s].
    target : BeltObject
        Where the object really is.
    tolerance : GraspTolerance, optional
        What is allowed.
    """
    allowed = GraspTolerance() if tolerance is None else tolerance
    times, p, v = numbers(t, "t", 1), numbers(hand, "hand", 2), numbers(hand_velocity, "hand_velocity", 2)
    if len(times) == 0 or p.shape != (len(times), 3) or v.shape != p.shape:
        raise ThunderError(f"hand and hand_velocity must have shape ({len(times)}, 3), got {p.shape} and {v.shape}")
    gap: Array = p - target.position(times) - np.asarray(target.belt.offset)
    slip = float(np.linalg.norm(v - target.velocity(times), axis=1).max())
    horizontal, vertical = float(np.hypot(gap[:, 0], gap[:, 1]).max()), float(np.abs(gap[:, 2]).max())
    along = float((gap @ np.asarray(target.belt.direction)).mean())
    reason = "grasped"
    if not slip <= allowed.speed:
        reason = "sliding"
    if not vertical <= allowed.vertical:
        reason = "above or below"
    if not horizontal <= allowed.horizontal:
        reason = "beside"
    return Grasp(reason == "grasped", reason, along, horizontal, vertical, slip)
