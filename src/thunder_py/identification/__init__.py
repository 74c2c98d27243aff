"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from ..public import publish
from .equations import Columns, FrictionColumns
from .excitation import (
    Conditioning,
    Excitation,
    PersistentExcitation,
    base_regressor_condition,
    optimize_excitation,
    persistent_excitation,
)
from .findings import find_correction
from .identification import Identification, Prediction
from .identify import identify
from .least_squares import divergence
from .log import Correction, Log, LogFile
from .readers import Description
from .replay import Replay, replay
from .report import write_report
from .samples import Samples, SensorCalibration
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
