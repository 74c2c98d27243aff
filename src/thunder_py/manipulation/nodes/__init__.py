"""Nodes of manipulation for ROS 1 and ROS 2 (docs/ros.md): simulated camera, poses, interception, picking, throwing."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
