"""Invented recordings, so that everything runs without any download: seeded, in SI units, of several subjects."""

from __future__ import annotations

from .daily_living import daily_living
from .drawing import power_law_curves
from .reaches import minimum_jerk_reaches
from .sigma_lognormal import SigmaLognormal, sigma_lognormal_reaches

__all__ = ["SigmaLognormal", "daily_living", "minimum_jerk_reaches", "power_law_curves", "sigma_lognormal_reaches"]
