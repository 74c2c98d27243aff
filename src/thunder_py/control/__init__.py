"""Controllers: step functions with a status, the same in `simulate`, in a script and in a ROS node.

``controller.step(t, q, dq, reference)`` returns the torque, never raises on what a sensor may deliver and says in
``controller.status`` how it went. A controller has state, its estimate: simultaneous runs need one each.
"""

from .._core import Status
from .backstepping import Backstepping, BacksteppingTerms
from .slotine_li import SlotineLi

__all__ = ["Backstepping", "BacksteppingTerms", "SlotineLi", "Status"]
