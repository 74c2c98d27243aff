"""Controllers, references and a simulated arm in real time, driven by messages, as components of middleware nodes.

The package depends on no middleware. Time stamps are integer nanoseconds of one clock, as in messages; durations are
seconds. Invalid messages never raise: they are dropped, counted and reported (docs/ros.md).
"""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
