"""Losses of a robot in a file format: refused, or listed in the file."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ThunderError


def check_losses(losses: Sequence[str], kind: str, lossy: bool) -> tuple[str, ...]:
    """Return the losses if `lossy` is True, or raise `ThunderError`.

    Parameters
    ----------
    losses : sequence of str
        One sentence for each loss.
    kind : str
        The format, for the message.
    lossy : bool
        Accept losses.

    Raises
    ------
    ThunderError
        If there are losses and `lossy` is False.
    """
    if losses and not lossy:
        raise ThunderError(
            f"{kind} cannot hold all of this robot: {'; '.join(losses)}. With lossy=True the rest is written"
        )
    return tuple(losses)
