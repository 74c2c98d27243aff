"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from .convergence import AdaptationConvergence, adaptation_convergence
from .equations import Columns
from .excitation import MotionLimits
from .identification import Identification
from .identify import identify
from .least_squares import divergence
from .log import Log
from .log_file import LogFile
from .measures import Conditioning, PersistentExcitation, base_regressor_condition, persistent_excitation
from .optimize import Excitation, optimize_excitation
from .samples import Samples
from .signals import Motion, differentiate, lowpass

__all__ = [
    "AdaptationConvergence",
    "Columns",
    "Conditioning",
    "Excitation",
    "Identification",
    "Log",
    "LogFile",
    "Motion",
    "MotionLimits",
    "PersistentExcitation",
    "Samples",
    "adaptation_convergence",
    "base_regressor_condition",
    "differentiate",
    "divergence",
    "identify",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
]
