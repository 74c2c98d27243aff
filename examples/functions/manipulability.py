"""Manipulability and its gradient, for ``thunder gen panda --functions examples/functions/manipulability.py``.

w = sqrt(det(J J')) is Yoshikawa's measure; a redundant arm that moves along the gradient of w, as far as its task
lets it, keeps away from singularities. Arms with fewer than six joints have sqrt(det(J' J)), which vanishes where two
joints move the end effector alike.
"""

from __future__ import annotations

from thunder_py.symbolic import SymbolicModel, det, gradient, sqrt


def functions(model: SymbolicModel) -> None:
    """Add ``velocity_manipulability`` () and ``velocity_manipulability_gradient`` (n,)."""
    J = model.jacobian()
    w = sqrt(det(J @ J.T if model.n >= 6 else J.T @ J, assume_a="pos"))
    model.add_function("velocity_manipulability", w, description="sqrt(det(J J')) of the end effector")
    model.add_function(
        "velocity_manipulability_gradient", gradient(w, model.q), ["q"], description="its derivatives with respect to q"
    )
