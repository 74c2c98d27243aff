"""Signals of a log whose joints are exchanged, reversed, coupled or counted from another zero."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError

_BODY = r"(?=[\w.])(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)\*?)?(q\d+|tau\d+|pi)?(?:/(\d+\.?\d*))?"
_ROW, _TERM = re.compile(rf"(q|tau)(\d+)=([+-]?{_BODY}(?:[+-]{_BODY})*)"), re.compile(f"([+-]?){_BODY}")


class Correction(NamedTuple):
    """Linear maps from recorded signals to those of the joints.

    Attributes
    ----------
    q, tau : (n, n) array
        Maps of the positions, also of velocities and accelerations, and of the torques.
    zero : (n,) array
        Added to the positions [rad or m].

    Examples
    --------
    >>> from thunder_py.identification import Correction
    >>> correction = Correction.parse("q1=-q1, q2=q2+pi/2, tau1=tau2, tau2=0.5*tau1", 2)
    >>> correction.tau.tolist(), correction.zero.round(3).tolist()
    ([[0.0, 1.0], [0.5, 0.0]], [0.0, 1.571])
    >>> str(correction)
    'q1=-q1, q2=q2+pi/2, tau1=tau2, tau2=0.5*tau1'
    """

    q: Array
    tau: Array
    zero: Array

    @classmethod
    def none(cls, n: int) -> Correction:
        """Return the maps of signals that are right."""
        return cls(np.eye(n), np.eye(n), np.zeros(n))

    @classmethod
    def parse(cls, text: str, n: int) -> Correction:
        """Read equations such as ``q1=-q1, q2=q2+pi/2, tau1=tau2``; joints count from 1, others stay as they are.

        Raises
        ------
        ThunderError
            If the text is something else, or the maps have no inverse.
        """
        found = cls.none(n)
        for part in re.sub(r"\s", "", text).split(","):
            row = _ROW.fullmatch(part)
            if row is None:
                raise ThunderError(f"correct must hold equations such as q2=-q2 or tau4=tau5, got {part!r:.80}")
            signal, joint = row[1], _joint(row[2], n)
            matrix = found.q if signal == "q" else found.tau
            matrix[joint] = 0.0
            for sign, factor, name, divisor in _TERM.findall(row[3]):
                value = float(f"{sign}1") * float(factor or 1.0) / float(divisor or 1.0)
                if name.startswith(signal):
                    matrix[joint, _joint(name[len(signal) :], n)] += value
                elif signal == "q" and name in ("", "pi"):
                    found.zero[joint] += value * (np.pi if name else 1.0)
                else:
                    raise ThunderError(f"correct must make q of q and numbers, and tau of tau, got {part!r:.80}")
        if min(np.linalg.matrix_rank(found.q), np.linalg.matrix_rank(found.tau)) < n:
            raise ThunderError(f"correct must use each joint, so that nothing is lost, got {text!r:.80}")
        return found

    def after(self, first: Correction) -> Correction:
        """Return the maps of another correction followed by these."""
        return Correction(self.q @ first.q, self.tau @ first.tau, self.q @ first.zero + self.zero)

    def __str__(self) -> str:
        """Return the equations that `parse` reads."""
        rows = []
        for signal, matrix, zero in (("q", self.q, self.zero), ("tau", self.tau, np.zeros(len(self.zero)))):
            for j in np.flatnonzero((matrix != np.eye(len(matrix))).any(axis=1) | (zero != 0.0)):
                terms = [_term(matrix[j, k], f"{signal}{k + 1}") for k in np.flatnonzero(matrix[j])]
                quarters = 2.0 * zero[j] / np.pi
                if abs(quarters - round(quarters)) < 1e-9:
                    terms += [_term(0.5 * quarters, "pi").replace("0.5*pi", "pi/2")] if round(quarters) else []
                else:
                    terms.append(f"{zero[j]:+.6g}")
                rows.append(f"{signal}{j + 1}=" + "".join(terms).removeprefix("+"))
        return ", ".join(rows)


def _joint(number: str, n: int) -> int:
    if not 1 <= int(number) <= n:
        raise ThunderError(f"joints of correct must be 1 to {n}, got {number}")
    return int(number) - 1


def _term(factor: float, name: str) -> str:
    return f"{'-' if factor < 0.0 else '+'}{'' if abs(factor) == 1.0 else f'{abs(factor):.6g}*'}{name}"
