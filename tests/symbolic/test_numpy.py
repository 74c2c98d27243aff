"""Expressions among numbers and NumPy arrays; what does not work says why; lifetime and threads."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import thunder_py as th
from thunder_py import symbolic as sym
from thunder_py._core import Expression, Graph
from thunder_py.errors import ModelError, UnknownNameError
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
    with pytest.raises(TypeError, match=r"no truth value: choose with thunder_py\.symbolic\.where"):
        bool(x < y)
    with pytest.raises(TypeError, match=r"no truth value"):
        max(x, y)
    with pytest.raises(TypeError, match="no number before it is evaluated: make a Function of it"):
        float(x)
    with pytest.raises(TypeError, match="make a Function of it"):
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


def test_numpys_linear_algebra_is_not_for_objects(v):
    A = np.outer(v, v) + np.eye(3)
    for function in (np.linalg.inv, np.linalg.det, np.linalg.cholesky):
        with pytest.raises(TypeError, match=r"Cannot cast|array type object"):
            function(A)


def test_linear_algebra_of_ours():
    graph = Graph()
    symbols = np.array([[graph.symbol(f"a{i}{j}") for j in range(4)] for i in range(4)])
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    A = root @ root.T + np.eye(4)
    b, B = rng.normal(size=4), rng.normal(size=(4, 2))
    results = {
        "x": sym.solve(symbols, b),
        "X": sym.solve(symbols, B),
        "inverse": sym.inverse(symbols),
        "det": sym.det(symbols),
    }
    x, X, inverse, det = Function("f", {"A": symbols}, results)(A)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    np.testing.assert_allclose(A @ X, B, atol=1e-12)
    np.testing.assert_allclose(A @ inverse, np.eye(4), atol=1e-12)
    assert det == pytest.approx(np.linalg.det(A), rel=1e-12)
    for function in (sym.inverse, sym.det):
        with pytest.raises(ModelError, match=r"A must be a square matrix, got shape \(4, 3\)"):
            function(symbols[:, :3])
    with pytest.raises(ModelError, match=r"A must be a square matrix, got shape \(4,\)"):
        sym.solve(symbols[0], b)
    with pytest.raises(ModelError, match=r"b must have 4 rows, got shape \(3,\)"):
        sym.solve(symbols, b[:3])


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
        with pytest.raises(ValueError, match="different models do not mix"):
            mix()
    assert x != y
    assert str(x) == str(y) == "q[0]"


def test_text(v):
    x, y, _ = v
    assert str(x + 2 * y) == "(x + (y*2))"
    assert repr(-sym.sin(x)) == "-sin(x)"
    assert str(x * 0.1 + 1e-300) == "((x*0.1) + 1e-300)"
    long = x
    for _ in range(200):
        long = sym.sin(long + y)
    assert str(long) == "<sin expression>"
    assert (x.operation, x.name, x.operands, x.is_constant) == ("symbol", "x", (), False)
    assert (x * y).operands == (x, y)
    assert (x * y).name is None
    assert (x * 0).operation == "constant"
    assert (x * 0).graph is None


def test_refuses_what_is_no_number(v):
    x = v[0]
    for wrong in ("1", None, [], 1j):
        with pytest.raises(TypeError):
            x + wrong
    with pytest.raises(TypeError, match="expected an expression or a number, got 'a'"):
        sym.where("a", x, x)


# --- functions --------------------------------------------------------------------------------------------------------


def test_arguments_and_results_of_functions(v):
    x, y, z = v
    with pytest.raises(ModelError, match="f depends on the symbol z, which is none of its arguments"):
        Function("f", {"v": [x, y]}, {"r": x + z})
    with pytest.raises(ModelError, match="argument 'v' of f must consist of symbols"):
        Function("f", {"v": [x, 2 * y]}, {"r": x})
    with pytest.raises(ModelError, match="symbol x stands twice among the arguments of f"):
        Function("f", {"v": [x, y], "w": [x]}, {"r": x})
    with pytest.raises(ModelError, match="function name must be an identifier"):
        Function("f g", {"v": v}, {"r": x})
    with pytest.raises(ModelError, match="argument name must be an identifier"):
        Function("f", {"v[0]": v}, {"r": x})
    with pytest.raises(ModelError, match="result name must be an identifier"):
        Function("f", {"v": v}, {"": x})
    with pytest.raises(ModelError, match="expected an expression or a number, got 'one'"):
        Function("f", {"v": v}, {"r": "one"})


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
    with pytest.raises(TypeError, match=r"f\(\) takes 2 arguments \(v, w\), got 1"):
        f([1, 2])
    with pytest.raises(TypeError, match=r"f\(\) got an unexpected argument w"):
        f([1, 2], w=2)
    with pytest.raises(ValueError, match="v must have shape"):
        f([1, 2, 3], 1)
    with pytest.raises(ValueError, match="out= is for functions of one result, f has 2"):
        f([1, 2], 1, out=np.zeros(2))
    assert "f(v[2], w[]) -> a[], b[2], 2 operations" in repr(f)


def test_out(v):
    f = Function("f", {"v": v}, {"r": 2 * v})
    out = np.empty((4, 3))
    result = f(np.ones((4, 3)), out=out)
    assert result is out
    assert (out == 2.0).all()
    with pytest.raises(ValueError, match="out must not overlap the argument v"):
        f(out, out=out)
    with pytest.raises(ValueError, match="out"):
        f(np.ones((4, 3)), out=np.empty((3, 3)))
    with pytest.raises(ValueError, match="finite"):
        f([np.inf, 0, 0])


def test_empty_batches_and_functions_without_arguments(v):
    f = Function("f", {"v": v}, {"r": v})
    assert f(np.empty((0, 3))).shape == (0, 3)
    constant = Function("c", {}, {"r": [1.0, 2.0]})
    assert constant().tolist() == [1.0, 2.0]
    assert constant.operation_count == 0


def test_ports_by_name(v):
    x, y, z = v
    f = Function("f", {"v": [x, y], "w": z}, {"a": x + y, "b": x * z})
    with pytest.raises(ModelError, match="f has several results; name one of a, b"):
        f.jacobian("v")
    with pytest.raises(UnknownNameError, match="f has no argument 'u'"):
        f.jacobian("u", "a")
    with pytest.raises(UnknownNameError, match="f has no result 'c'"):
        f.sparsity("v", "c")
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
    with pytest.raises(ModelError, match="f needs the argument 'w'"):
        f.substitute(v=[x, y])
    with pytest.raises(UnknownNameError, match="f has no argument 'u'"):
        f.substitute(v=[x, y], u=z)
    with pytest.raises(ModelError, match=r"v must have shape \(2,\), got \(3,\)"):
        f.substitute(v=v, w=z)


# --- lifetime, threads ------------------------------------------------------------------------------------------------


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


def test_one_function_in_many_threads():
    robot = th.Robot.load("panda")
    model = robot.symbolic()
    f = model.function("M", model.mass_matrix())
    q = np.random.default_rng(0).normal(size=(8, 50, 7))
    results = [None] * 8

    def work(k):
        for _ in range(20):
            results[k] = f(q[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        np.testing.assert_allclose(results[k], robot.mass_matrix(q[k]), rtol=0, atol=1e-13)
