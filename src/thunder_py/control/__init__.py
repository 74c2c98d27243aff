"""Controllers: step functions with a status, for `simulate`, scripts and ROS nodes.

``controller.step(t, q, dq, reference)`` returns the torque and sets ``controller.status``; laws of elastic joints also
take the motors' x and dx. Invalid measurements set the status instead of raising. A controller has state, such as its
estimate: each simultaneous run needs its own.
"""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
