"""Synthetic recordings: seeded, in SI units, of several subjects; no download needed."""

from __future__ import annotations

from .drawing import power_law_curves
from .reaching import SigmaLognormal, daily_living, minimum_jerk_reaches, sigma_lognormal_reaches

__all__ = ["SigmaLognormal", "daily_living", "minimum_jerk_reaches", "power_law_curves", "sigma_lognormal_reaches"]
