"""Throwing (D4.2, section 3.3.3): flight, choice of the release, throwing motion, throw in simulation."""

from .flight import (
    GRAVITY,
    Flight,
    Landing,
    drag_coefficient,
    flight_range,
    landing,
    landing_with_drag,
    release_velocity,
    release_velocity_with_drag,
    simulate_flight,
)
from .motion import ThrowMotion
from .plan import motion_through, plan_throw
from .release import Palm, Release, ReleaseNoise, find_release, find_releases, release_at
from .thrown import HandOpening, LandingSensitivity, ThrowResult, landing_sensitivity, throw

__all__ = [
    "GRAVITY",
    "Flight",
    "HandOpening",
    "Landing",
    "LandingSensitivity",
    "Palm",
    "Release",
    "ReleaseNoise",
    "ThrowMotion",
    "ThrowResult",
    "drag_coefficient",
    "find_release",
    "find_releases",
    "flight_range",
    "landing",
    "landing_sensitivity",
    "landing_with_drag",
    "motion_through",
    "plan_throw",
    "release_at",
    "release_velocity",
    "release_velocity_with_drag",
    "simulate_flight",
    "throw",
]
