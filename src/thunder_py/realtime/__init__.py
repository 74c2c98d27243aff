"""Controllers, references and a simulated arm in real time, behind messages: what a node of a middleware is made of.

Nothing here knows a middleware. Time stamps are whole nanoseconds of one clock, as messages carry them; durations are
seconds. What a message brings is never an exception: it is dropped, counted and reported (docs/ros.md).
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
