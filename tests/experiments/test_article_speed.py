"""The Thunder article's formulae in CasADi, and what its comparison of Coriolis matrices counts."""

import numpy as np
import pytest

from thunder_py.papers.speed import run, table
from thunder_py.papers.speed.formulas import ArticleFormulas, panda_of
from thunder_py.papers.speed.run import our_functions, pinocchio_calls

casadi = pytest.importorskip("casadi")


def state(n):
    rng = np.random.default_rng(n)
    return {name: rng.normal(size=n) for name in ("q", "dq", "ddq", "dq_r", "ddq_r")}


@pytest.mark.parametrize("n", [2, 4])
def test_formulas_give_the_robots_matrices(n):
    robot, s = panda_of(n), state(n)
    functions = ArticleFormulas(robot).functions(("M", "C", "C_std", "C_std_once", "Y"))
    C = robot.coriolis_matrix(s["q"], s["dq"])
    expected = {
        "M": robot.mass_matrix(s["q"]),
        "C": C,
        "C_std": C,
        "C_std_once": C,
        "Y": robot.slotine_li_regressor(s["q"], s["dq"], s["dq_r"], s["ddq_r"]),
    }
    for name, wanted in expected.items():
        arguments = [robot.parameters if key == "par_REG" else s[key] for key in functions[name].name_in()]
        np.testing.assert_allclose(np.array(functions[name](*arguments)), wanted, atol=1e-12, err_msg=name)


def test_panda_of_more_than_seven_joints_continues_with_the_same_links():
    long, panda = panda_of(15), panda_of(7)
    np.testing.assert_array_equal(long.description.dh[7:13], panda.description.dh[1:7])
    np.testing.assert_array_equal(long.parameters[70:130], panda.parameters[10:70])
    np.testing.assert_array_equal(long.description.dh[:7], panda.description.dh)


def test_recordings_and_pinocchio_give_the_same_table():
    robot, s = panda_of(7), state(7)
    recorded, calls = our_functions(robot), pinocchio_calls(robot, s)
    s |= {"par_REG": robot.parameters}
    for name in ("J", "J_dot", "M", "C", "M_dot"):
        ours = recorded[name](*(s[key] for key in recorded[name].arguments))
        theirs = np.array(calls[name]())
        if name == "M":
            theirs = np.triu(theirs) + np.triu(theirs, 1).T
        np.testing.assert_allclose(ours, theirs, atol=1e-10, err_msg=name)
    order = np.concatenate([10 * i + np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9]) for i in range(7)])  # Pinocchio's columns
    np.testing.assert_allclose(calls["Y"](), robot.regressor(s["q"], s["dq"], s["ddq"])[:, order], atol=1e-10)


def counts(n):
    """Operations of C_std, C_std_once and C as they are written, and with equal ones shared."""
    functions = ArticleFormulas(panda_of(n)).functions(("C_std", "C_std_once", "C"))
    written = {name: f.n_instructions() for name, f in functions.items()}
    shared = {}
    for name, f in functions.items():
        inputs = f.sx_in()
        shared[name] = casadi.Function(name, inputs, [casadi.cse(f(*inputs))]).n_instructions()
    return written, shared


@pytest.mark.parametrize("n", [3, pytest.param(5, marks=pytest.mark.release)])
def test_the_gain_of_the_matrix_algebra_is_derivatives_that_are_shared(n):
    written, shared = counts(n)
    # each derivative derived where it stands: what the article's factor of ten comes from
    assert written["C_std"] > 8 * written["C"]
    # the same sums over derivatives derived once, or an optimizer that knows equal operations: nothing is left of it
    assert written["C_std_once"] == pytest.approx(written["C"], rel=0.02)
    assert shared["C_std"] == pytest.approx(shared["C"], rel=0.02)


def test_recorded_christoffel_sums_and_matrix_algebra_cost_the_same():
    model = panda_of(7).symbolic()
    C, algebra, sums = (
        model.function(name, getattr(model, name)()).operation_count
        for name in ("coriolis_matrix", "coriolis_matrix_algebra", "coriolis_matrix_christoffel")
    )
    assert algebra == pytest.approx(sums, rel=0.05)
    assert min(algebra, sums) > 1.2 * C


def test_table_3_has_the_jitter_of_single_calls():
    """Standard deviations and coefficients of variation as the article prints them, and of our generated C."""
    robot = panda_of(7)
    function = our_functions(robot)["M"]
    states = [[s[name] for name in function.arguments] for s in run._states(7, robot.parameters)]
    _, source = run._core.emit_c([function], header_name="", packed=True)
    call = run._Packed(source, "own_M_packed", states, function.results.values(), "-O0")
    times, clock = call.single(50)
    assert times.shape == clock.shape == (50,)
    assert np.median(times) > np.median(clock) >= 0.0
    timings = [run.Timing(7, "ours: M", "-O2", 500e-9, sigma=20e-9)]
    text = table.table_3(timings)
    row = [cell.strip() for cell in text.splitlines()[-4].split("|")[1:-1]]
    assert row == ["M", "20", "4", "22.1", "4.2"]
    for quantity, (sigma, variation) in table.JITTER.items():
        assert 100.0 * sigma / table.TABLE_3[quantity][0] == pytest.approx(variation, rel=0.2)
