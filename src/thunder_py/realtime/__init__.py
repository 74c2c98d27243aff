"""Control loops in real time: components of middleware nodes, drives of real arms, limits and stops.

The components of nodes depend on no middleware. Time stamps are integer nanoseconds of one clock, as in messages;
durations are seconds. Invalid messages never raise: they are dropped, counted and reported (docs/ros.md). Drives are
adapters of published packages, in `drives`; they were tested with substitutes that have the published signatures, not
on a robot (docs/hardware.md).
"""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
