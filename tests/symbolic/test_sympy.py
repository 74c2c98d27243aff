import builtins
import sys

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from tests.symbolic.test_derivatives import OPERATIONS
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.symbolic.names import readable_names

sympy = pytest.importorskip("sympy")


@pytest.fixture(scope="module")
def elbow():
    """The paper's arm: lengths, the vertical component of gravity and the parameters of the links are symbols."""
    return th.Robot.load("elbow").symbolic(inertial=True, dh=[1, 0, 0, 0] * 2, gravity=[0, 1, 0])


def lambdified(form, names):
    return sympy.lambdify([sympy.Symbol(name, real=True) for name in names], form, "numpy")


def is_zero(x):
    return sympy.simplify(sympy.expand_trig(x).expand()) == 0


def test_reduced_regressor(elbow):
    """Section 5.2: twelve zero columns, a regressor of 2 x 8, and its parameters."""
    table = elbow.regressor_table()
    influential = ("m", "mcx", "mcy", "Izz")
    assert table.reduced_names == tuple(f"link{i}.{key}" for i in (1, 2) for key in influential)
    silent = ("mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz")
    assert table.zero_names == tuple(f"link{i}.{key}" for i in (1, 2) for key in silent)
    assert table.reduced.shape == (2, 8)
    np.testing.assert_array_equal(table.reduced_parameters, elbow.robot.parameters[~table.zero])


def test_dependent_columns(elbow):
    table = elbow.regressor_table()
    robot = elbow.robot
    state = np.random.default_rng(1).normal(size=(4, 6, 2))
    Y = robot.slotine_li_regressor(*state)
    column = {name: Y[..., k] for k, name in enumerate(robot.parameter_names)}
    assert len(table.base) == 6
    assert len(table.dependent) == 2
    assert set(table.base) | set(table.dependent) == set(table.reduced_names)
    for name, combination in table.dependent.items():
        total = sum(factor * column[other] for other, factor in combination.items())
        np.testing.assert_allclose(total, column[name], atol=1e-12)
    # m_1 a_1 (a_1 ddq + g c_1) = a_1 (column of m_1 c_x1) - a_1^2 (column of I_zz1), whatever the length
    Y_s = elbow.to_sympy(elbow.slotine_li_regressor())
    a1 = sympy.Symbol("a1", real=True)
    assert is_zero(Y_s[0, 0] - a1 * Y_s[0, 1] + a1**2 * Y_s[0, 9])


def test_table_of_an_arm_with_drives():
    robot = random_robot(2, 3, "modified", friction=True, rotors=True, armature=True)
    table = robot.symbolic().regressor_table("regressor")
    assert table.entries.shape == (3, robot.p)
    assert table.names == robot.parameter_names
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 5, 3))
    Y = robot.regressor(q, dq, ddq)
    assert (Y[..., table.zero] == 0.0).all()
    np.testing.assert_allclose(Y[..., ~table.zero] @ table.reduced_parameters, Y @ robot.parameters, atol=1e-10)


@pytest.mark.parametrize("name", ["cart_pendulum", "scara", "elbow"])
@pytest.mark.parametrize("simplify", [False, True])
def test_values(name, simplify):
    robot = th.Robot.load(name)
    model = robot.symbolic(inertial=True)
    q, pi = np.linspace(0.4, -1.0, robot.n), robot.inertial.ravel()
    names = [x.text for key in ("q", "par_REG") for x in readable_names(model)[key]]
    for quantity in ("mass_matrix", "gravity_vector", "forward_kinematics", "jacobian"):
        form = model.to_sympy(model.quantity(quantity), simplify=simplify)
        value = np.asarray(lambdified(form, names)(*q, *pi), dtype=float)
        expected = getattr(robot, quantity)(q)
        np.testing.assert_allclose(value.reshape(expected.shape), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_every_operation(name):
    function, _, points = OPERATIONS[name]
    model = th.Robot.load("elbow").symbolic()
    symbols = model.q if isinstance(points[0], tuple) else model.q[:1]
    expression = function(*symbols)
    form = model.to_sympy(expression)
    f = model.function("f", expression, ["q"])
    for point in points:
        values = list(np.atleast_1d(point))
        substitution = {sympy.Symbol(f"q{k + 1}", real=True): sympy.Float(x, 30) for k, x in enumerate(values)}
        expected = f([*values, 0.0][:2])
        assert float(form.subs(substitution)) == pytest.approx(expected, rel=1e-14)


def test_shapes(elbow):
    model = elbow
    assert isinstance(model.to_sympy(model.kinetic_energy()), sympy.Expr)
    assert model.to_sympy(model.gravity_vector()).shape == (2, 1)
    assert model.to_sympy(model.mass_matrix()).shape == (2, 2)
    tensor = model.to_sympy(model.christoffel_symbols())
    assert isinstance(tensor, sympy.ImmutableDenseNDimArray)
    assert tensor.shape == (2, 2, 2)
    f = model.function("f", {"U": model.potential_energy(), "G": model.gravity_vector()})
    both = model.to_sympy(f)
    assert set(both) == {"U", "G"}
    q = [sympy.Symbol(f"q{k}", real=True) for k in (1, 2)]
    for k in range(2):
        assert is_zero(sympy.diff(both["U"], q[k]) - both["G"][k])


def test_numbers_are_exact_where_they_are_short():
    model = th.Robot.load("elbow").symbolic()
    q1 = sympy.Symbol("q1", real=True)
    assert model.to_sympy(0.75 * model.q[0]) == sympy.Rational(3, 4) * q1
    assert model.to_sympy(0.1 * model.q[0]).has(sympy.Float)
    assert model.to_sympy([1.0, 0.0])[0] == 1
    assert model.to_sympy(model.q[0] * 0 + np.inf) == sympy.oo


def test_outlined_models():
    robot = th.Robot.load("scara")
    form = robot.symbolic(outline=True)
    plain = robot.symbolic()
    outlined = form.to_sympy(form.potential_energy())
    assert form.function("U", form.potential_energy()).call_count > 0
    assert sympy.simplify(outlined - plain.to_sympy(plain.potential_energy())) == 0


def test_latex(elbow):
    assert elbow.latex(elbow.mass_matrix()[1, 1]) == (r"I_{zz2} + a_{2} \left(a_{2} m_{2} + 2 {mc}_{x2}\right)")
    assert elbow.latex("gravity_vector").startswith(r"\left[\begin{matrix}")
    q = elbow.q
    assert elbow.latex(np.sin(q[0]) ** 2) == "s_{1}^{2}"
    assert elbow.latex(np.cos(q[0] + q[1]) * elbow.dq[0]) == r"\dot{q}_{1} c_{12}"
    assert elbow.latex(np.cos(2 * q[0])) == r"\cos{\left(2 q_{1} \right)}"
    assert elbow.latex(np.sin(elbow.dq[0]) ** 2, simplify=False) == r"\sin^{2}{\left(\dot{q}_{1} \right)}"
    assert elbow.latex(elbow.function("f", 2 * q[0])) == "2 q_{1}"
    long = random_robot(1, 11, "modified").symbolic()
    assert long.latex(np.sin(long.q[0] + long.q[10])) == "s_{1,11}"
    with pytest.raises(UnknownNameError, match=r"no quantity is called 'mas_matrix'; did you mean 'mass_matrix'\?"):
        elbow.latex("mas_matrix")
    with pytest.raises(ThunderError, match=r"f has several results \(a, b\); write them one by one"):
        elbow.latex(elbow.function("f", {"a": q[0], "b": q[1]}))


@pytest.mark.parametrize("package", ["sympy", "casadi"])
def test_without_the_package(elbow, package, monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name == package or name.startswith(f"{package}."):
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *arguments, **options)

    monkeypatch.setattr("importlib.import_module", lambda name: missing(name))
    monkeypatch.delitem(sys.modules, package, raising=False)
    convert = elbow.to_sympy if package == "sympy" else elbow.to_casadi
    with pytest.raises(
        ModuleNotFoundError, match=rf"{package} is not installed.*pip install \"thunder_py\[symbolic\]\""
    ):
        convert(elbow.q)
