"""Regressor of filtered torques, without accelerations.

``thunder gen panda --functions examples/functions/filtered_regressor.py``

A first-order low-pass of rate lambda, y' = lambda (tau - y), applied to tau = Y(q, dq, ddq) pi and integrated by
parts where ddq stands, gives (DARKO D4.2, section 3.2.3, with its signs corrected: D-13 of docs/errata.md)

    y(t) = W(t) pi,    W(t) = W_a(t) - exp(-lambda t) W_a(0) - z(t),    z' = lambda (W_b - z),  z(0) = 0,
    W_a pi = lambda M dq,    W_b pi = lambda M dq + C' dq - G - friction,

so a controller low-passes tau, which it measures, and W_b, and has y = W pi to estimate pi from. C' dq is the
gradient of the kinetic energy by q, since C holds the Christoffel symbols.
"""

from __future__ import annotations

from thunder_py.symbolic import SymbolicModel, jacobian


def functions(model: SymbolicModel) -> None:
    """Add ``W_a`` and ``W_b``, (n, p), of q, dq and ``filter_rate`` in 1/s."""
    q, dq, rate = model.q, model.dq, model.symbol("filter_rate")
    momentum = model.mass_regressor(q, dq)
    energy = 0.5 * dq @ momentum
    energy_gradient = jacobian(energy, q).T
    rest = model.gravity_regressor(q) + model.friction_regressor(dq)
    arguments = ["q", "dq", "filter_rate"]
    model.add_function("W_a", rate * momentum, arguments, "part of the filtered regressor outside of the integral")
    model.add_function(
        "W_b", rate * momentum + energy_gradient - rest, arguments, "part of the filtered regressor to be filtered"
    )
