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
from .prediction import Errors, Prediction
from .samples import Samples
from .signals import Motion, differentiate, lowpass
from .validation import CrossValidation, Difference, ModelComparison, compare_models, cross_validate

__all__ = [
    "AdaptationConvergence",
    "Columns",
    "Conditioning",
    "CrossValidation",
    "Difference",
    "Errors",
    "Excitation",
    "Identification",
    "Log",
    "LogFile",
    "ModelComparison",
    "Motion",
    "MotionLimits",
    "PersistentExcitation",
    "Prediction",
    "Samples",
    "adaptation_convergence",
    "base_regressor_condition",
    "compare_models",
    "cross_validate",
    "differentiate",
    "divergence",
    "identify",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
]
