"""D4.2, Figures 27 and 28 over the quantities that section 3.3.3 does not print."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from ...checks import Array
from ...parallel import Workers
from ..mact.setup import ETA
from ..sweeps.sweep import Sweep, Unprinted, sweep
from .landings import descent_of, hits, window
from .setup import BOX, CONTROLLERS, FARTHEST, GAMMA, OBJECTS, OPENING, PLANE, REPORT, SHARE, Setup, make_setup
from .throws import throws_of_seed

QUANTITIES = (
    Unprinted("box", BOX, (0.1, 0.2, 0.3), "width of the box [m]", "unprinted"),
    Unprinted("gamma", GAMMA, (0.1, 1.0, 3.0, 100.0), "gamma", "R_t also unprinted; 3 in the published code"),
    Unprinted("friction", 0.0, (0.1, 0.36), "unknown friction [N m, N m s/rad]", "0.36 N m identified on average "
              "(Gaz et al., 2019); how much the model has is unprinted"),
    Unprinted("eta", ETA, (1.0, 30.0, 300.0), "eta", "printed as a rule; 300 in the published code"),
    Unprinted("noise", 1.0, (0.0, 3.0), "noise of the sensors / ours", "unprinted"),
    Unprinted("share", SHARE, (0.7, 0.8), "target / farthest target", "target unprinted, out of reach"),
    Unprinted("jitter", OPENING.jitter, (0.0, 0.01), "jitter of the hand's opening [s]", "unprinted"),
    Unprinted("damping", 1.0, (1.5, 2.0), "damping ratio", "printed: critical or overdamped"),
)  # fmt: skip


@lru_cache(maxsize=16)
def _setup(share: float, damping: float) -> Setup:
    return make_setup((share * FARTHEST, 0.0, PLANE), damping=damping)


def throw_errors(
    *,
    share: float = SHARE, box: float = BOX, eta: float = ETA, gamma: float = GAMMA, friction: float = 0.0,
    noise: float = 1.0, jitter: float = OPENING.jitter, damping: float = 1.0, draws: int = 5,
) -> dict[str, Array]:  # fmt: skip
    """Return miss and share in the box by controller, and the RMSE of the throwing motion under adaptation.

    Parameters
    ----------
    share, box, eta, gamma, friction, noise, jitter, damping
        See `QUANTITIES`.
    draws : int
        Number of throws of each object; results are means over the objects.
    """
    setup = replace(_setup(share, damping), eta=eta, gamma=gamma, friction=friction, noise=noise,
                    opening=replace(OPENING, jitter=jitter))  # fmt: skip
    rows = [throws_of_seed(setup, seed) for seed in range(draws)]
    descent = descent_of(setup.motion)
    windows = {name: window(size, box, descent) for name, (_, size) in OBJECTS.items()}
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


def sweep_throws(quick: bool = False, workers: Workers = 1) -> Sweep:
    """Sweep Figures 27 and 28 over `QUANTITIES`; `quick` throws once, over the first three quantities."""
    printed = {
        "adaptive, low: position RMSE [m]": REPORT[0],
        "adaptive, low: velocity RMSE [m/s]": REPORT[1],
        **{f"{law}: share in the box": 1.0 if adaptive else 0.0 for law, (_, adaptive) in CONTROLLERS.items()},
    }
    function = partial(throw_errors, draws=1) if quick else throw_errors
    title = "D4.2, Figures 27 and 28: throws"
    return sweep(
        title, function, QUANTITIES[:3] if quick else QUANTITIES, printed, combined=0 if quick else 10, workers=workers
    )
