"""Robot models: the description, inertial parameters, elastic joints, payloads, workspaces and the class `Robot`."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
