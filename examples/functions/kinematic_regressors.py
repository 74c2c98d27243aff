"""Regressors of the lengths of an arm: ``thunder gen panda --functions examples/functions/kinematic_regressors.py``.

Where lengths of links or the grasp of a tool are unknown, adaptive control in task space needs what is linear in
them: the twist J dq and the torque J' w of a wrench. Both are affine in the lengths l = (a_1, d_1, ..., a_n, d_n, x,
y, z of the tool),

    J dq = R_v l + twist without lengths,    J' w = R_w l + torque without lengths,

and R_v, R_w are derivatives by the lengths, in which none of them is left.
"""

from __future__ import annotations

import numpy as np

from thunder_py.symbolic import SymbolicModel, jacobian


def functions(model: SymbolicModel) -> None:
    """Add ``twist_regressor`` (6, 2 n + 3), of q and dq, and ``wrench_regressor`` (n, 2 n + 3), of q and ``wrench``."""
    # the lengths may be numbers in this model: a model of the same arm in which they are symbols
    lengths_of_link, position_of_tool = np.tile([1, 0, 1, 0], (model.n, 1)), [1, 1, 1, 0, 0, 0]
    wide = SymbolicModel(model.robot, dh=lengths_of_link, tool=position_of_tool)
    lengths = np.concatenate([wide.par_DHtable.reshape(-1, 4)[:, [0, 2]].ravel(), wide.par_Ln2EE[:3]])
    J, wrench = wide.jacobian(), wide.symbol("wrench", 6)
    twist = wide.function("twist", jacobian(J @ wide.dq, lengths), ["q", "dq"])
    torque = wide.function("torque", jacobian(J.T @ wrench, lengths), ["q", "wrench"])
    own_wrench = model.symbol("wrench", 6)
    model.add_function(
        "twist_regressor", twist.substitute(q=model.q, dq=model.dq), ["q", "dq"], "derivative of J dq by the lengths"
    )
    model.add_function(
        "wrench_regressor",
        torque.substitute(q=model.q, wrench=own_wrench),
        ["q", "wrench"],
        "derivative of J' wrench by the lengths",
    )
