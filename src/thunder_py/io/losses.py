"""What formats cannot hold: refused, or written down, never dropped without a word."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError

__all__ = ["check_losses"]


def check_losses(losses: Sequence[str], kind: str, lossy: bool) -> tuple[str, ...]:
    """Return what would be lost, if that is meant.

    Parameters
    ----------
    losses : sequence of str
        A sentence each.
    kind : str
        The format, for the message.
    lossy : bool
        Whether losses are meant.

    Raises
    ------
    ModelError
        If something would be lost and is not meant to.
    """
    if losses and not lossy:
        raise ModelError(
            f"{kind} cannot hold all of this robot: {'; '.join(losses)}. With lossy=True the rest is written"
        )
    return tuple(losses)
