import gc

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import symbolic as sym
from thunder_py._core import Expression, Graph
from thunder_py.errors import ThunderError
from thunder_py.symbolic import Function


@pytest.fixture
def v():
    graph = Graph()
    return np.array([graph.symbol(name) for name in "xyz"])


def value(expression, v, at=(0.3, -1.2, 2.0)):
    return Function("f", {"v": v}, {"r": expression})(np.array(at))


AT = np.array([0.3, -1.2, 2.0])


def test_matrix_products_and_slices(v):
    A = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(value(A @ v, v), A @ AT, rtol=1e-15)
    np.testing.assert_allclose(value(v @ A, v), AT @ A, rtol=1e-15)
    np.testing.assert_allclose(value(np.outer(v, v)[1:, ::2], v), np.outer(AT, AT)[1:, ::2], rtol=1e-15)
    np.testing.assert_allclose(value(v.sum() + v.prod() + v.mean(), v), AT.sum() + AT.prod() + AT.mean(), rtol=1e-14)
    np.testing.assert_allclose(value(np.cumsum(v), v), np.cumsum(AT), rtol=1e-15)
    np.testing.assert_allclose(value(np.dot(v, v), v), AT @ AT, rtol=1e-15)
    np.testing.assert_allclose(value(np.trace(np.diag(v)), v), AT.sum(), rtol=1e-15)
    np.testing.assert_allclose(value(sym.cross(v, [1.0, 2.0, 3.0]), v), np.cross(AT, [1, 2, 3]), rtol=1e-14)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "exp", "tanh", "sqrt", "log", "arcsin", "arccos"])
def test_numpy_functions(v, name):
    at = np.array([0.3, 0.5, 0.9])
    for function in (getattr(np, name), getattr(sym, name)):
        np.testing.assert_allclose(value(function(v), v, at), getattr(np, name)(at), rtol=1e-15)
    np.testing.assert_allclose(getattr(sym, name)([0.2, 0.4]).astype(float), getattr(np, name)([0.2, 0.4]), rtol=1e-15)


def test_numbers_among_expressions(v):
    mixed = np.array([v[0], 0.5], dtype=object)
    with pytest.raises(TypeError, match="float which has no callable sin method"):
        np.sin(mixed)
    np.testing.assert_allclose(value(sym.sin(mixed), v), np.sin([0.3, 0.5]), rtol=1e-15)


def test_other_functions(v):
    np.testing.assert_allclose(value(abs(v), v), np.abs(AT), rtol=0)
    np.testing.assert_allclose(value(np.abs(v), v), np.abs(AT), rtol=0)
    np.testing.assert_allclose(value(v**2, v), AT**2, rtol=1e-15)
    np.testing.assert_allclose(value(sym.arctan2(v, 2.0), v), np.arctan2(AT, 2.0), rtol=1e-15)
    np.testing.assert_allclose(value(sym.arctan2(2.0, v), v), np.arctan2(2.0, AT), rtol=1e-15)
    np.testing.assert_allclose(value(np.arctan2(v, v[::-1]), v), np.arctan2(AT, AT[::-1]), rtol=1e-15)


@pytest.mark.parametrize("number", [2, 2.5, np.float64(2.5), np.float32(0.5), np.int64(3), True])
def test_numbers_on_both_sides(v, number):
    x, number_value = v[0], float(number)
    pairs = [
        (number + x, number_value + 0.3),
        (x + number, 0.3 + number_value),
        (number - x, number_value - 0.3),
        (x - number, 0.3 - number_value),
        (number * x, number_value * 0.3),
        (number / x, number_value / 0.3),
        (x / number, 0.3 / number_value),
        (x**number, 0.3**number_value),
        (number**x, number_value**0.3),
    ]
    for expression, expected in pairs:
        assert isinstance(expression, Expression)
        assert value(expression, v) == pytest.approx(expected, rel=1e-15)


def test_comparisons_and_where(v):
    x, y, _ = v
    points = [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)]
    for expression, expected in [(x < y, (1, 0, 0)), (x <= y, (1, 0, 1)), (x > y, (0, 1, 0)), (x >= y, (0, 1, 1))]:
        assert [value(expression, v, p) for p in points] == list(expected)
    assert [value(x < 0.5, v, p) for p in points] == [1, 0, 0]
    assert [value(np.float64(0.5) < x, v, p) for p in points] == [0, 1, 1]
    with pytest.raises(TypeError, match="no truth value"):
        v < 0  # noqa: B015
    clipped = sym.where(sym.less(v, 0), 0.0, v)
    assert value(clipped, v).tolist() == [0.3, 0.0, 2.0]
    assert value(sym.maximum(v, 0.0), v).tolist() == [0.3, 0.0, 2.0]
    assert value(sym.minimum(v, v[::-1]), v).tolist() == [0.3, -1.2, 0.3]
    assert value(sym.less_equal(v, [0.3, -2.0, 2.0]), v).tolist() == [1.0, 0.0, 1.0]
    assert value(sym.sign(v), v).tolist() == [1.0, -1.0, 1.0]
    with pytest.raises(TypeError, match="no truth value"):
        np.sign(v)  # compares
    assert sym.where(True, x, y) == x
    assert sym.where(0.0, x, y) == y
    assert sym.where(x < y, y, y) == y


def test_no_truth_value_and_no_number(v):
    x, y, _ = v
    assert_refused(
        (lambda: bool(x < y), "...no truth value: choose with thunder_py.symbolic.where...", TypeError),
        (lambda: max(x, y), "...no truth value...", TypeError),
        (lambda: float(x), "an expression has no numeric value: evaluate it with a Function", TypeError),
    )
    with pytest.raises(TypeError, match="evaluate it with a Function"):
        np.zeros(3)[0:1] = [x]
    assert float(x * 0 + 2) == 2.0
    assert bool(x - x + 1)


def test_equality_and_hash(v):
    x, y, _ = v
    assert x == x
    assert x != y
    assert x + y == y + x
    assert len({x, y, x + y, y + x}) == 3
    assert (x * 0 + 2) == 2
    assert hash(x * 0 + 2) == hash(2.0)
    assert x != "x"
    assert x != None  # noqa: E711


def matrix_of_symbols(n):
    graph = Graph()
    return np.array([[graph.symbol(f"a{i}_{j}") for j in range(n)] for i in range(n)])


def evaluate(results, symbols, values):
    return Function("f", {"A": symbols}, results)(values)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 9])
def test_linear_algebra_of_any_matrix(n):
    """Of every sign and size, with zeros where elimination starts, and where only an exchange of rows goes on."""
    symbols, rng = matrix_of_symbols(n), np.random.default_rng(n)
    b, B = rng.normal(size=n), rng.normal(size=(n, 3))
    results = {
        "x": sym.solve(symbols, b),
        "X": sym.solve(symbols, B),
        "inverse": sym.inverse(symbols),
        "det": sym.det(symbols),
    }
    function = Function("f", {"A": symbols}, results)
    cases = [rng.normal(size=(n, n)) for _ in range(20)]
    for A in cases[5:10]:
        A[0, 0] = 0.0
        A[: n // 2, : n // 2] = 0.0
    cases += [np.eye(n)[rng.permutation(n)] for _ in range(10)]
    cases += [np.eye(n)[::-1] * rng.normal(size=n), np.triu(cases[0]), np.tril(cases[1]), -np.eye(n)]
    cases += [cases[0] * 10.0 ** rng.integers(-4, 5, n)]
    cases += [np.where(np.eye(n) > 0.0, 1e-20, cases[2])] if n > 1 else []
    solved = 0
    for A in cases:
        x, X, inverse, det = function(A)
        np.testing.assert_allclose(det, np.linalg.det(A), rtol=1e-9, atol=1e-13 * np.abs(A).max() ** n)
        if np.linalg.cond(A) < 1e9:
            solved += 1
            np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(inverse, np.linalg.inv(A), rtol=1e-6, atol=1e-9)
    assert solved > 25


def test_pivots_are_as_good_as_numpys():
    """Small leading entries, which would be bad pivots, cost no digits."""
    symbols, rng = matrix_of_symbols(5), np.random.default_rng(0)
    function = Function("f", {"A": symbols}, {"x": sym.solve(symbols, np.ones(5))})
    for _ in range(20):
        A = rng.normal(size=(5, 5))
        A[0, 0] *= 1e-12
        A[1] = A[0] + 1e-3 * A[1]
        x = function(A)
        assert (np.abs(A @ x - 1.0) < 1e-14 * (np.abs(A) @ np.abs(x) + 1.0)).all()


def test_numbers_choose_their_pivots_at_once():
    assert sym.solve([[1, 2], [0, 1]], [1, 1]).tolist() == [-1.0, 1.0]
    assert sym.det([[2, 5], [1, 1]]) == -3.0
    np.testing.assert_allclose(sym.inverse([[0, 2], [4, 0]]).astype(float), [[0, 0.25], [0.5, 0]])
    x = Graph().symbol("x")
    triangular = sym.solve([[0, 2], [x, 1]], [4, 5])
    assert repr(triangular[0]) == repr((5 - 2.0) / x)  # no choice is recorded
    assert triangular[1] == 2.0


def test_derivatives_of_a_determinant_where_it_vanishes():
    symbols = matrix_of_symbols(3)
    gradient = sym.gradient(sym.det(symbols), symbols)
    A = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    cofactors = np.array([[np.linalg.det(np.delete(np.delete(A, i, 0), j, 1)) * (-1) ** (i + j) for j in range(3)]
                          for i in range(3)])  # fmt: skip
    np.testing.assert_allclose(evaluate({"g": gradient}, symbols, A), cofactors, atol=1e-14)
    assert evaluate({"d": sym.det(symbols)}, symbols, A) == 0.0


def test_derivatives_of_a_solution():
    symbols, rng = matrix_of_symbols(3), np.random.default_rng(1)
    function = Function("f", {"A": symbols}, {"J": sym.jacobian(sym.solve(symbols, [1.0, 2.0, 3.0]), symbols)})
    for A in (rng.normal(size=(3, 3)), np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])):
        x, inverse = np.linalg.solve(A, [1.0, 2.0, 3.0]), np.linalg.inv(A)
        np.testing.assert_allclose(function(A), -np.einsum("ij,k->ijk", inverse, x), atol=1e-10)


@pytest.mark.parametrize("n", [3, 9])
def test_determinants_of_singular_matrices_are_zero(n):
    symbols = matrix_of_symbols(n)
    function = Function("f", {"A": symbols}, {"det": sym.det(symbols)})
    A = np.arange(1.0, n + 1.0)[:, None] * np.eye(n)
    A[1] = 0.0
    for singular in (np.zeros((n, n)), A, A.T, np.ones((n, n))):
        assert function(singular) == 0.0


def test_singular_whatever_the_symbols_are(v):
    x, y, z = v
    for A, column in (
        (np.zeros((2, 2)), 1),
        ([[x, 0], [y, 0]], 2),
        ([[0.1, 0.2], [0.3, 0.6]], 2),
        ([[x, 1, y], [0, 0, z], [0, 0, 1]], 2),
        ([[1, 2, x], [2, 4, y], [3, 6, z]], 2),
    ):
        message = rf"A must be invertible, got .* singular for all values of its symbols: column {column} depends on"
        with pytest.raises(ThunderError, match=message):
            sym.inverse(A)
        assert abs(value(sym.det(A), v)) < 1e-15
    assert not np.isfinite(value(sym.solve([[x, 1], [1, x]], [1, 1]), v, at=(1.0, 0.0, 0.0))).all()
    with pytest.raises(ValueError, match=r"assume_a must be one of gen, pos, got 'sym'"):
        sym.solve(np.eye(2), [1, 1], assume_a="sym")


def test_linear_algebra_of_positive_definite_matrices():
    symbols = matrix_of_symbols(4)
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    A = root @ root.T + np.eye(4)
    b, B = rng.normal(size=4), rng.normal(size=(4, 2))
    solved = {"x": sym.solve(symbols, b, assume_a="pos"), "X": sym.solve(symbols, B, assume_a="pos")}
    others = {"inverse": sym.inverse(symbols, assume_a="pos"), "det": sym.det(symbols, assume_a="pos")}
    x, X, inverse, det = Function("f", {"A": symbols}, {**solved, **others})(A)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    np.testing.assert_allclose(A @ X, B, atol=1e-12)
    np.testing.assert_allclose(A @ inverse, np.eye(4), atol=1e-12)
    assert det == pytest.approx(np.linalg.det(A), rel=1e-12)
    assert_refused(
        (lambda: sym.inverse(symbols[:, :3]), "A must be a square matrix, got shape (4, 3)..."),
        (lambda: sym.det(symbols[:, :3]), "A must be a square matrix, got shape (4, 3)..."),
        (lambda: sym.solve(symbols[0], b), "A must be a square matrix, got shape (4,)..."),
        (lambda: sym.solve(symbols, b[:3]), "b must have 4 rows, got shape (3,)..."),
    )


def test_two_models_do_not_mix():
    first, second = (th.Robot.load("elbow").symbolic() for _ in range(2))
    x, y = first.q[0], second.q[0]
    for mix in (
        lambda: x + y,
        lambda: x * y,
        lambda: x < y,
        lambda: sym.arctan2(x, y),
        lambda: sym.where(x, y, 1.0),
        lambda: first.q @ second.q,
        lambda: first.mass_matrix(second.q),
        lambda: sym.jacobian(x, second.q),
        lambda: Function("f", {"q": first.q}, {"r": y}),
        lambda: first.function("f", y),
    ):
        with pytest.raises(ValueError, match="different models cannot be combined"):
            mix()
    assert x != y
    assert str(x) == str(y) == "q[0]"


def test_refuses_what_is_no_number(v):
    x = v[0]
    for wrong in ("1", None, [], 1j):
        with pytest.raises(TypeError):
            x + wrong
    with pytest.raises(TypeError, match="expected an expression or a number, got 'a'"):
        sym.where("a", x, x)


def test_arguments_and_results_of_functions(v):
    x, y, z = v
    assert_refused(
        (lambda: Function("f", {"v": [x, y]}, {"r": x + z}), "...f depends on the symbol z, which is none of its a..."),
        (lambda: Function("f", {"v": [x, 2 * y]}, {"r": x}), "...argument 'v' of f must consist of symbols..."),
        (lambda: Function("f", {"v": [x, y], "w": [x]}, {"r": x}), "...symbol x appears twice among the arguments ..."),
        (lambda: Function("f g", {"v": v}, {"r": x}), "...function name must be an identifier..."),
        (lambda: Function("f", {"v[0]": v}, {"r": x}), "...argument name must be an identifier..."),
        (lambda: Function("f", {"v": v}, {"": x}), "...result name must be an identifier..."),
        (lambda: Function("f", {"v": v}, {"r": "one"}), "...expected an expression or a number, got 'one'..."),
    )


def test_calls(v):
    x, y, z = v
    f = Function("f", {"v": [x, y], "w": z}, {"a": x + y, "b": [x * z, z]})
    assert f.argument_names == ("v", "w")
    assert f.argument_shapes == ((2,), ())
    assert f.result_shapes == ((), (2,))
    a, b = f([[1, 2], [3, 4]], np.ones((5, 1)))
    assert a.shape == (5, 2)
    assert b.shape == (5, 2, 2)
    assert a[0].tolist() == [3.0, 7.0]
    assert_refused(
        (lambda: f([1, 2]), "...f() takes 2 arguments (v, w), got 1...", TypeError),
        (lambda: f([1, 2], w=2), "...f() got an unexpected argument w...", TypeError),
        (lambda: f([1, 2, 3], 1), "...v must have shape..."),
        (lambda: f([1, 2], 1, out=np.zeros(2)), "...out must be None for a function of several results, f has 2..."),
    )
    assert "f(v[2], w[]) -> a[], b[2], 2 operations" in repr(f)


def test_out(v):
    f = Function("f", {"v": v}, {"r": 2 * v})
    out = np.empty((4, 3))
    result = f(np.ones((4, 3)), out=out)
    assert result is out
    assert (out == 2.0).all()
    assert_refused(
        (lambda: f(out, out=out), "...out must not overlap the argument v..."),
        (lambda: f(np.ones((4, 3)), out=np.empty((3, 3))), "...out..."),
        (lambda: f([np.inf, 0, 0]), "...finite..."),
    )


def test_empty_batches_and_functions_without_arguments(v):
    f = Function("f", {"v": v}, {"r": v})
    assert f(np.empty((0, 3))).shape == (0, 3)
    constant = Function("c", {}, {"r": [1.0, 2.0]})
    assert constant().tolist() == [1.0, 2.0]
    assert constant.operation_count == 0


def test_ports_by_name(v):
    x, y, z = v
    f = Function("f", {"v": [x, y], "w": z}, {"a": x + y, "b": x * z})
    assert_refused(
        (lambda: f.jacobian("v"), "...f has several results; name one of a, b..."),
        (lambda: f.jacobian("u", "a"), "...f has no argument 'u'..."),
        (lambda: f.sparsity("v", "c"), "...f has no result 'c'..."),
    )
    assert f.sparsity("v", "b").tolist() == [True, False]
    assert f.jacobian("w", "b")([2.0, 0.0], 5.0) == 2.0
    assert f.hessian("v", "b").result_shapes == ((2, 2),)


def test_substitute(v):
    x, y, z = v
    f = Function("f", {"v": [x, y], "w": z}, {"a": x + y, "b": x * z})
    inside = f.substitute(v=[z, 1.0], w=x * y)
    assert inside["a"] == z + 1
    assert inside["b"] == z * (x * y)
    numbers = f.substitute(v=[1.0, 2.0], w=4)
    assert (float(numbers["a"]), float(numbers["b"])) == (3.0, 4.0)
    other = Graph().symbol("other")
    assert f.substitute(v=[other, other], w=other)["a"] == 2 * other
    assert_refused(
        (lambda: f.substitute(v=[x, y]), "...f needs the argument 'w'..."),
        (lambda: f.substitute(v=[x, y], u=z), "...f has no argument 'u'..."),
        (lambda: f.substitute(v=v, w=z), "...v must have shape (2,), got (3,)..."),
    )


def test_expressions_keep_their_graph():
    def energy():
        model = th.Robot.load("elbow").symbolic()
        return model.kinetic_energy(), model.q, model.dq

    T, q, dq = energy()
    gc.collect()
    f = Function("T", {"q": q, "dq": dq}, {"T": T + 0.5})
    robot = th.Robot.load("elbow")
    assert f([0.1, 0.2], [1, 2]) == pytest.approx(robot.kinetic_energy([0.1, 0.2], [1, 2]) + 0.5, rel=1e-14)
    del T, q, dq
    gc.collect()
    assert f([0.1, 0.2], [0, 0]) == pytest.approx(0.5)
