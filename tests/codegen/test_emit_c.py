"""C source of recorded functions: the same numbers as the interpreter, from every compiler, without a warning."""

import re
import subprocess

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from tests.refusals import assert_refused
from thunder_py import _core
from thunder_py import symbolic as sym
from thunder_py.symbolic import Function, SymbolicModel

from .c_code import LANGUAGES, STRICT, Compiled, core_function, language, symbols

every_compiler = pytest.mark.parametrize(
    "compiler", [name if name == "gcc" else pytest.param(name, marks=pytest.mark.release) for name in LANGUAGES]
)


def every_operation() -> _core.Function:
    """All operations, on arguments in (0, 1): the unary ones with a sign in front, the others nested on either side."""
    g = _core.Graph()
    x = symbols("x", 4, g)
    a, b, c, d = x
    unary = [sym.sqrt, sym.sin, sym.cos, sym.tan, sym.arcsin, sym.arccos, sym.exp, sym.log, sym.tanh, abs, sym.sign]
    results = [
        -a,
        -(a + b),
        *(f(a) for f in unary),
        *(-f(b * c) + d for f in unary if f is not sym.log),
        sym.log(b * c),
    ]
    results += [a + (b + c), a - (b - c), a - (b + c), (a - b) - c, a * (b * c), a / (b / c), a / (b * c), (a / b) * c]
    results += [a - (-b) * c, (-a) * (-b), (-a) / b, -(a / b) - c, -a - b, (a + b) * (c - d), (a - 2.0) * -3.0, 5.0 / a]
    results += [sym.arctan2(a, -b), a**2.5, a**b, a**3, a**-2, sym.where(a < b, a, -b), sym.where(a <= b, a + b, c * d)]
    results += [
        sym.where(a * b < c, 1.0, 2.0) / 4.0,
        sym.where(a, b, c),
        1e-30 * a,
        123456789.0 * b,
        a + 1e5,
        abs(a - b),
    ]
    results += [sym.sin(sym.sin(a) + b), sym.cos(sym.sin(a) + b), sym.sin(a + 0.25), sym.cos(2.0 * a - b)]
    results += [(a < b) * 3.0 if not isinstance(a < b, bool) else a, sym.where(a < b, c, d) * 2.0]
    return core_function("every", {"x": x}, {"y": np.array(results, dtype=object)})


@every_compiler
def test_every_operation(compiler, tmp_path):
    f = every_operation()
    compiled = Compiled([f], tmp_path, compiler)
    for x in np.random.default_rng(1).uniform(0.05, 0.95, (20, 4)):
        np.testing.assert_allclose(compiled.call("every", x), f(x), rtol=1e-14, atol=3e-16)


@every_compiler
def test_every_operation_in_float(compiler, tmp_path):
    f = every_operation()
    compiled = Compiled([f], tmp_path, compiler, scalar="float")
    assert not re.search(r"\bdouble\b", compiled.source)
    literals = re.findall(
        r"(?<![\w.])\d+\.\d*(?:e-?\d+)?f?|(?<![\w.])\d+e-?\d+f?", compiled.source.split("void every")[1]
    )
    assert literals
    assert all(text.endswith("f") for text in literals)
    assert not re.search(r"\b(sqrt|tan|exp|log|atan2|pow|fabs|sin|cos)\(", compiled.source)
    for x in np.random.default_rng(1).uniform(0.3, 0.7, (20, 4)).astype(np.float32):
        np.testing.assert_allclose(compiled.call("every", x), f(x.astype(float)), rtol=1e-5, atol=2e-6)


def quantities(robot: th.Robot) -> list[Function]:
    m = SymbolicModel(robot)
    q, dq, ddq = m.q, m.dq, m.ddq
    return [
        Function("mass", {"q": q}, {"M": m.mass_matrix()}),
        Function("coriolis", {"q": q, "dq": dq}, {"C": m.coriolis_matrix(), "G": m.gravity_vector()}),
        Function("inverse", {"q": q, "dq": dq, "ddq": ddq}, {"tau": m.inverse_dynamics()}),
        Function("regressor", {"q": q, "dq": dq, "ddq": ddq}, {"Y": m.regressor()}),
        Function("pose", {"q": q}, {"T": m.forward_kinematics()}),
    ]


@every_compiler
@pytest.mark.parametrize("name", [pytest.param("panda", marks=pytest.mark.release), "scara"])
def test_robot_single_batched_and_packed(name, compiler, tmp_path):
    robot = th.Robot.load(name)
    functions = quantities(robot)
    compiled = Compiled(functions, tmp_path, compiler, batch=True, packed=True)
    rng = np.random.default_rng(2)
    for f in functions:
        x = [rng.uniform(-2.0, 2.0, (5, robot.n)) for _ in f.argument_names]
        interpreted = f(*x)
        batched = compiled.call(f.name, *x, suffix="_batch", count=5)
        for k in range(5):
            single, packed = (compiled.call(f.name, *(v[k] for v in x), suffix=s) for s in ("", "_packed"))
            for r in range(len(f.result_names)):
                a, b, c, d = (v[r] if len(f.result_names) > 1 else v for v in (single, packed, batched, interpreted))
                np.testing.assert_allclose(a, d[k], rtol=1e-13, atol=1e-13 * max(1.0, np.abs(d).max()))
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(a, c[k])


@every_compiler
def test_empty_constant_and_copied_results(compiler, tmp_path):
    g = _core.Graph()
    x, unused = symbols("x", 2, g), symbols("u", 3, g)
    nothing = np.empty((0, 3), dtype=object)
    zeros = np.zeros((3, 5))
    zeros[1, 2] = -2.5
    zeros[2, 4] = 1e-9
    functions = [
        core_function("constants", {"unused": unused, "none": nothing}, {"Z": zeros, "E": nothing, "i": np.inf}),
        core_function("copies", {"x": x}, {"y": [x[1], x[0], -x[0], x[1], 0.0, x[1]], "z": x[0]}),
        core_function("nothing", {}, {}),
        core_function("alone", {}, {"pi": np.pi}),
    ]
    compiled = Compiled(functions, tmp_path, compiler, batch=True, packed=True)
    Z, _, infinite = compiled.call("constants", np.ones(3), np.empty((0, 3)))
    np.testing.assert_array_equal(Z, zeros)
    assert infinite == np.inf
    y, z = compiled.call("copies", [3.0, 4.0])
    np.testing.assert_array_equal(y, [4.0, 3.0, -3.0, 4.0, 0.0, 4.0])
    assert z == 3.0
    assert compiled.call("alone") == np.pi
    assert compiled.call("alone", suffix="_packed") == np.pi
    np.testing.assert_array_equal(compiled.call("alone", suffix="_batch", count=3), np.full(3, np.pi))
    compiled.call("nothing", suffix="_packed")


@pytest.mark.parametrize("scalar", ["double", "float"])
@every_compiler
@pytest.mark.parametrize("size", [1, 3, 7])
def test_sine_and_cosine_of_many_angles(size, compiler, scalar, tmp_path):
    g = _core.Graph()
    x = symbols("x", size, g)
    f = core_function("f", {"x": x}, {"s": sym.sin(x), "c": sym.cos(x)})
    compiled = Compiled([f], tmp_path, compiler, ["-O3"], scalar=scalar)
    rng = np.random.default_rng(3)
    multiples = np.arange(-40, 41) * np.pi / 2
    angles = np.concatenate([rng.uniform(-7, 7, 300), rng.uniform(-4e3, 4e3, 300), multiples, multiples + 1e-9])
    if scalar == "double":
        angles = np.concatenate([angles, rng.uniform(-9e4, 9e4, 200), [1e5, 3e7, -1e15, 1e300, 1e-300, 5e-324]])
    angles = np.append(angles, np.zeros(-len(angles) % size)).astype(compiled.dtype)
    tolerance = 4e-16 if scalar == "double" else 2e-7
    for x in angles.reshape(-1, size):
        s, c = compiled.call("f", x)
        np.testing.assert_allclose(s, np.sin(x.astype(float)), rtol=0, atol=tolerance)
        np.testing.assert_allclose(c, np.cos(x.astype(float)), rtol=0, atol=tolerance)


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_fast_math_falls_back_on_the_library(scalar, tmp_path):
    g = _core.Graph()
    x = symbols("x", 3, g)
    f = core_function("f", {"x": x}, {"s": sym.sin(x), "c": sym.cos(x)})
    s, c = Compiled([f], tmp_path, "gcc", ["-ffast-math"], scalar=scalar).call("f", [0.3, -2.0, 5.0])
    np.testing.assert_allclose(s, np.sin([0.3, -2.0, 5.0]), atol=3e-7)
    np.testing.assert_allclose(c, np.cos([0.3, -2.0, 5.0]), atol=3e-7)


def test_not_a_number_in_not_a_number_out(tmp_path):
    compiled = Compiled(quantities(th.Robot.load("panda"))[:1], tmp_path)
    for bad in (np.nan, np.inf, -np.inf, 1e308):
        q = np.full(7, 0.3)
        q[3] = bad
        M = compiled.call("mass", q)
        assert np.isfinite(M[6, 6])  # of the last link alone
        assert np.isnan(M[0, 0]) == (not np.isfinite(bad))


def test_sines_and_cosines_stand_in_one_call(tmp_path):
    g = _core.Graph()
    q, p = symbols("q", 4, g), g.symbol("p")
    y = sym.sin(q[1:]).sum() * sym.cos(q[2]) + sym.sin(p + 0.5)
    one = core_function("one", {"q": q}, {"y": sym.sin(q[1:]).sum() * sym.cos(q[2])})
    two = core_function("two", {"q": q, "p": p}, {"y": y})
    for f, call in ((one, "thunder_sincos(3, q + 1, "), (two, "thunder_sincos(4, vx, ")):
        body = Compiled([f], tmp_path).source.split(f"void {f.name}(")[1]
        assert body.count("thunder_sincos(") == 1
        assert call in body
        assert not re.search(r"\b(sin|cos)\(", body)


def optimizations(compiler, most):
    """Flags to compile with; optimizers are those of the C compiler also for C++."""
    return ([], ["-DTHUNDER_NO_AVX"], *(() if compiler.endswith("++") else (["-O0"], most)))


@pytest.mark.release
@pytest.mark.parametrize("compiler", LANGUAGES)
def test_long_functions_with_and_without_avx(compiler, tmp_path):
    m = SymbolicModel(th.Robot.load("panda"))
    f = Function("f", {"q": m.q, "dq": m.dq, "ddq": m.ddq}, {"Y": m.regressor()})
    assert 1100 < f.operation_count < 1800
    x = np.random.default_rng(6).normal(size=(3, 7))
    results = []
    for k, flags in enumerate(optimizations(compiler, ["-O3", "-flto"])):
        (tmp_path / str(k)).mkdir()
        results.append(Compiled([f], tmp_path / str(k), compiler, flags).call("f", *x))
        np.testing.assert_allclose(results[k], results[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(results[0], f(*x), rtol=0, atol=1e-13)


@pytest.mark.parametrize("types", ["RPRP", *(pytest.param(t, marks=pytest.mark.release) for t in ("PRPR", "PPRR"))])
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_arguments_of_outlined_pieces_are_any_expressions(convention, types, tmp_path):
    """Such as -q[2] or 0.2 + q[1] at right angles: one such entry is no part of the array q."""
    dh = [[0, alpha, 0.2 * (k % 2), 0] for k, alpha in enumerate((np.pi / 2, -np.pi / 2, np.pi, np.pi / 2))]
    bodies = [[1, 0.1, 0.2, 0.3, 1, 0, 0, 1, 0, 1]] * 4
    robot = th.Robot.from_dh(dh, convention=convention, joint_types=types, inertial=bodies)
    model = SymbolicModel(robot, outline=True)
    names = ("mass_matrix", "regressor", "slotine_li_regressor", "mass_regressor", "mass_matrix_dot")
    functions = [model.function(f"f_{name}", model.quantity(name)) for name in names]
    compiled = Compiled(functions, tmp_path)
    assert all(f.call_count > 0 for f in functions)
    for f in functions:
        values = np.random.default_rng(5).normal(size=(len(f.arguments), 4))
        np.testing.assert_allclose(compiled.call(f.name, *values), f(*values), rtol=0, atol=1e-13, err_msg=f.name)


PIECES = ("regressor", "slotine_li_regressor", "mass_regressor", "coriolis_regressor", "gravity_regressor")


@pytest.mark.parametrize("scalar", ["double", pytest.param("float", marks=pytest.mark.release)])
@pytest.mark.parametrize("types", ["RRRR", "RPRP", pytest.param("PRPR", marks=pytest.mark.release)])
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_uniform_pieces(convention, types, scalar, tmp_path):
    """Axes at right angles, parallel and skew; link frames in place and beside the joint's."""
    alpha = (np.pi / 2, 0.0, 0.7, -np.pi / 2)
    dh = [[0.1 * k, alpha[k], 0.2 * (k % 2), 0.3 * k] for k in range(4)]
    bodies = [[1, 0.1, 0.2, 0.3, 1, 0.1, -0.2, 2, 0.1, 1.5]] * 4
    robot = th.Robot.from_dh(dh, convention=convention, joint_types=types, inertial=bodies)
    plain, pieces = (robot.symbolic(inertial=True, outline=outline) for outline in (False, "uniform"))
    names = (*PIECES, "inverse_dynamics", "forward_dynamics")
    f = [plain.function(name, plain.quantity(name)) for name in names]
    g = [pieces.function(name, pieces.quantity(name)) for name in names]
    assert all(function.call_count > 0 for function in g)
    compiled = Compiled(g, tmp_path, flags=["-O0"], scalar=scalar)
    rng = np.random.default_rng(8)
    for expected, function in zip(f, g, strict=True):
        assert list(function.arguments) == list(expected.arguments)
        values = [robot.inertial.ravel() if a == "par_REG" else rng.normal(size=4) for a in function.arguments]
        wanted = expected(*values)
        tolerance = (3e-13 if scalar == "double" else 3e-5) * max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(function(*values), wanted, rtol=0, atol=3e-13 * max(1.0, np.abs(wanted).max()))
        np.testing.assert_allclose(compiled.call(function.name, *values), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("seed", [7, 8])
def test_rotors_of_uniform_pieces(seed):
    robot = random_robot(seed, 5, "standard", friction=True, rotors=True, armature=True)
    assert (robot.joint_types == "PPPPP") == (seed == 7)  # whose regressors do not depend on q, which pieces would hide
    plain, pieces = (robot.symbolic(outline=outline) for outline in (False, "uniform"))
    for name in (*PIECES, "inverse_dynamics"):
        f, g = (model.function("f", model.quantity(name)) for model in (plain, pieces))
        assert list(g.arguments) == list(f.arguments)
        values = np.random.default_rng(9).normal(size=(len(f.arguments), 5))
        np.testing.assert_allclose(g(*values), f(*values), rtol=0, atol=1e-11, err_msg=name)


@pytest.mark.release
@pytest.mark.parametrize("compiler", LANGUAGES)
def test_pieces_with_and_without_avx(compiler, tmp_path):
    m = th.Robot.load("panda").symbolic(inertial=True, outline="uniform")
    Y, tau = m.function("Y", m.slotine_li_regressor()), m.function("tau", m.inverse_dynamics())
    rng = np.random.default_rng(6)
    values = [rng.normal(size=np.prod(shape)) for shape in Y.argument_shapes]
    others = [rng.normal(size=np.prod(shape)) for shape in tau.argument_shapes]
    for k, flags in enumerate(optimizations(compiler, ["-O3"])):
        (tmp_path / str(k)).mkdir()
        compiled = Compiled([Y, tau], tmp_path / str(k), compiler, flags)
        np.testing.assert_allclose(compiled.call("Y", *values), Y(*values), rtol=0, atol=1e-13)
        np.testing.assert_allclose(compiled.call("tau", *others), tau(*others), rtol=0, atol=1e-12)
    assert "THUNDER_FORM(thunder_part_regressor_row)" in compiled.source
    assert re.search(r"_row\)\(\w+ \+ 24, \w+, Y \+ 20\);", compiled.source)  # written where the results stand
    assert re.search(r"for \(int vk = 0; vk < 6; \+\+vk\) out\[vk \+ 4\] = a0\[vk \+ \d+\]\*a1", compiled.source)


@pytest.mark.release
@pytest.mark.parametrize(
    ("name", "most"), [("slotine_li_regressor", 0.6), ("regressor", 0.6), ("inverse_dynamics", 0.85)]
)
def test_pieces_make_code_small(name, most, tmp_path):
    """With all that a file holds besides."""
    command, sizes = language("gcc"), []
    for outline in (False, "uniform"):
        model = th.Robot.load("panda").symbolic(inertial=True, outline=outline)
        _, source = _core.emit_c([model.function("f", model.quantity(name))], header_name="")
        (tmp_path / "f.c").write_text(source)
        flags = ["-O3", "-DTHUNDER_NO_AVX", "-c", str(tmp_path / "f.c"), "-o", str(tmp_path / "f.o")]
        subprocess.run([*command, *flags], check=True)
        sizes.append((tmp_path / "f.o").stat().st_size)
    assert sizes[1] < most * sizes[0]


BAD_NAMES = {
    "keyword": ("double", "restrict", "class"),
    "C library": ("sin", "sqrtf", "main", "printf", "y1"),
    "reserved": ("_Bool", "_x", "a__b"),
    "not a C identifier": ("2fast", "", "a b", '"; rm -rf', "größe"),
    "longer": ("x" * 300,),
    "uses itself": ("thunder_sincos", "thunder_zeros", "THUNDER_ARRAY"),
}


def test_bad_function_names():
    x = symbols("x", 1, _core.Graph())
    emit = lambda name: _core.emit_c([core_function(name, {"x": x}, {"y": x})], header_name="f.h")  # noqa: E731
    for reason, names in BAD_NAMES.items():
        assert_refused(*((name, f"...{reason}...") for name in names), call=emit)


@pytest.mark.parametrize("name", ["double", "sin", "NAN", "M_PI", "_x", "2x", "a-b", "int", "this", "thunder_sign"])
@pytest.mark.parametrize("where", ["argument", "result"])
def test_bad_names_of_arguments_and_results(where, name):
    x = symbols("x", 1, _core.Graph())
    arguments, results = ({name: x}, {"y": x}) if where == "argument" else ({"x": x}, {name: x})
    with pytest.raises(ValueError, match=f"{where} of f '{re.escape(name)}'"):
        _core.emit_c([core_function("f", arguments, results)], header_name="f.h")


def test_names_that_clash():
    x = symbols("x", 1, _core.Graph())
    with pytest.raises(ValueError, match="name of another argument or result"):
        _core.emit_c([core_function("f", {"x": x}, {"x": x})], header_name="f.h")
    f, packed = (core_function(name, {"x": x}, {"y": x}) for name in ("f", "f_packed"))
    _core.emit_c([f, packed], header_name="f.h")
    with pytest.raises(ValueError, match="'f_packed' appears twice"):
        _core.emit_c([f, packed], header_name="f.h", packed=True)
    with pytest.raises(ValueError, match="'f' appears twice"):
        _core.emit_c([f, f], header_name="f.h")


@every_compiler
def test_ports_may_have_the_names_that_locals_would_have(compiler, tmp_path):
    g = _core.Graph()
    names = ["v1", "vs", "w", "count", "sample_count", "in", "out", "i", "n", "y0", "x", "s", "c", "k"]
    values = [g.symbol(name) for name in names]
    total = sum(sym.sin(v) * sym.cos(v) for v in values) * sum(values)
    f = core_function("f", dict(zip(names, values, strict=True)), {"v2": total, "vc": total * total})
    compiled = Compiled([f], tmp_path, compiler, batch=True, packed=True)
    x = np.random.default_rng(5).normal(size=len(names))
    np.testing.assert_allclose(compiled.call("f", *x), f(*x), rtol=1e-13)


def test_constants_that_float_cannot_hold():
    x = symbols("x", 1, _core.Graph())
    f = core_function("f", {"x": x}, {"y": x * 1e39})
    _core.emit_c([f], header_name="f.h")
    with pytest.raises(ValueError, match=r"1e39 is too large for float"):
        _core.emit_c([f], header_name="f.h", scalar="float")
    with pytest.raises(ValueError, match="'double' or 'float'"):
        _core.emit_c([f], header_name="f.h", scalar="half")


@pytest.mark.parametrize("name", ['f".h', "f\n.h", "f h", "größe.h", "f\\.h"])
def test_bad_header_names(name):
    x = symbols("x", 1, _core.Graph())
    with pytest.raises(ValueError, match="header_name"):
        _core.emit_c([core_function("f", {"x": x}, {"y": x})], header_name=name)


@every_compiler
def test_comments_cannot_leave_the_comment(compiler, tmp_path):
    x = symbols("x", 1, _core.Graph())
    f = core_function("f", {"x": x}, {"y": 2.0 * x})
    comment = "robot */ int x; /* \\\n#error no\nwhat??/\n\x00\x07 \u00e9\r#error no"
    compiled = Compiled([f], tmp_path, compiler, comment=comment)
    assert compiled.call("f", [2.0]) == [4.0]


def test_the_source_may_carry_its_declarations(tmp_path):
    x = symbols("x", 1, _core.Graph())
    _, source = _core.emit_c([core_function("f", {"x": x}, {"y": 2.0 * x})], header_name="", batch=True, packed=True)
    (tmp_path / "f.c").write_text(source)
    subprocess.run(["gcc", "-std=c99", *STRICT, "-c", str(tmp_path / "f.c"), "-o", str(tmp_path / "f.o")], check=True)
    assert '#include "' not in source


def test_the_same_recording_gives_the_same_text():
    robot = th.Robot.load("panda")
    first, second = (_core.emit_c(quantities(robot), header_name="gen.h") for _ in range(2))
    assert first == second
    assert max(map(len, first[1].splitlines())) < 400
