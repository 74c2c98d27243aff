"""Throwing (D4.2, section 3.3.3): flight, choice of the release, motion to it and out of it, learning, throw."""

from .ballistics import GRAVITY, Landing, flight_range, landing, release_velocity
from .drag import Flight, drag_coefficient, fly, landing_with_drag, release_velocity_with_drag
from .find_release import find_release, find_releases
from .hand import HandOpening
from .motion import ThrowMotion
from .plan import motion_through, plan_throw
from .release import Palm, Release, ReleaseNoise, release_at
from .sensitivity import LandingSensitivity, landing_sensitivity
from .thrown import Thrown, throw

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
    "Thrown",
    "drag_coefficient",
    "find_release",
    "find_releases",
    "flight_range",
    "fly",
    "landing",
    "landing_sensitivity",
    "landing_with_drag",
    "motion_through",
    "plan_throw",
    "release_at",
    "release_velocity",
    "release_velocity_with_drag",
    "throw",
]
