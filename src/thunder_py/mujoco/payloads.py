"""Payloads as bodies that are fixed to a body of an MJCF text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import ModelError, UnknownNameError, nearest_hint
from ..io.xml_text import numbers, opened, quaternion, tag
from ..simulation.payload import Payload

__all__ = ["check_payloads", "with_payloads"]


def with_payloads(
    text: str, links: Sequence[str], payloads: Sequence[Payload]
) -> list[tuple[float, str, dict[str, Payload]]]:
    """Return times, and the text with all payloads that are there from each on, with these by their bodies' names.

    Parameters
    ----------
    text : str
        MJCF.
    links : sequence of str
        Names of the bodies that payloads may be fixed to, from the base outwards.
    payloads : sequence of Payload
        In any order.

    Raises
    ------
    UnknownNameError
        If no link is called as a payload's is.
    ModelError
        If a link's number is none, or the body has no name to find it by.
    """
    for payload in payloads:
        if not isinstance(payload, Payload):
            raise ModelError(f"payloads must be a sequence of Payload, got {payload!r} in it")
    phases: list[tuple[float, str, dict[str, Payload]]] = []
    there: dict[str, Payload] = {}
    for k, payload in enumerate(sorted(payloads, key=lambda payload: payload.time), start=1):
        name = f"payload:{k}"
        text = _with(text, _link(payload, links), payload, name)
        there = {**there, name: payload}
        if phases and phases[-1][0] == payload.time:
            phases.pop()
        phases.append((payload.time, text, there))
    return phases


def check_payloads(before: Any, after: Any, payloads: Mapping[str, Payload]) -> None:
    """Refuse a file whose compiler changes bodies when payloads come: bounds, or a total that is given.

    Parameters
    ----------
    before, after : mujoco.MjModel
        Without and with payloads.
    payloads : mapping of str to Payload
        By the names of their bodies.

    Raises
    ------
    ModelError
        If a payload, or the mass of all the rest, is not what it was.
    """
    expected = float(before.body_mass.sum()) + sum(float(payload.mass) for payload in payloads.values())
    same = [np.isclose(after.body_mass.sum(), expected, rtol=1e-9, atol=0.0)]
    for name, payload in payloads.items():
        body = after.body(name)
        same += [
            np.isclose(body.mass[0], payload.mass, rtol=1e-9),
            np.isclose(sum(body.inertia), np.trace(np.asarray(payload.inertia))),
        ]
    if not all(same):
        raise ModelError(
            "payloads: the file's compiler would change masses or inertias (settotalmass, boundmass, boundinertia): "
            f"leave these out; the bodies must weigh {expected:g} kg together, got {after.body_mass.sum():g} kg"
        )


def _link(payload: Payload, links: Sequence[str]) -> str:
    link = len(links) if payload.link is None else payload.link
    if isinstance(link, str):
        if link not in links:
            raise UnknownNameError(f"payload link: no link is called {link!r}{nearest_hint(link, links)}")
        return link
    if isinstance(link, bool) or not isinstance(link, (int, np.integer)) or not 1 <= link <= len(links):
        raise ModelError(f"payload link must be 1 to {len(links)} or a name, got {payload.link!r}")
    if not links[link - 1]:
        raise ModelError(f"payload link {link}: this body of the file has no name; give it one")
    return links[link - 1]


def _with(text: str, link: str, payload: Payload, name: str) -> str:
    """Put a body into the one called `link`, just behind its beginning."""
    start = re.search(rf"<body [^>]*\bname={re.escape(quoteattr(link))}[^>]*>", text)
    assert start is not None  # the link is one of the text
    moments, axes = np.linalg.eigh(np.asarray(payload.inertia))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    inertial = tag(
        "inertial",
        mass=numbers([payload.mass]),
        pos=numbers(np.asarray(payload.com)),
        quat=numbers(quaternion(axes)),
        diaginertia=numbers(np.maximum(moments, 0.0)),
    )
    return f"{text[: start.end()]}{opened('body', name=name)}{inertial}</body>{text[start.end() :]}"
