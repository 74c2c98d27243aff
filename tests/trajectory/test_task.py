import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.trajectory import Arc, Circle, Line, Orientation, Path, RotationSegment, cubic, quintic, trapezoidal

from .numerics import assert_rests_outside, assert_task_derivatives

RNG = np.random.default_rng(4)
P = RNG.normal(size=(5, 3))
R = Rotation.random(4, random_state=1).as_matrix()
LAW = trapezoidal(0.0, 2.0, v_max=1.0, a_max=2.5)
TURNING = Orientation.through(R, [quintic(0.7), 0.9, LAW], anticipation=[0.3, 0.0])
TRAJECTORIES = {
    "line": Line(P[0], P[1], LAW, orientation=TURNING),
    "arc": Arc(P[0], P[1], P[2], cubic(1.4), orientation=R[0]),
    "helix": Circle(P[0], P[1], P[2], 2.0, angle=-9.0, rise=0.4),
    "turn": RotationSegment(P[0], TURNING),
    "polyline": Path.through(P, quintic(1.0), anticipation=[0.2, 0.0, 1.0], orientation=TURNING),
    "path": Path(
        [Line(P[0], P[1], 1.0), Arc(P[1], P[2], P[3], 1.5), Line(P[3], P[4], 0.8)],
        anticipation=[0.4, 0.1],
        orientation=Orientation.about(R[0], [1, 2, 3], [0.5, 4.0, -1.0], 1.3),
    ),
}


def test_length_of_a_helix() -> None:
    """Portion.length against the integral of the speed over the parameter."""
    portion = TRAJECTORIES["helix"].portion

    def speed(s: float) -> float:
        turn = portion.angle * s
        return float(
            np.linalg.norm(portion.chord + portion.angle * (np.cos(turn) * portion.w - np.sin(turn) * portion.u))
        )

    assert np.linalg.norm(portion.chord) == pytest.approx(0.4)
    assert portion.length == pytest.approx(quad(speed, 0.0, 1.0)[0], rel=1e-10)
    assert portion.length > abs(portion.angle) * np.linalg.norm(portion.u)  # the rise counts


@pytest.mark.parametrize("trajectory", TRAJECTORIES.values(), ids=TRAJECTORIES)
def test_derivatives_are_consistent(trajectory) -> None:
    t = np.linspace(0.0501, trajectory.duration - 0.0501, 41)  # no corner of an acceleration among them
    assert_task_derivatives(trajectory, t, atol=2e-5)
    assert_rests_outside(trajectory, 0.0, trajectory.duration)
    np.testing.assert_allclose(trajectory(0.0).p, trajectory.start, atol=1e-12)
    np.testing.assert_allclose(trajectory(trajectory.duration).p, trajectory.end, atol=1e-12)
    np.testing.assert_allclose(trajectory(0.0).R, trajectory.orientation.start, atol=1e-12)
    np.testing.assert_allclose(trajectory(trajectory.duration).R, trajectory.orientation.end, atol=1e-12)


@pytest.mark.parametrize("trajectory", TRAJECTORIES.values(), ids=TRAJECTORIES)
def test_position_and_velocity_are_continuous(trajectory) -> None:
    """Whatever the laws, within what the largest acceleration explains."""
    t = np.linspace(-0.1, trajectory.duration + 0.1, 4001)
    at, h = trajectory(t), t[1] - t[0]
    bound = 1.1 * h * np.abs(at.xi_dot).max()
    assert np.abs(np.diff(at.xi, axis=0)).max() < bound


def test_line_is_straight_and_measures_arc_length() -> None:
    at = TRAJECTORIES["line"](np.linspace(0.0, 2.4, 30))
    u = (P[1] - P[0]) / np.linalg.norm(P[1] - P[0])
    np.testing.assert_allclose(np.cross(at.p - P[0], u), 0.0, atol=1e-14)
    length = np.linalg.norm(P[1] - P[0])
    np.testing.assert_allclose(np.linalg.norm(at.p - P[0], axis=1), LAW(np.linspace(0.0, 2.4, 30)).s * length / 2)
    assert TRAJECTORIES["line"].length == pytest.approx(length)


def test_arc_stays_on_its_circle_and_passes_its_points() -> None:
    arc = TRAJECTORIES["arc"]
    p = arc(np.linspace(0.0, 1.4, 2001)).p
    np.testing.assert_allclose(np.linalg.norm(p - arc.center, axis=1), arc.radius, rtol=1e-12)
    np.testing.assert_allclose((p - P[0]) @ np.cross(P[1] - P[0], P[2] - P[0]), 0.0, atol=1e-11)
    assert np.linalg.norm(p - P[1], axis=1).min() < 2e-3 * arc.radius
    np.testing.assert_allclose(p[[0, -1]], P[[0, 2]], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(np.diff(p, axis=0), axis=1).sum(), arc.length, rtol=1e-5)


@pytest.mark.parametrize(("via", "angle"), [(90, 180), (10, 350), (200, 270), (1, 2)])
def test_arc_goes_the_way_of_its_via_point(via: float, angle: float) -> None:
    at = np.radians([0.0, via, angle])
    points = np.stack([2 * np.cos(at), 2 * np.sin(at), [0.5] * 3], axis=1)
    arc = Arc(*points, 1.0)
    np.testing.assert_allclose(arc.portion.angle, np.radians(angle), rtol=1e-9)
    np.testing.assert_allclose(arc.radius, 2.0, rtol=1e-9)
    np.testing.assert_allclose(arc.center, [0, 0, 0.5], atol=1e-9)


def test_circle_closes_and_turns_right_handed() -> None:
    circle = Circle([1.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0], 2.0)
    np.testing.assert_allclose(circle.end, circle.start, atol=1e-14)
    np.testing.assert_allclose(circle.center, [0, 0, 0.3])
    half = circle(1.0)
    np.testing.assert_allclose(half.p, [-1, 0, 0.3], atol=1e-14)
    assert half.xi[1] < 0.0
    np.testing.assert_allclose(
        TRAJECTORIES["helix"].end - P[0] - 0.4 * TRAJECTORIES["helix"].axis,
        TRAJECTORIES["helix"].portion.displacement - TRAJECTORIES["helix"].portion.chord,
    )


def test_geodesic_is_the_shorter_way() -> None:
    turn = RotationSegment(P[0], Orientation.through(R[:2], 1.0))
    w = turn(np.linspace(0.1, 0.9, 9)).xi[:, 3:]
    vector = Rotation.from_matrix(R[1] @ R[0].T).as_rotvec()
    np.testing.assert_allclose(np.cross(w, vector), 0.0, atol=1e-12)
    np.testing.assert_allclose(w[4], vector * 15 / 8, atol=1e-12)  # peak of minimum jerk
    half = Rotation.from_rotvec(0.5 * vector).as_matrix() @ R[0]
    np.testing.assert_allclose(turn(0.5).R, half, atol=1e-12)


def test_orientations_are_passed_in_order() -> None:
    times = np.cumsum([0.0, 0.7, 0.9, LAW.duration])
    turn = RotationSegment(P[0], Orientation.through(R, [quintic(0.7), 0.9, LAW]))
    np.testing.assert_allclose(turn(times).R, R, atol=1e-12)
    assert np.abs(np.swapaxes(turn(times).R, 1, 2) @ turn(times).R - np.eye(3)).max() < 1e-12
    stays = RotationSegment(P[0], Orientation.through([R[0], R[0], R[1]], 1.0))
    np.testing.assert_allclose(stays(1.0).R, R[0], atol=1e-14)


def test_more_than_half_a_turn_about_an_axis() -> None:
    turn = RotationSegment(P[0], Orientation.about(np.eye(3), [0, 0, 2], [0.0, 1.5 * np.pi], 1.0))
    np.testing.assert_allclose(turn(0.5).R, Rotation.from_euler("z", 0.75 * np.pi).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(turn.orientation.end, Rotation.from_euler("z", 1.5 * np.pi).as_matrix(), atol=1e-14)


def test_anticipation_is_the_sum_of_segments() -> None:
    """Siciliano et al., section 4.3.3, written out: and the via point is passed by without a stop."""
    law = trapezoidal(duration=1.0, blend=0.3)
    path = Path.through(P, law, anticipation=0.3)
    t = np.linspace(0.0, path.duration, 50)
    starts = 0.7 * np.arange(4)
    expected = P[0] + sum(law(t - start).s[:, None] * (P[j + 1] - P[j]) for j, start in enumerate(starts))
    np.testing.assert_allclose(path(t).p, expected, atol=1e-12)
    np.testing.assert_array_equal(path.over_flown, [False, True, True, True, False])
    middle = path(starts[1] + 0.15)
    assert np.linalg.norm(middle.xi[:3]) > 0.1
    assert np.linalg.norm(middle.p - P[1]) > 0.01
    np.testing.assert_allclose(path.duration, 3.1)


ORIGIN, X = np.zeros(3), np.array([1.0, 0, 0])


def test_refusals() -> None:
    assert_refused(
        (lambda: Line(ORIGIN, [1, 0], 1.0), "end must have shape (3,), got (2,)"),
        (lambda: Line(ORIGIN, X * np.nan, 1.0), "end must be finite..."),
        (lambda: Line(ORIGIN, X, 0.0), "duration must be positive, got 0"),
        (lambda: Line(ORIGIN, X, "slow"), "timing must be numbers..."),
        (lambda: Line(ORIGIN, X, [1.0]), "timing must be a TimingLaw or a duration, got [1.0]"),
        (lambda: Line(ORIGIN, X, 1.0, orientation=-np.eye(3)), "orientation must hold a rotation, got a reflection..."),
        (lambda: Arc(ORIGIN, X, 2 * X, 1.0), "start, via and end must not lie on one line..."),
        (lambda: Arc(ORIGIN, X, ORIGIN, 1.0), "start, via and end must not lie on one line..."),
        (lambda: Circle(X, ORIGIN, ORIGIN, 1.0), "axis must not be zero"),
        (lambda: Circle(X, ORIGIN, X, 1.0), "start must not lie on the axis, got [1.0, 0.0, 0.0]"),
        (lambda: Path([]), "segments must not be empty"),
        (lambda: Path([RotationSegment(X, TURNING)]), "segments must be Line, Arc or Circle, got RotationSegment"),
        (lambda: Path([Line(ORIGIN, X, 1.0), Line(2 * X, X, 1.0)]), "segment 1 must start where segment 0 ends, at..."),
        (lambda: Path.through(P, 1.0, anticipation=1.1), "anticipation of part 1 must be 0 to 1 s..."),
        (lambda: Path.through(P, 1.0, anticipation=[0.1]), "anticipation must have shape (3,), got (1,)"),
        (lambda: Path.through(P, 1.0, anticipation=-0.1), "anticipation of part 1 must be 0 to 1 s..."),
        (lambda: Path.through(P, [1.0, 1.0]), "timing must be one, or 4 of them, got 2"),
        (lambda: Path.through(P[:1], 1.0), "points must be at least two, got 1"),
        (lambda: Orientation.through(R[:1], 1.0), "rotations must be at least two, got 1"),
        (lambda: Orientation.through([np.eye(3), 2 * np.eye(3)], 1.0), "rotations[1] must hold an orthonormal..."),
        (lambda: Orientation.through([np.eye(3), np.diag([1.0, -1, -1])], 1.0), "rotations 0 and 1 must be less th..."),
        (lambda: Orientation.about(np.eye(3), ORIGIN, [0, 1], 1.0), "axis must not be zero"),
        (lambda: Orientation.about(np.eye(3), X, [0], 1.0), "angles must be at least two, got 1"),
        (lambda: RotationSegment(X, Orientation.constant(np.eye(3))), "orientation must change over time in a Rota..."),
    )
