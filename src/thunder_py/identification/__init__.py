"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from .convergence import AdaptationConvergence, adaptation_convergence
from .excitation import MotionLimits
from .identify import Identification, identify
from .least_squares import divergence
from .measures import Conditioning, PersistentExcitation, base_regressor_condition, persistent_excitation
from .optimize import Excitation, optimize_excitation
from .signals import Motion, differentiate, lowpass

__all__ = [
    "AdaptationConvergence",
    "Conditioning",
    "Excitation",
    "Identification",
    "Motion",
    "MotionLimits",
    "PersistentExcitation",
    "adaptation_convergence",
    "base_regressor_condition",
    "differentiate",
    "divergence",
    "identify",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
]
