"""When a hand lets go: late, and not always equally late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinds import at_least

__all__ = ["HandOpening"]


@dataclass(frozen=True, kw_only=True)
class HandOpening:
    """A hand that opens some time after it is told to.

    Parameters
    ----------
    delay : float
        From command to release [s].
    jitter : float
        Standard deviation of the delay [s].
    assumed : float, optional
        The delay that commands make up for [s]; default the true one.
    """

    delay: float = 0.0
    jitter: float = 0.0
    assumed: float | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        at_least(self.delay, "hand delay")
        at_least(self.jitter, "hand jitter")
        if self.assumed is not None:
            at_least(self.assumed, "hand assumed")

    def command_time(self, release: float) -> float:
        """Return when to command the opening so that the object leaves at `release` [s]."""
        return release - (self.delay if self.assumed is None else self.assumed)

    def release_time(self, command: float, rng: np.random.Generator | None = None) -> float:
        """Return when the object leaves after a command [s]; without a generator, without jitter."""
        late = 0.0 if rng is None or self.jitter == 0.0 else self.jitter * float(rng.standard_normal())
        return command + max(self.delay + late, 0.0)
