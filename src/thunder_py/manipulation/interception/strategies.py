"""How a reach is corrected where it would miss (D4.2, section 6.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...motion.scalars import at_least
from ...perception.options import finite, not_negative

__all__ = ["SingleShot", "Strategy", "TimeAugmentation", "VariableStructure"]


@dataclass(frozen=True)
class SingleShot:
    """No replanning: the first plan is carried out, whatever is seen later."""

    def _settings(self) -> dict[str, float | str]:
        return {"strategy": "single shot"}


@dataclass(frozen=True)
class VariableStructure:
    """Fine corrections keep the time, coarse ones the place (Figure 35).

    Where the object will be within a region about p_ref at the planned time t_f, that time stays, and the goal becomes
    the object's place then. Where it will be outside, the goal goes back to p_ref, and t_f becomes the time of arrival
    there, (113).

    Parameters
    ----------
    behind, ahead : float
        How far the region reaches from p_ref against and along the motion of the belt [m]. The report draws it
        asymmetric, "to favour grasp conditions with a lead", and gives no numbers.
    """

    behind: float = 0.03
    ahead: float = 0.08

    def __post_init__(self) -> None:
        """Check both."""
        not_negative(self.behind, "behind", "m")
        not_negative(self.ahead, "ahead", "m")

    def _settings(self) -> dict[str, float | str]:
        return {"strategy": "variable structure", "behind": self.behind, "ahead": self.ahead}


@dataclass(frozen=True)
class TimeAugmentation:
    """Towards p_ref, with a time of arrival that is moved a little, (116) and (117).

    ::

        t_f    = t_OA + alpha (1 - tau) (p_o + lambda (f_new - f_old) + phi (y_object - y_hand))
        p(t_f) = p + v (t_f - t)

    tau is the part of the motion that is done, F/N; y is counted along the belt; f is the frequency at which estimates
    came in the last interval and in the one before. The report says of its four numbers that they were found by trial
    and error and prints none.

    Parameters
    ----------
    alpha : float
        Seconds for each metre in the bracket [s/m], 0 or more.
    p_o : float
        Lead (positive) or delay that stays [m].
    lam : float
        lambda, against sudden changes of the frequency [m/Hz].
    phi : float
        Lead in proportion to how far the hand is behind the object [-].
    """

    alpha: float = 0.5
    p_o: float = 0.02
    lam: float = 1e-3
    phi: float = 0.1

    def __post_init__(self) -> None:
        """Check all."""
        at_least(self.alpha, "alpha")
        for name in ("alpha", "p_o", "lam", "phi"):
            finite(getattr(self, name), name)

    def _settings(self) -> dict[str, float | str]:
        return {
            "strategy": "time augmentation",
            "scale": self.alpha,
            "lead": self.p_o,
            "rate": self.lam,
            "lag": self.phi,
        }


Strategy: TypeAlias = SingleShot | VariableStructure | TimeAugmentation

#: what the core wants of strategies that are not chosen
_OTHERS = {**VariableStructure()._settings(), **TimeAugmentation()._settings()}


def strategy_settings(strategy: Strategy) -> dict[str, float | str]:
    """Return a strategy's settings as the core reads them."""
    return {**_OTHERS, **strategy._settings()}
