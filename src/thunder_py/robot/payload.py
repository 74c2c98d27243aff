"""Payloads of a simulated plant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, known_name, nonnegative, whole
from ..errors import ThunderError
from ..model import inertia
from ..values import Value, set_fields
from .robot import Robot


@dataclass(frozen=True, eq=False)
class Payload(Value):
    """Describe a rigid body fixed to a link of the plant from a given time; it is unknown to the controller.

    Parameters
    ----------
    mass : float
        Mass [kg].
    com : (3,) array_like
        Center of mass in the link frame [m].
    inertia : (3, 3) array_like, optional
        Inertia about the center of mass, link axes [kg m^2]; default zero, a point mass.
    link : int or str, optional
        Number 1 to n or name of the link; default the last.
    time : float
        Time at which it is attached [s].

    Raises
    ------
    ValueError
        If a mass, time or moment is negative, or the inertia is not symmetric.

    Examples
    --------
    >>> import thunder_py as th
    >>> elbow = th.Robot.load("elbow")
    >>> payload = th.Payload(0.5, com=(0.2, 0.0, 0.0), time=2.0)
    >>> payload.parameters.round(3).tolist()
    [0.5, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.02]
    >>> loaded = payload.added_to(elbow)
    >>> (loaded.gravity_vector([0, 0]) - elbow.gravity_vector([0, 0])).round(2).tolist()
    [5.4, 2.94]
    """

    mass: float
    com: npt.ArrayLike = (0.0, 0.0, 0.0)
    inertia: npt.ArrayLike | None = None
    link: int | str | None = None
    time: float = 0.0

    def __post_init__(self) -> None:
        """Check everything."""
        mass, time = nonnegative(self.mass, "payload mass"), nonnegative(self.time, "payload time")
        about_com = array(np.zeros((3, 3)) if self.inertia is None else self.inertia, (3, 3), "payload inertia")
        if not np.array_equal(about_com, about_com.T):
            raise ThunderError(f"payload inertia must be symmetric, got {about_com.tolist()}")
        if np.linalg.eigvalsh(about_com)[0] < -1e-12 * np.abs(about_com).max():
            raise ThunderError(f"payload inertia must not have a negative eigenvalue, got {about_com.tolist()}")
        set_fields(self, mass=mass, time=time, com=array(self.com, (3,), "payload com"), inertia=about_com)

    @cached_property
    def parameters(self) -> Array:
        """REG parameters about the origin of the link frame, (10,)."""
        about_com = np.asarray(self.inertia, dtype=np.float64)
        dyn = np.concatenate([[self.mass], np.asarray(self.com), about_com[np.triu_indices(3)]])
        return np.asarray(inertia.reg_from_dyn(dyn[None])[0])

    def link_index(self, robot: Robot) -> int:
        """Return the number of the link, 1 to n."""
        return self.link_number(robot.link_names)

    def link_number(self, links: Sequence[str]) -> int:
        """Return the number of the link, from 1, among those with these names."""
        if not isinstance(self.link, str):
            return len(links) if self.link is None else whole(self.link, "payload link (or its name)", 1, len(links))
        known_name(self.link, links, "payload link must be a link, got")
        return list(links).index(self.link) + 1

    def added_to(self, robot: Robot) -> Robot:
        """Return the robot with this body fixed to its link."""
        parameters = robot.parameters.copy()
        parameters[10 * (self.link_index(robot) - 1) :][:10] += self.parameters
        return robot.with_parameters(parameters)


def one_or_several(value: object, kinds: type | tuple[type, ...], expected: str) -> tuple[Any, ...]:
    """Return one object of `kinds` or a sequence of them as a tuple; raise ValueError with `expected` for others."""
    if isinstance(value, kinds):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise ThunderError(f"{expected}, got {value!r}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, kinds):
            raise ThunderError(f"{expected}, got {item!r} in it")
    return items


def read_payloads(payloads: Payload | Sequence[Payload], plant: object, native: bool) -> tuple[Payload, ...]:
    """Return the payloads sorted by time, with their links as numbers; refuse other objects and unknown links."""
    sequence = one_or_several(payloads, Payload, "payloads must be a sequence of Payload")
    if sequence and not native:
        raise ThunderError("payloads need a plant that is a Robot; a plant written in Python applies its own")
    numbered = (dataclasses.replace(p, link=p.link_index(plant)) for p in sequence if isinstance(plant, Robot))
    return tuple(sorted(numbered, key=lambda p: p.time))
