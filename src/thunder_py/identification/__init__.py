"""Excitation measures, exciting motions, and identification of parameters from logged data."""

from .convergence import AdaptationConvergence, adaptation_convergence
from .excitation import MotionLimits
from .friction import FrictionModel, FrictionPlant
from .identify import Identification, identify
from .least_squares import divergence
from .measures import Conditioning, PersistentExcitation, base_regressor_condition, persistent_excitation
from .model import ModelIdentification, identify_model
from .optimize import Excitation, optimize_excitation
from .payload import PayloadIdentification, identify_payload
from .sensors import SensorCalibration
from .signals import Motion, differentiate, lowpass

__all__ = [
    "AdaptationConvergence",
    "Conditioning",
    "Excitation",
    "FrictionModel",
    "FrictionPlant",
    "Identification",
    "ModelIdentification",
    "Motion",
    "MotionLimits",
    "PayloadIdentification",
    "PersistentExcitation",
    "SensorCalibration",
    "adaptation_convergence",
    "base_regressor_condition",
    "differentiate",
    "divergence",
    "identify",
    "identify_model",
    "identify_payload",
    "lowpass",
    "optimize_excitation",
    "persistent_excitation",
]
