"""Losses of a robot in a file format: refused, or listed in the file."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ThunderError
from ..model.description import RobotDescription


def check_losses(losses: Sequence[str], kind: str, lossy: bool) -> tuple[str, ...]:
    """Return the losses, a sentence each, in a format called `kind`; raise `ThunderError` unless `lossy` is True."""
    if losses and not lossy:
        raise ThunderError(
            f"{kind} cannot hold all of this robot: {'; '.join(losses)}. With lossy=True the rest is written"
        )
    return tuple(losses)


def used_terms(d: RobotDescription) -> list[str]:
    """Return the terms of friction that some joint has."""
    friction = d.friction
    return [] if friction is None else [t for k, t in enumerate(friction.terms) if friction.coefficients[:, k].any()]


def friction_of_joint(d: RobotDescription, i: int) -> dict[str, float]:
    """Return the coefficients of a joint's friction by term."""
    return {} if d.friction is None else dict(zip(d.friction.terms, d.friction.coefficients[i], strict=True))
