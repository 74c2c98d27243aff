"""The three nodes of docs/ros.md without a middleware: topics, services and periods, the same for ROS 1 and ROS 2.

Messages of both have the same names and fields except for times. Nodes receive the classes and the conversion of times
from a `Middleware` and import nothing of ROS. The adapters are in examples/ros.
"""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
