"""Derivatives of expressions that choose between branches."""

from __future__ import annotations

import numpy as np

import thunder_py as th
import thunder_py.symbolic as sym
from thunder_py.symbolic import Function


def test_the_branch_not_taken_does_not_spoil_forward_derivatives():
    model = th.Robot.load("elbow").symbolic()
    x = model.q[0]
    root = sym.where(x < 0.0, 0.0, sym.sqrt(x))
    slope = sym.jacobian([root], model.q, mode="forward")
    f = Function("slope", {"q": model.q}, {"slope": slope})
    np.testing.assert_array_equal(f([-1.0, 0.0]), [[0.0, 0.0]])
    np.testing.assert_allclose(f([4.0, 0.0]), [[0.25, 0.0]], rtol=1e-15)
