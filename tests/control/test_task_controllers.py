from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import CartesianComputedTorque, CartesianMACT, Impedance, OperationalSpace, Status
from thunder_py.reference import SetPose, TaskReference

from .arms import Q0, elbow, lissajous, panda
from .task_terms import SCARA_Q0, SCARA_ROWS, braking_torque, scara

K_D = np.array([10.0, 10, 10, 10, 3, 3, 3])


ROWS = ("x", "y", "z", "rx", "ry", "rz")


def per_row(linear: float, angular: float, rows: object) -> list[float]:
    """Softer in rotation: the Panda's hand turns about its axis with 0.005 kg m^2."""
    given = ROWS if not isinstance(rows, tuple) else rows
    return [linear if row in (0, 1, 2, "x", "y", "z") else angular for row in given]


def operational_space(robot: th.Robot, **changes: object) -> OperationalSpace:
    settings = {"K_0": 100.0, "K_1": 20.0, "K_d": K_D[: robot.n], "K_integral": 200.0, **changes}
    return OperationalSpace(robot, **settings)  # type: ignore[arg-type]


def computed_torque(robot: th.Robot, **changes: object) -> CartesianComputedTorque:
    settings = {"K_0": 100.0, "K_1": 20.0, "K_d": K_D[: robot.n], **changes}
    return CartesianComputedTorque(robot, **settings)  # type: ignore[arg-type]


def impedance(robot: th.Robot, **changes: object) -> Impedance:
    rows = changes.get("rows")
    settings = {"K": per_row(300.0, 20.0, rows), "D": per_row(60.0, 1.0, rows), "K_d": K_D[: robot.n], **changes}
    return Impedance(robot, **settings)  # type: ignore[arg-type]


def mact(robot: th.Robot, **changes: object) -> CartesianMACT:
    K_p = per_row(300.0, 20.0, changes.get("rows"))
    settings = {"K_p": K_p, "K_d": K_D[: robot.n], "adaptation": None, **changes}
    return CartesianMACT(robot, **settings)  # type: ignore[arg-type]


def backstepping(robot: th.Robot, **changes: object) -> th.Backstepping:
    settings = {"Lambda": 10.0, "K_p": per_row(300.0, 20.0, None), "K_d": K_D[: robot.n], "adaptation": None, **changes}
    return th.Backstepping(robot, **settings)  # type: ignore[arg-type]


Factory = Callable[..., th.OperationalSpace]
LAWS = [pytest.param(law, id=law.__name__) for law in (operational_space, computed_torque, impedance, mact)]
ALL = [*LAWS, pytest.param(backstepping, id="backstepping")]


def turned(T: np.ndarray, degrees: float) -> np.ndarray:
    result = T.copy()
    rotation = Rotation.from_rotvec(np.radians(degrees) * np.array([2.0, 1.0, 2.0]) / 3.0)
    result[:3, :3] = rotation.as_matrix() @ T[:3, :3]
    return result


def here(robot: th.Robot, q: np.ndarray) -> TaskReference:
    return SetPose(robot.forward_kinematics(q))(0.0)


@pytest.mark.parametrize("law", ALL)
def test_singular_start_is_held(law: Factory) -> None:
    controller, stretched, dq = law(panda()), np.zeros(7), np.linspace(-0.5, 0.5, 7)
    tau = controller.step(0.0, stretched, dq, here(panda(), stretched))
    assert controller.status is Status.singular
    np.testing.assert_allclose(tau, braking_torque(panda(), stretched, dq), atol=1e-10)
    run = th.simulate(panda(), controller, SetPose(panda().forward_kinematics(stretched)), 0.5, q0=stretched)
    assert (run.status == Status.singular).all()
    np.testing.assert_allclose(run.q[-1], stretched, atol=1e-6)


@pytest.mark.parametrize("law", ALL)
@pytest.mark.parametrize(("degrees", "status"), [(85.0, Status.ok), (89.5, Status.singular), (120.0, Status.singular)])
def test_ends_at_a_right_angle(law: Factory, degrees: float, status: Status) -> None:
    """Errata T-11: no inverse of L at 90 degrees."""
    controller = law(panda())
    reference = SetPose(turned(panda().forward_kinematics(Q0), degrees))(0.0)
    tau = controller.step(0.0, Q0, np.full(7, 0.1), reference)
    assert controller.status is status
    if status is Status.singular:
        np.testing.assert_allclose(tau, braking_torque(panda(), Q0, np.full(7, 0.1)), atol=1e-10)


@pytest.mark.parametrize("law", ALL)
def test_nan_is_a_status_not_an_error(law: Factory) -> None:
    controller, reference = law(panda()), here(panda(), Q0)
    controller.step(0.0, Q0, np.zeros(7), reference)
    for q, dq, d in (
        ([np.nan] * 7, np.zeros(7), reference),
        (Q0, [np.nan] * 7, reference),
        (Q0, np.zeros(7), reference._replace(p=np.array([np.nan, 0, 0]))),
        (Q0, np.zeros(7), reference._replace(R=-reference.R)),
    ):
        tau = controller.step(1e-3, q, dq, d)
        assert controller.status is Status.invalid_input
        np.testing.assert_allclose(tau, panda().gravity_vector(Q0), atol=1e-10)
    controller.step(2e-3, Q0, np.zeros(7), reference)
    assert controller.status is Status.ok


@pytest.mark.parametrize("law", ALL)
def test_reference_that_jumps_is_met_within_the_torque_limits(law: Factory) -> None:
    limits = np.abs(panda().gravity_vector(Q0)) + np.array([12.0, 12, 12, 12, 3, 3, 3])
    T = panda().forward_kinematics(Q0)
    jumped = turned(T, 15.0)
    jumped[:3, 3] += [-0.1, -0.15, -0.05]  # inwards, where gravity asks for less

    class Jump:
        def __call__(self, t: float) -> TaskReference:
            return SetPose(T if t < 0.1 else jumped)(0.0)

    controller = law(panda())
    controller.torque_limits = limits
    run = th.simulate(panda(), controller, Jump(), 4.0, q0=Q0, log_every=10)
    assert (np.abs(run.tau) <= limits).all()
    assert set(run.status[:9]) == {Status.ok}
    assert Status.saturated in run.status
    assert Status.singular not in run.status
    assert run.status[-1] == Status.ok
    assert run.error_norm()[-1] < 5e-3


@pytest.mark.parametrize("law", LAWS)
def test_scara_tracks_with_the_rows_it_has(law: Factory) -> None:
    T = turned_about_z(scara().forward_kinematics(SCARA_Q0), 40.0)
    T[:3, 3] += [0.05, -0.1, 0.08]
    gains = {impedance: {"K": 300.0, "D": 100.0}, mact: {"K_p": 300.0, "K_d": 50.0}}.get(law, {})
    run = th.simulate(scara(), law(scara(), rows=SCARA_ROWS, **gains), SetPose(T), 6.0, q0=SCARA_Q0, log_every=10)
    assert (run.status == Status.ok).all()
    assert run.names["error"] == SCARA_ROWS
    np.testing.assert_allclose(scara().forward_kinematics(run.q[-1]), T, atol=1e-2)


def turned_about_z(T: np.ndarray, degrees: float) -> np.ndarray:
    result = T.copy()
    result[:3, :3] = Rotation.from_euler("z", degrees, degrees=True).as_matrix() @ T[:3, :3]
    return result


@pytest.mark.parametrize("law", LAWS)
def test_all_six_rows_of_a_scara_are_refused(law: Factory) -> None:
    with pytest.raises(ValueError, match=r"a task of 6 rows needs as many joints, got 4; choose fewer with rows="):
        law(scara())
    tilting = law(scara(), rows=("x", "y", "rx"))  # which no SCARA can
    tilting.step(0.0, SCARA_Q0, np.zeros(4), here(scara(), SCARA_Q0))
    assert tilting.status is Status.singular


@pytest.mark.parametrize("law", ALL)
def test_whole_loop_is_the_loop_of_steps(law: Factory) -> None:
    run = th.simulate(panda(), law(panda()), lissajous(), 0.05, q0=Q0)
    controller, reference = law(panda()), lissajous()
    for t, q, dq, tau in zip(run.t, run.q, run.dq, run.tau, strict=True):
        np.testing.assert_array_equal(controller.step(t, q, dq, reference(t)), tau)


@pytest.mark.parametrize("law", LAWS)
def test_named_frame(law: Factory) -> None:
    controller = law(panda(), frame=6, rows=("x", "y", "z"))
    goal = panda().forward_kinematics(Q0, 6)
    controller.step(0.0, Q0, np.zeros(7), SetPose(goal)(0.0))
    np.testing.assert_allclose(controller.signals["error"], 0.0, atol=1e-14)


def refusals() -> list[tuple[Callable, dict, str]]:
    asymmetric = np.eye(6) + np.eye(6, k=1)
    task_gains = [(operational_space, ("K_0", "K_1", "K_integral")), (computed_torque, ("K_0", "K_1"))]
    task_gains += [(impedance, ("K", "D", "inertia")), (mact, ("K_p",)), (backstepping, ("Lambda", "K_p"))]
    cases: list[tuple[Callable, dict, str]] = []
    for law, names in task_gains:
        for name in names:
            cases += [
                (law, {name: -1.0}, f"{name} must be positive definite, its smallest eigenvalue is -1"),
                (law, {name: asymmetric}, f"{name} must be symmetric: entry (0, 1) is 1, entry (1, 0) is 0"),
                (law, {name: np.ones(7)}, f"{name} must be a number, 6 numbers or a 6 x 6 matrix, got 7 numbers"),
                (law, {name: np.nan}, f"{name} must be finite"),
                (law, {name: "stiff"}, f"{name} must be an array of real numbers, got 'stiff'"),
            ]
        if law is backstepping:
            continue
        cases += [
            (law, {"K_d": np.ones(6)}, "K_d must be a number, 7 numbers or a 7 x 7 matrix, got 6 numbers"),
            (law, {"K_d": 0.0}, "K_d must be positive definite, its smallest eigenvalue is 0"),
            (law, {"rows": ()}, "rows must be some of x, y, z, rx, ry, rz, or of 0 to 5, in this order, got ()"),
            (law, {"rows": "xyz"}, "rows must be some of x, y, z, rx, ry, rz, or of 0 to 5, in this order, got 'xyz'"),
            (law, {"rows": ("y", "x")}, "rows must be some of"),
            (law, {"rows": (0, 6)}, "rows must be some of"),
            (law, {"rows": 3}, "rows must be some of"),
            (law, {"frame": "hand"}, "frame must be a link index 0 to 7 or one of"),
        ]
    cases += [
        (operational_space, {"integral_limit": 0.0}, "integral_limit must be a positive number or 6 of them, got 0.0"),
        (operational_space, {"integral_limit": [1.0, 2.0]}, "integral_limit must be a positive number or 6 of them"),
    ]
    return cases


def test_refusals() -> None:
    zero = np.zeros(7)
    wrong = "...follows task-space references; JointReference has no p, R, xi, xi_dot"
    for law in (operational_space, computed_torque, impedance, mact, backstepping):
        one = law(panda())
        assert_refused(
            (lambda law=law: law(elbow()), "...task...needs...joints, got 2..."),
            (lambda one=one: one.step(0.0, Q0, zero, th.reference.SetPoint(Q0)(0.0)), wrong),
            (lambda one=one: one.step(0.0, Q0[:6], zero, here(panda(), Q0)), "q must have shape (7,), got (6,)"),
        )
    assert_refused(
        *(((law, changes), f"{message}...") for law, changes, message in refusals()),
        call=lambda law, changes: law(panda(), **changes),
    )
