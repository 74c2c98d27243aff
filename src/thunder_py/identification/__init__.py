"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from ..public import publish
from .correction import Correction
from .equations import Columns
from .excitation import Excitation, optimize_excitation
from .findings import find_correction
from .friction import FrictionColumns
from .identification import Identification
from .identify import identify
from .least_squares import divergence
from .log import Log
from .log_file import LogFile
from .measures import Conditioning, PersistentExcitation, base_regressor_condition, persistent_excitation
from .prediction import Prediction
from .readers.describe import Description
from .replay import Replay, replay
from .report.html import write_report
from .samples import Samples
from .sensors import SensorCalibration
from .signals import Motion, differentiate, lowpass
from .validation import CrossValidation, Difference, ModelComparison, compare_models, cross_validate

__all__ = [
    "Columns",
    "Conditioning",
    "Correction",
    "CrossValidation",
    "Description",
    "Difference",
    "Excitation",
    "FrictionColumns",
    "Identification",
    "Log",
    "LogFile",
    "ModelComparison",
    "Motion",
    "PersistentExcitation",
    "Prediction",
    "Replay",
    "Samples",
    "SensorCalibration",
    "base_regressor_condition",
    "compare_models",
    "cross_validate",
    "differentiate",
    "divergence",
    "find_correction",
    "identify",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
    "replay",
    "write_report",
]

publish(__name__)
