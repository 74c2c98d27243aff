"""D4.2, Figures 27 and 28 over the quantities that section 3.3.3 does not print."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...checks import Array
from ..mact.setup import ETA
from ..sweeps.several import chosen, declared
from ..sweeps.sweep import FreeParameter
from .landings import descent_of, hits, window
from .setup import BOX, CONTROLLERS, FARTHEST, GAMMA, OBJECTS, OPENING, PLANE, REPORT, SHARE, Setup, make_setup
from .throws import throws_of_seed

QUANTITIES = (
    FreeParameter("box", BOX, (0.1, 0.2, 0.3), "width of the box [m]", "unprinted"),
    FreeParameter("gamma", GAMMA, (0.1, 1.0, 3.0, 100.0), "gamma", "R_t also unprinted; 3 in the published code"),
    FreeParameter("friction", 0.0, (0.1, 0.36), "unknown friction [N m, N m s/rad]", "0.36 N m identified on average "
              "(Gaz et al., 2019); how much the model has is unprinted"),
    FreeParameter("eta", ETA, (1.0, 30.0, 300.0), "eta", "printed as a rule; 300 in the published code"),
    FreeParameter("noise", 1.0, (0.0, 3.0), "noise of the sensors / ours", "unprinted"),
    FreeParameter("share", SHARE, (0.7, 0.8), "target / farthest target", "target unprinted, out of reach"),
    FreeParameter("jitter", OPENING.jitter, (0.0, 0.01), "jitter of the hand's opening [s]", "unprinted"),
    FreeParameter("damping", 1.0, (1.5, 2.0), "damping ratio", "printed: critical or overdamped"),
)  # fmt: skip


@lru_cache(maxsize=16)
def _setup(share: float, damping: float) -> Setup:
    return make_setup((share * FARTHEST, 0.0, PLANE), damping=damping)


def throw_errors(*, draws: int = 5, **given: Any) -> dict[str, Array]:
    """Return miss and share in the box by controller, and the RMSE of the throwing motion under adaptation.

    Parameters
    ----------
    share, box, eta, gamma, friction, noise, jitter, damping
        See `QUANTITIES`.
    draws : int
        Number of throws of each object; results are means over the objects.
    """
    s = chosen(QUANTITIES, given)
    setup = replace(_setup(s.share, s.damping), eta=s.eta, gamma=s.gamma, friction=s.friction, noise=s.noise,
                    opening=replace(OPENING, jitter=s.jitter))  # fmt: skip
    rows = [throws_of_seed(setup, seed) for seed in range(draws)]
    descent = descent_of(setup.motion)
    windows = {name: window(size, s.box, descent) for name, (_, size) in OBJECTS.items()}
    found: dict[str, Array] = {}
    for law in CONTROLLERS:
        misses = np.array([[row[law, name][0] for name in OBJECTS] for row in rows])
        inside = [[hits(misses[k, [j]], part.inside) for j, part in enumerate(windows.values())] for k in range(draws)]
        found[f"{law}: miss [m]"] = np.sqrt(np.mean(np.sum(misses**2, axis=2), axis=1))
        found[f"{law}: share in the box"] = np.mean(inside, axis=(1, 2))
    for k, what in ((1, "position RMSE [m]"), (2, "velocity RMSE [m/s]")):
        errors = [[row["adaptive, low", name][k][-1] for name in OBJECTS] for row in rows]
        found[f"adaptive, low: {what}"] = np.mean(errors, axis=1)
    return found


_PRINTED = {
    "adaptive, low: position RMSE [m]": REPORT[0],
    "adaptive, low: velocity RMSE [m/s]": REPORT[1],
    **{f"{law}: share in the box": float(adaptive) for law, (_, adaptive) in CONTROLLERS.items()},
}
#: Figures 27 and 28 over `QUANTITIES`
sweep_throws = declared("D4.2, Figures 27 and 28: throws", throw_errors, QUANTITIES, _PRINTED, combined=10, draws=1)
