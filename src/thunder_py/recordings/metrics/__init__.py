"""Metrics of motions: jerk over real time, smoothness, length and shape of paths, distances, the power law.

Each takes a `Trial`, a motion object (``position(t, derivative)`` and ``duration``: plans, `minimum_jerk`, rollouts),
or a tuple ``(t, x)``. docs/motion_metrics.md explains the numbers.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
