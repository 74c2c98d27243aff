"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from ..public import publish
from .convergence import AdaptationConvergence, adaptation_convergence
from .correction import Correction
from .equations import Columns
from .findings import find_correction
from .friction import FrictionColumns
from .identification import Identification
from .identify import identify
from .least_squares import divergence
from .log import Log
from .log_file import LogFile
from .measures import Conditioning, PersistentExcitation, base_regressor_condition, persistent_excitation
from .model import ModelIdentification, identify_model
from .optimize import Excitation, optimize_excitation
from .payload import PayloadIdentification, identify_payload
from .prediction import Errors, Prediction
from .readers.describe import Description
from .report.html import write_report
from .samples import Samples
from .sensors import SensorCalibration
from .signals import Motion, differentiate, lowpass
from .validation import CrossValidation, Difference, ModelComparison, compare_models, cross_validate

__all__ = [
    "AdaptationConvergence",
    "Columns",
    "Conditioning",
    "Correction",
    "CrossValidation",
    "Description",
    "Difference",
    "Errors",
    "Excitation",
    "FrictionColumns",
    "Identification",
    "Log",
    "LogFile",
    "ModelComparison",
    "ModelIdentification",
    "Motion",
    "PayloadIdentification",
    "PersistentExcitation",
    "Prediction",
    "Samples",
    "SensorCalibration",
    "adaptation_convergence",
    "base_regressor_condition",
    "compare_models",
    "cross_validate",
    "differentiate",
    "divergence",
    "find_correction",
    "identify",
    "identify_model",
    "identify_payload",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
    "write_report",
]

publish(__name__)
