"""Controllers: step functions with a status, for `simulate`, scripts and ROS nodes.

``controller.step(t, q, dq, reference)`` returns the torque and sets ``controller.status``; laws of elastic joints also
take the motors' x and dx. Invalid measurements set the status instead of raising. A controller has state, such as its
estimate: each simultaneous run needs its own.
"""

from .._core import Status
from ..public import publish
from ..sampled_loop import stable_rate
from .act import ACT
from .adaptation import GradientAdaptation, NaturalAdaptation, link_gains
from .adaptive_jacobian import AdaptiveJacobianBackstepping, AdaptiveJacobianTerms, ExactPosition
from .backstepping import Backstepping, BacksteppingTerms
from .cartesian_computed_torque import CartesianComputedTorque, arm_points
from .cartesian_mact import CartesianMACT
from .composite_control import CompositeControl
from .computed_torque import ComputedTorque
from .contact import ContactDetector, contact_thresholds
from .elastic_feedback_linearization import ElasticFeedbackLinearization
from .elastic_slotine_li import ElasticSlotineLi
from .estimation import (
    ButterworthDerivative,
    DerivativeEstimator,
    Derivatives,
    FirstOrderDerivative,
    SavitzkyGolayDerivative,
)
from .external_torque import EnergyObserver, MomentumObserver
from .impedance import Impedance
from .independent_joint import IndependentJoint
from .length_adaptation import LengthAdaptation
from .mact import MACT
from .motor import DCMotor
from .motor_pd import MotorPD
from .operational_space import OperationalSpace
from .passivity_based import PassivityBased
from .pd_gravity import PDGravity
from .robust_unit_vector import RobustUnitVector
from .slotine_li import SlotineLi
from .tuning import Tuning, tune

__all__ = [
    "ACT",
    "MACT",
    "AdaptiveJacobianBackstepping",
    "AdaptiveJacobianTerms",
    "Backstepping",
    "BacksteppingTerms",
    "ButterworthDerivative",
    "CartesianComputedTorque",
    "CartesianMACT",
    "CompositeControl",
    "ComputedTorque",
    "ContactDetector",
    "DCMotor",
    "DerivativeEstimator",
    "Derivatives",
    "ElasticFeedbackLinearization",
    "ElasticSlotineLi",
    "EnergyObserver",
    "ExactPosition",
    "FirstOrderDerivative",
    "GradientAdaptation",
    "Impedance",
    "IndependentJoint",
    "LengthAdaptation",
    "MomentumObserver",
    "MotorPD",
    "NaturalAdaptation",
    "OperationalSpace",
    "PDGravity",
    "PassivityBased",
    "RobustUnitVector",
    "SavitzkyGolayDerivative",
    "SlotineLi",
    "Status",
    "Tuning",
    "arm_points",
    "contact_thresholds",
    "link_gains",
    "stable_rate",
    "tune",
]

publish(__name__)
