"""The Thunder article's formulae in CasADi, and what its comparison of Coriolis matrices counts."""

import numpy as np
import pytest

from thunder_py.papers.speed.formulas import ArticleFormulas, panda_of
from thunder_py.papers.speed.run import our_functions, pinocchio_calls
from thunder_py.papers.speed.table import TABLE_3

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
def test_matrix_algebra_gains_by_derivatives_that_are_shared(n):
    written, shared = counts(n)
    # each derivative derived where it stands: what the article's factor of ten comes from
    assert written["C_std"] > 8 * written["C"]
    # the same sums over derivatives derived once, or an optimizer that knows equal operations: nothing is left of it
    assert written["C_std_once"] == pytest.approx(written["C"], rel=0.02)
    assert shared["C_std"] == pytest.approx(shared["C"], rel=0.02)


def test_printed_times_are_longer_for_coriolis_and_regressor():
    """T-19: section 3.4 calls all averages competitive or superior."""
    ratios = {name: thunder / pinocchio for name, (thunder, pinocchio) in TABLE_3.items()}
    assert {name for name, ratio in ratios.items() if ratio > 1.0} == {"C", "Y"}
    assert (round(ratios["C"], 1), round(ratios["Y"], 1)) == (1.7, 6.2)
    assert max(ratio for name, ratio in ratios.items() if name not in "CY") < 0.56
