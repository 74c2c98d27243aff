import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from tests.refusals import assert_refused
from tests.symbolic.test_derivatives import OPERATIONS
from thunder_py import symbolic as sym
from thunder_py.errors import ThunderError

ca = pytest.importorskip("casadi")


@pytest.fixture
def elbow():
    return th.Robot.load("elbow").symbolic(inertial=True)


@pytest.fixture(scope="module")
def panda():
    return th.Robot.load("panda").symbolic(inertial=True)


def random_arguments(function, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in function.argument_shapes]


@pytest.mark.parametrize("quantity", ["mass_matrix", "slotine_li_regressor", "forward_kinematics", "forward_dynamics"])
def test_round_trip(panda, quantity):
    ours = panda.function("f", panda.quantity(quantity))
    theirs = panda.to_casadi(ours)
    assert theirs.name_in() == list(ours.arguments)
    back = panda.function("g", panda.from_casadi(theirs), list(ours.arguments))
    arguments = random_arguments(ours)
    expected = ours(*arguments)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        np.array(theirs(*arguments)).reshape(expected.shape), expected, rtol=0, atol=1e-14 * scale
    )
    np.testing.assert_allclose(back(*arguments), expected, rtol=0, atol=1e-14 * scale)
    assert back.operation_count <= ours.operation_count


@pytest.mark.parametrize("name", ["scara", pytest.param("ur5e", marks=pytest.mark.release), "cart_pendulum"])
def test_round_trip_of_other_robots(name):
    model = th.Robot.load(name).symbolic(inertial=True, gravity=True)
    quantities = [key for key in model.quantities if key not in ("coriolis_blocks", "mass_blocks")]
    ours = model.function("all", {f"r_{key}": model.quantity(key) for key in quantities})
    back = model.function("back", model.from_casadi(model.to_casadi(ours)), list(ours.arguments))
    arguments = random_arguments(ours)
    for a, b in zip(ours(*arguments), back(*arguments), strict=True):
        finite = np.isfinite(a)
        np.testing.assert_allclose(
            b.reshape(a.shape)[finite], a[finite], rtol=1e-13, atol=1e-13 * max(1.0, np.abs(a[finite]).max(initial=0.0))
        )


def test_their_derivative_is_ours(panda):
    M = panda.function("M", panda.mass_matrix())
    theirs = panda.to_casadi(M)
    q, pi = ca.SX.sym("q", 7), ca.SX.sym("par_REG", 70)
    jacobian = ca.Function("dM", [q, pi], [ca.jacobian(theirs(q, pi), q)])
    q, pi = random_arguments(M)
    by_casadi = np.array(jacobian(q, pi)).reshape(7, 7, 7, order="F")  # entries of M column by column
    ours = M.jacobian("q")(q, pi)
    np.testing.assert_allclose(by_casadi, ours, rtol=0, atol=1e-13 * np.abs(ours).max())


def test_zeros_stay_out(elbow):
    f = elbow.to_casadi(elbow.slotine_li_regressor(), "Y_r")
    assert f.name() == "Y_r"
    assert f.name_out() == ["Y_r"]
    assert f.size_out(0) == (2, 20)
    assert f.nnz_out(0) == 12  # of 40
    Y = elbow.from_casadi(f)
    assert Y.shape == (2, 20)
    assert (elbow.slotine_li_regressor() == Y).all()  # every entry meets its own node


def test_names_and_shapes(elbow):
    f = elbow.to_casadi({"M": elbow.mass_matrix(), "U": elbow.potential_energy(), "C3": elbow.christoffel_symbols()})
    assert f.name() == "function"
    assert f.name_in() == ["q", "par_REG"]
    assert f.name_out() == ["M", "U", "C3"]
    assert [f.size_out(k) for k in range(3)] == [(2, 2), (1, 1), (2, 4)]
    back = elbow.from_casadi(f)
    assert back["M"].shape == (2, 2)
    assert back["U"] == elbow.potential_energy()
    pair = elbow.function("pair", {"ours": elbow.christoffel_symbols(), "theirs": back["C3"]})
    ours, theirs = pair([0.3, -0.8], elbow.robot.inertial.ravel())
    np.testing.assert_allclose(theirs, ours.reshape(2, 4), rtol=1e-14)
    K = elbow.symbol("K", (2, 3))
    g = elbow.to_casadi(elbow.function("g", K @ [1.0, 2.0, 3.0] + elbow.q))
    assert g.size_in(1) == (2, 3)
    K_value = np.arange(6.0).reshape(2, 3)
    assert np.array(g([0.5, 0.5], K_value)).ravel().tolist() == (K_value @ [1, 2, 3] + 0.5).tolist()
    assert (elbow.from_casadi(g) == K @ [1.0, 2.0, 3.0] + elbow.q).all()
    same = elbow.to_casadi(elbow.function("h", {"q": 2 * elbow.q}))
    assert (same.name_in(), same.name_out()) == (["q"], ["q_result"])


def test_columns_and_rows(elbow):
    """CasADi stores column by column."""
    K = elbow.symbol("K", (2, 3))
    s, q = ca.SX.sym("K", 2, 3), ca.SX.sym("q", 1, 2)
    f = ca.Function("f", [s, q], [s * 2, s.T, ca.horzcat(s[1, 2], q[1])], ["K", "q"], ["twice", "transposed", "row"])
    out = elbow.from_casadi(f)
    assert (out["twice"] == 2 * K).all()
    assert (out["transposed"] == K.T).all()
    assert out["row"].shape == (1, 2)
    assert out["row"][0, 0] == K[1, 2]
    assert out["row"][0, 1] == elbow.q[1]


def test_sparse_inputs_and_outputs(elbow):
    K = elbow.symbol("K", (3, 3))
    s = ca.SX.sym("K", ca.Sparsity.lower(3))
    f = ca.Function("f", [s], [s + 1, ca.SX(2, 3)], ["K"], ["shifted", "zero"])
    out = elbow.from_casadi(f)
    lower = np.tril(np.ones((3, 3), dtype=bool))
    assert (out["shifted"][lower] == K[lower] + 1).all()
    assert all(float(x) == 1.0 for x in out["shifted"][~lower])
    assert (out["zero"].astype(float) == np.zeros((2, 3))).all()


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_every_operation_there_and_back(name):
    function, _, points = OPERATIONS[name]
    model = th.Robot.load("elbow").symbolic()
    binary = isinstance(points[0], tuple)
    ours = model.function("f", function(*(model.q if binary else model.q[:1])), ["q"])
    theirs = model.to_casadi(ours)
    back = model.function("g", model.from_casadi(theirs), ["q"])
    for point in [*points, *([(1.0, 1.0), (0.0, 0.0)] if name in ("less", "less_equal", "select") else [])]:
        q = [*np.atleast_1d(point), 0.0][:2]
        assert float(theirs(q)) == pytest.approx(ours(q), rel=1e-15, abs=1e-300)
        assert back(q) == pytest.approx(ours(q), rel=1e-15, abs=1e-300)


THEIRS = {
    "square": lambda x, y: x**2,
    "twice": lambda x, y: x + x,
    "constant power": lambda x, y: ca.fabs(x) ** 2.5,
    "inverse": lambda x, y: 1 / x,
    "atan": lambda x, y: ca.atan(x),
    "hypot": lambda x, y: ca.hypot(x, y),
    "copysign": lambda x, y: ca.copysign(x, y),
    "fmin": lambda x, y: ca.fmin(x, y),
    "fmax": lambda x, y: ca.fmax(x, y),
    "equal": lambda x, y: x == y,
    "not equal": lambda x, y: x != y,
    "not": lambda x, y: ca.logic_not(x < y),
    "and": lambda x, y: ca.logic_and(x < y, y < 1),
    "or": lambda x, y: ca.logic_or(x < y, y < 1),
    "if else": lambda x, y: ca.if_else(x < y, x, y),
    "constants": lambda x, y: 3.5 + ca.if_else(x < y, 1 / ca.SX(0), 2),
}
POINTS = [(0.3, 0.7), (0.7, 0.3), (-0.4, -0.4), (1.5, -2.0), (-1.0, 3.0)]


@pytest.mark.parametrize("name", list(THEIRS))
def test_operations_that_only_casadi_has(name):
    model = th.Robot.load("elbow").symbolic()
    q = ca.SX.sym("q", 2)
    theirs = ca.Function("f", [q], [THEIRS[name](q[0], q[1])], ["q"], ["r"])
    ours = model.function("g", model.from_casadi(theirs), ["q"])
    for point in POINTS:
        assert ours(point) == pytest.approx(float(theirs(point)), rel=1e-15, nan_ok=True)


def test_operations_that_are_refused(elbow):
    q = ca.SX.sym("q", 2)
    for name in ("floor", "ceil", "erf", "sinh", "log1p", "expm1"):
        f = ca.Function("f", [q], [getattr(ca, name)(q[0])], ["q"], ["r"])
        with pytest.raises(ThunderError, match=f"f: recordings do not support CasADi's operation {name.upper()}"):
            elbow.from_casadi(f)


def test_matrix_functions_are_expanded(elbow):
    q = ca.MX.sym("q", 2)
    f = ca.Function("f", [q], [ca.mtimes(q, q.T)], ["q"], ["r"])
    assert (elbow.from_casadi(f) == np.outer(elbow.q, elbow.q)).all()
    rooted = ca.rootfinder("solver", "newton", {"x": q, "g": q**2 - 1})
    implicit = ca.Function("f", [q], [rooted(q, [])], ["q"], ["r"])
    with pytest.raises(
        ThunderError, match=r"CasADi cannot expand f to scalars|f: recordings do not support CasADi's operation CALL"
    ):
        elbow.from_casadi(implicit)


def test_what_does_not_match(elbow):
    q, k = ca.SX.sym("q", 2), ca.SX.sym("K", 2, 2)
    assert_refused(
        (lambda: elbow.from_casadi(ca.Function("f", [q, k], [k @ q], ["q", "K"], ["r"])), "...f: input 'K' is not ..."),
        (lambda: elbow.from_casadi(ca.Function("f", [q], [q], ["dddq"], ["r"])), "...did you mean 'ddq'..."),
        (
            lambda: elbow.from_casadi(ca.Function("f", [ca.SX.sym("v", 3)], [1], ["dq"], ["r"])),
            "...f: input dq must be 2 x 1, got 3 x 1...",
        ),
    )
    elbow.symbol("K", (2, 3))
    with pytest.raises(ThunderError, match="f: input K must be 2 x 3, got 3 x 2"):
        elbow.from_casadi(ca.Function("f", [ca.SX.sym("v", 3, 2)], [1], ["K"], ["r"]))
    with pytest.raises(ThunderError, match=r"function must be a casadi\.Function, got SX; create it by"):
        elbow.from_casadi(q)
    free = ca.Function("f", [q], [q + ca.SX.sym("offset")], ["q"], ["r"], {"allow_free": True})
    assert_refused(
        (lambda: elbow.from_casadi(free), "...f must not have free variables, got offset..."),
        (lambda: elbow.to_casadi(elbow.q, "two words"), "...function name must be an identifier..."),
        (lambda: elbow.to_casadi(elbow.q, "a__b"), "...CasADi refuses the function a__b..."),
    )


def test_a_function_of_the_user(elbow):
    """Algebra of CasADi's own, such as its linear solver, around our expressions."""
    robot = elbow.robot
    M, G = elbow.to_casadi(elbow.mass_matrix(), "M"), elbow.to_casadi(elbow.gravity_vector(), "G")
    q, tau, pi = ca.SX.sym("q", 2), ca.SX.sym("tau", 2), ca.SX.sym("par_REG", 20)
    ddq = ca.solve(M(q, pi), tau - G(q, pi))
    f = ca.Function("drop", [tau, q, pi], [ddq], ["tau", "q", "par_REG"], ["ddq"])
    added = elbow.add_function("drop", f, description="acceleration from rest")
    assert list(added.arguments) == ["tau", "q", "par_REG"]  # in CasADi's order
    assert elbow.functions["drop"] is added
    state = [0.3, -0.5], [0.7, 0.1]
    expected = robot.forward_dynamics(state[1], [0, 0], state[0])
    np.testing.assert_allclose(added(*state, robot.inertial.ravel()), expected, rtol=1e-12)
    gradient = added.jacobian("tau")(*state, robot.inertial.ravel())
    np.testing.assert_allclose(gradient, np.linalg.inv(robot.mass_matrix(state[1])), rtol=1e-11)
    several = ca.Function("two", [q], [q, q * 2], ["q"], ["a", "b"])
    assert elbow.add_function("two", several).result_names == ("a", "b")
    with pytest.raises(ThunderError, match=r"function must be a casadi\.Function, got SX"):
        elbow.add_function("bare", q)


def test_outlined_models():
    robot = random_robot(6, 7, "modified")
    model = robot.symbolic(outline=True)
    ours = model.function("M", model.mass_matrix())
    assert ours.call_count > 0
    q = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(np.array(model.to_casadi(ours)(q)), robot.mass_matrix(q), rtol=0, atol=1e-12)
    assert sym.jacobian(ours.results["M"], model.q).shape == (7, 7, 7)
