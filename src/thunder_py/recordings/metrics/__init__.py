"""Metrics of motions: jerk over real time, smoothness, length and shape of paths, distances, the power law.

Each takes a `Trial`, a motion object (``position(t, derivative)`` and ``duration``: plans, `minimum_jerk`, rollouts),
or a tuple ``(t, x)``. docs/motion_metrics.md explains the numbers.
"""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
