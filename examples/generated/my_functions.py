"""Functions of one's own in a generated library: ``thunder gen panda --functions my_functions.py``.

The command calls `functions` with the symbolic model of the robot; every function that is added becomes one of the
library, ``panda_dexterity(q, out)`` in C and ``get_dexterity()`` in the class. Arguments are found by themselves.
"""

import thunder_py.symbolic as sym


def functions(model):
    """Add manipulability and its gradient, operational-space inertia, and the pair of a filtered regressor."""
    w = model.manipulability()
    model.add_function("dexterity", w, description="sqrt(det(J J')) of the end effector")
    model.add_function("dexterity_gradient", sym.gradient(w, model.q), description="Its derivative by q")

    inertia = model.operational_space_inertia(rows=(0, 1, 2))
    model.add_function("task_inertia", inertia, description="Inertia that the end effector shows against forces")

    filtered_regressor(model)


def filtered_regressor(model):
    """Add W_a and W_b, by which torques filtered with the time constant 1/rate are known without accelerations.

    With y' = rate (tau - y), y(0) = 0, and a matrix F with F' = rate (W_b - F), F(0) = 0,

        y = (W_a - F - exp(-rate t) W_a(0)) pi,

    where pi are all parameters. W_a = rate [M dq] and W_b = [rate M dq + C' dq - G - friction], [.] the regressor of
    what stands in it; C' dq is the derivative of the kinetic energy by q (DARKO D4.2, section 3.2.3, signs put right).
    """
    rate = model.symbol("rate")
    momentum = model.mass_regressor(model.q, model.dq)
    energy = 0.5 * model.dq @ momentum
    W_a = rate * momentum
    W_b = W_a + sym.jacobian(energy, model.q).T - model.gravity_regressor() - model.friction_regressor()
    model.add_function("W_a", W_a, description="Part of the filtered regressor outside the integral")
    model.add_function("W_b", W_b, description="Part of the filtered regressor inside the integral")
