import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thunder_py as th
from tests.dynamics.numerics import assert_close, derivative
from tests.refusals import assert_refused
from tests.symbolic.test_algebra import run, steps
from thunder_py import symbolic as sym
from thunder_py._core import Graph
from thunder_py.symbolic import Function

MODES = ("forward", "reverse", "cheaper")

# operation -> (on expressions, by mpmath, where)
OPERATIONS = {
    "neg": (lambda x: -x, lambda x: -x, [0.7, -2.0]),
    "sqrt": (sym.sqrt, mpmath.sqrt, [0.3, 9.0]),
    "sin": (sym.sin, mpmath.sin, [0.0, 2.5]),
    "cos": (sym.cos, mpmath.cos, [0.1, -2.5]),
    "tan": (sym.tan, mpmath.tan, [0.4, 2.0]),
    "asin": (sym.arcsin, mpmath.asin, [0.3, -0.9]),
    "acos": (sym.arccos, mpmath.acos, [0.3, -0.9]),
    "exp": (sym.exp, mpmath.exp, [-1.0, 2.0]),
    "log": (sym.log, mpmath.log, [0.2, 5.0]),
    "tanh": (sym.tanh, mpmath.tanh, [0.5, -1.5]),
    "abs": (abs, lambda x: abs(x), [0.5, -1.5]),
    "sign": (sym.sign, mpmath.sign, [0.5, -1.5]),
    "add": (lambda x, y: x + y, lambda x, y: x + y, [(0.5, 2.0)]),
    "sub": (lambda x, y: x - y, lambda x, y: x - y, [(0.5, 2.0)]),
    "mul": (lambda x, y: x * y, lambda x, y: x * y, [(0.5, -2.0)]),
    "div": (lambda x, y: x / y, lambda x, y: x / y, [(0.5, -2.0)]),
    "atan2": (sym.arctan2, mpmath.atan2, [(0.5, 2.0), (-0.5, -2.0), (1.0, -0.3)]),
    "pow": (lambda x, y: x**y, lambda x, y: x**y, [(0.5, 2.3), (3.0, -1.7)]),
    "less": (lambda x, y: (x < y) * x, lambda x, y: (x < y) * x, [(0.5, 2.0), (2.0, 0.5)]),
    "less_equal": (lambda x, y: (x <= y) * x, lambda x, y: (x <= y) * x, [(0.5, 2.0), (2.0, 0.5)]),
    "select": (
        lambda x, y: sym.where(x < y, x * y, x - y),
        lambda x, y: x * y if x < y else x - y,
        [(0.5, 2.0), (2.0, 0.5)],
    ),
}
CASES = [(name, point) for name, (_, _, points) in OPERATIONS.items() for point in points]


def test_every_operation_is_here():
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    recorded = set()
    for function, _, points in OPERATIONS.values():
        value = function(*((x, y) if isinstance(points[0], tuple) else (x,)))
        f = Function("f", {"v": [x, y]}, {"r": value})
        recorded |= {name for name, _ in f.operations}
    assert recorded == set(OPERATIONS)


@pytest.mark.parametrize(("name", "point"), CASES)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_an_operation(name, point, mode):
    function, exact, _ = OPERATIONS[name]
    values = np.atleast_1d(point)
    graph = Graph()
    symbols = np.array([graph.symbol(f"x{k}") for k in range(len(values))])
    y = function(*symbols)
    first = sym.jacobian(y, symbols, mode=mode)
    second = sym.jacobian(first, symbols, mode=mode)
    f = Function("f", {"x": symbols}, {"y": y, "first": first, "second": second})
    got = f(values)
    orders = np.eye(len(values), dtype=int)
    with mpmath.workdps(40):

        def partial(*order):
            return float(mpmath.diff(exact, tuple(map(mpmath.mpf, values.tolist())), order))

        assert got[0] == pytest.approx(float(exact(*map(mpmath.mpf, values.tolist()))), rel=1e-14)
        expected = [partial(*e) for e in orders]
        np.testing.assert_allclose(got[1], expected, rtol=1e-13, atol=1e-14)
        expected_2 = [[partial(*(a + b)) for b in orders] for a in orders]
        np.testing.assert_allclose(got[2], expected_2, rtol=1e-12, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(program=steps, inputs=st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_forward_is_reverse_and_differences(program, inputs):
    graph = Graph()
    symbols = np.array([graph.symbol(name) for name in "abc"])
    results = run(program, symbols, sym)[-3:]
    y = np.array(results, dtype=object)
    forward, reverse = (sym.jacobian(y, symbols, mode=mode) for mode in ("forward", "reverse"))
    f = Function("f", {"v": symbols}, {"y": y, "forward": forward, "reverse": reverse})
    _, by_forward, by_reverse = f(inputs)
    scale = np.abs(by_forward).max()
    if not np.isfinite(by_forward).all() or scale > 1e6:
        return
    np.testing.assert_allclose(by_forward, by_reverse, rtol=1e-9, atol=1e-9 * max(1.0, scale))
    for k in range(3):
        for h in (1e-6, -1e-6):  # one-sided: where both sides differ there is a kink, and either slope is right
            moved = np.array(inputs)
            moved[k] += h
            slope = (f(moved)[0] - f(inputs)[0]) / h
            moved[k] += h
            again = (f(moved)[0] - f(inputs)[0]) / (2 * h)
            smooth = np.abs(slope - again) < 1e-4 * np.maximum(1.0, np.abs(slope))
            other = np.array(inputs)
            other[k] -= h
            smooth &= np.abs((f(inputs)[0] - f(other)[0]) / h - slope) < 1e-4 * np.maximum(1.0, np.abs(slope))
            bound = 2e-3 * max(1.0, scale)
            assert (np.abs(slope - by_forward[:, k])[smooth] < bound).all()


@pytest.fixture(scope="module")
def panda():
    return th.Robot.load("panda").symbolic(inertial=True)


def test_jacobian_of_the_mass_matrix(panda):
    robot, q = panda.robot, np.linspace(-1.0, 1.2, 7)
    M = panda.function("M", panda.mass_matrix())
    dM = M.jacobian("q")
    assert dM.result_shapes == ((7, 7, 7),)
    pi = robot.inertial.ravel()
    assert_close(dM(q, pi), robot.mass_matrix_derivative(q), 1e-13)
    # M is linear in the parameters: this Jacobian holds none of them
    by_pi = M.jacobian("par_REG")
    assert not by_pi.inputs_that_matter["par_REG"].any()
    assert_close(by_pi(q, 0 * pi) @ pi, robot.mass_matrix(q), 1e-13)


def test_hessian_of_the_potential(panda):
    U = panda.function("U", panda.potential_energy())
    H = U.hessian("q")
    q, pi = np.linspace(-1.0, 1.2, 7), panda.robot.inertial.ravel()
    value = H(q, pi)
    assert_close(value, value.T, 1e-14)
    e = np.eye(7)
    expected = [derivative(lambda t, k=k: panda.robot.gravity_vector(q + t * e[k])) for k in range(7)]
    assert_close(value, np.array(expected).T, 1e-9)
    assert_close(panda.function("h", sym.hessian(panda.potential_energy(), panda.q))(q, pi), value, 1e-13)


@pytest.mark.parametrize("name", ["elbow", "scara", "ur5e"])
@pytest.mark.parametrize("quantity", ["mass_matrix", "gravity_vector", "jacobian", "coriolis_matrix", "regressor"])
def test_sparsity_is_where_derivatives_are(name, quantity):
    robot = th.Robot.load(name)
    model = robot.symbolic()
    f = model.function("f", model.quantity(quantity), None)
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(4, *shape)) for shape in f.argument_shapes]
    for argument in f.arguments:
        pattern = f.sparsity(argument)
        slopes = np.abs(f.jacobian(argument)(*values)).max(axis=0)
        assert pattern.shape == slopes.shape
        assert (slopes[~pattern] == 0.0).all()
        if quantity in ("jacobian", "regressor"):
            # few entries cancel: what may depend does depend
            assert (slopes[pattern] > 1e-12).mean() > 0.6
        else:
            assert (slopes[pattern] > 1e-12).any()
        f_of_zero = f.jacobian(argument)
        recorded = np.array([not x.is_constant for x in next(iter(f_of_zero.results.values())).ravel()])
        assert not recorded[~pattern.ravel()].any()


def test_inputs_that_matter():
    model = th.Robot.load("elbow").symbolic(inertial=True)
    T = Function("T", {k: model.symbols[k] for k in ("q", "dq", "ddq", "par_REG")}, {"T": model.kinetic_energy()})
    used = T.inputs_that_matter
    assert used["dq"].all()
    assert not used["ddq"].any()
    names = [model.robot.parameter_names[k] for k in np.flatnonzero(used["par_REG"])]
    assert names == ["link1.m", "link1.mcx", "link1.Izz", "link2.m", "link2.mcx", "link2.mcy", "link2.Izz"]
    M = model.function("M", model.mass_matrix())
    assert M.inputs_that_matter["q"].tolist() == [False, True]  # turning the whole arm changes nothing
    assert list(model.arguments_of(model.kinetic_energy())) == ["q", "dq", "par_REG"]


def test_derivatives_of_what_is_no_symbol(panda):
    q = panda.q
    assert_refused(
        (lambda: sym.jacobian(q[0] * q[1], [q[0] + 1]), "...derivatives are taken with respect to symbols..."),
        (lambda: sym.jacobian(q[0], [1.0]), "...symbols..."),
        (lambda: sym.jacobian(q[0], q, mode="back"), "...mode must be forward, reverse or cheaper, got 'back'..."),
        (lambda: sym.gradient(q, q), "...y must be one expression, got shape (7,); use jacobian..."),
    )


def test_derivatives_of_numbers(panda):
    assert sym.jacobian([1.0, 2.0], panda.q).tolist() == [[0.0] * 7] * 2
    assert math.isclose(float(sym.jacobian(panda.q[2], panda.q)[2]), 1.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_outlined_recordings(mode):
    """Calls are written out: a result of a call is no leaf without slope."""
    robot = th.Robot.load("ur5e")
    model = robot.symbolic(outline=True)
    M = model.mass_matrix()
    assert model.function("M", M).call_count > 0
    dM = model.function("dM", sym.jacobian(M, model.q, mode=mode))
    q = np.linspace(-1, 1, 6)
    assert_close(dM(q), robot.mass_matrix_derivative(q), 1e-13)


def test_the_branch_not_taken_does_not_spoil_forward_derivatives():
    model = th.Robot.load("elbow").symbolic()
    x = model.q[0]
    root = sym.where(x < 0.0, 0.0, sym.sqrt(x))
    slope = sym.jacobian([root], model.q, mode="forward")
    f = Function("slope", {"q": model.q}, {"slope": slope})
    np.testing.assert_array_equal(f([-1.0, 0.0]), [[0.0, 0.0]])
    np.testing.assert_allclose(f([4.0, 0.0]), [[0.25, 0.0]], rtol=1e-15)
