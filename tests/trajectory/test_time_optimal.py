import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.robot import Friction
from thunder_py.trajectory import (
    JointTrajectory,
    Line,
    TimeOptimalTrajectory,
    parabolic_blends,
    point_to_point,
    quintic,
    s_curve,
    spline,
    time_optimal,
    trapezoidal,
)
from thunder_py.trajectory.path_geometry import _ZERO, PathPieces, _Warp

from ..dynamics.random_chains import random_robot

Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
Q1 = np.array([1.0, 0.3, 0.2, -1.5, 0.3, 2.0, 0.0])


@cache
def panda() -> th.Robot:
    return th.Robot.load("panda")


def slider(mass: float = 2.0, viscous: float = 0.0) -> th.Robot:
    """One joint that moves horizontally."""
    friction = Friction(terms=("viscous",), coefficients=[[viscous]]) if viscous else None
    body = [mass, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1]
    return th.Robot.from_dh([[0, 0, 0, 0]], joint_types="P", inertial=[body], gravity=(-9.81, 0, 0), friction=friction)


def largest_usage(motion: TimeOptimalTrajectory, count: int = 10_000) -> float:
    t = np.random.default_rng(0).uniform(0.0, motion.duration, count)
    return max(float(usage.max()) for usage in motion.usage(t).values())


class TestClosedForms:
    def test_force_of_one_joint(self) -> None:
        motion = time_optimal(slider(2.0), [[0.0], [0.6]], effort=10.0)
        assert motion.duration == pytest.approx(2.0 * np.sqrt(0.6 * 2.0 / 10.0), rel=1e-4)

    def test_viscous_friction_is_exact(self) -> None:
        m, b, F, D = 2.0, 8.0, 10.0, 0.6
        slow = m / b

        def speed(t: float) -> tuple[float, float]:
            """Distance and speed after full force for a time."""
            return F / b * (t - slow * (1.0 - np.exp(-t / slow))), F / b * (1.0 - np.exp(-t / slow))

        def stopped(v: float) -> tuple[float, float]:
            """Time and distance of full braking."""
            t = slow * np.log(1.0 + b * v / F)
            return t, (v + F / b) * slow * (1.0 - np.exp(-t / slow)) - F / b * t

        switch = brentq(lambda t: speed(t)[0] + stopped(speed(t)[1])[1] - D, 1e-3, 5.0)
        least = switch + stopped(speed(switch)[1])[0]
        assert time_optimal(slider(m, b), [[0.0], [D]], effort=F).duration == pytest.approx(least, rel=1e-4)

    @pytest.mark.parametrize("effort", [20.0, pytest.param(19.64, marks=pytest.mark.release)])
    def test_force_little_above_gravity(self, effort: float) -> None:
        """Slow one way and fast the other: 19.62 N carry the mass."""
        robot = slider(2.0).replace(gravity=(0.0, 0.0, -9.81))
        motion = time_optimal(robot, [[0.0], [0.6]], effort=effort)
        weight = 2.0 * 9.81
        least = np.sqrt(2.0 * 0.6 * 2.0 * (1.0 / (effort - weight) + 1.0 / (effort + weight)))
        assert least * (1.0 - 1e-5) <= motion.duration <= 1.02 * least

    def test_jerk_of_one_joint(self) -> None:
        law = s_curve(0.0, 0.6, v_max=0.8, a_max=3.0, j_max=20.0)
        motion = time_optimal(slider(), [[0.0], [0.6]], velocity=0.8, acceleration=3.0, jerk=20.0)
        assert motion.duration == pytest.approx(law.duration, rel=5e-4)

    def test_rate_of_force_of_one_joint(self) -> None:
        motion = time_optimal(slider(2.0), [[0.0], [0.6]], effort=1e3, effort_rate=40.0)
        assert motion.duration == pytest.approx((32.0 * 0.6 * 2.0 / 40.0) ** (1.0 / 3.0), rel=5e-4)

    def test_straight_line_of_several_joints(self) -> None:
        law = point_to_point(Q0, Q1, v_max=1.5, a_max=6.0)
        motion = time_optimal(panda(), [Q0, Q1], velocity=1.5, acceleration=6.0, effort=1e6)
        assert motion.duration == pytest.approx(law.duration, rel=1e-4)


EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "time_optimal.py"))
#: of the unit tests of TOPP: limits; coefficients of paths and durations
LIMITS, PUBLISHED = EXAMPLE["LIMITS"], EXAMPLE["PUBLISHED"]
bars, bars_path = EXAMPLE["bars"], EXAMPLE["bars_path"]

L, MASS, INERTIA = 0.2, 8.0, 8.0 * (0.2**2 + 0.02**2) / 12.0


def transcribed(name: str, steps: int, effort_rate: float | None = None) -> float:
    """Least duration by direct transcription over time, in CasADi and IPOPT, with the bars' dynamics written out."""
    casadi = pytest.importorskip("casadi")
    a, b, c = np.array(PUBLISHED[name][0])
    opti = casadi.Opti()
    T, s, v, u = opti.variable(), opti.variable(steps + 1), opti.variable(steps + 1), opti.variable(steps + 1)
    h = T / steps

    def torque(s: Any, v: Any, u: Any) -> Any:
        q = [a[i] * s**2 + b[i] * s + c[i] for i in (0, 1)]
        dq = [(2 * a[i] * s + b[i]) * v for i in (0, 1)]
        ddq = [2 * a[i] * v**2 + (2 * a[i] * s + b[i]) * u for i in (0, 1)]
        inertia = INERTIA + MASS * 0.1**2
        m22, m12 = inertia, inertia + MASS * L * 0.1 * casadi.cos(q[1])
        m11 = 2 * m12 - m22 + inertia + MASS * L**2
        bend = MASS * L * 0.1 * casadi.sin(q[1])
        # gravity is along x
        g2 = MASS * 9.8 * 0.1 * casadi.sin(q[0] + q[1])
        g1 = MASS * 9.8 * (0.1 + L) * casadi.sin(q[0]) + g2
        return casadi.horzcat(
            m11 * ddq[0] + m12 * ddq[1] - bend * (2 * dq[0] * dq[1] + dq[1] ** 2) + g1,
            m12 * ddq[0] + m22 * ddq[1] + bend * dq[0] ** 2 + g2,
        )

    if effort_rate is None:  # u constant in each interval
        opti.subject_to(s[1:] == s[:-1] + h * v[:-1] + 0.5 * h**2 * u[:-1])
        opti.subject_to(v[1:] == v[:-1] + h * u[:-1])
        loads = [torque(s[:-1], v[:-1], u[:-1]), torque(s[1:], v[1:], u[:-1])]
    else:  # u linear in each interval, torques continuous
        opti.subject_to(s[1:] == s[:-1] + h * v[:-1] + h**2 * (u[:-1] / 3 + u[1:] / 6))
        opti.subject_to(v[1:] == v[:-1] + h * (u[:-1] + u[1:]) / 2)
        loads = [torque(s, v, u)]
        change = loads[0][1:, :] - loads[0][:-1, :]
        opti.subject_to(opti.bounded(-effort_rate * h, casadi.vec(change), effort_rate * h))
        opti.subject_to(casadi.vertcat(u[0], u[-1]) == 0.0)
    for i in (0, 1):
        for load in loads:
            opti.subject_to(opti.bounded(-LIMITS["effort"][i], load[:, i], LIMITS["effort"][i]))
        limit = LIMITS["velocity"][i]
        opti.subject_to(opti.bounded(-limit, (2 * a[i] * s + b[i]) * v, limit))
    opti.subject_to(casadi.vertcat(s[0], v[0], v[-1]) == 0.0)
    opti.subject_to(s[-1] == 1.0)
    opti.subject_to(opti.bounded(0.1, T, 10.0))
    opti.subject_to(v >= 0.0)
    t = np.linspace(0.0, 1.0, steps + 1)
    opti.set_initial(T, 2.0)
    opti.set_initial(s, t**2 * (3 - 2 * t))
    opti.set_initial(v, 3 * t * (1 - t))
    opti.minimize(T)
    opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
    return float(opti.solve().value(T))


class TestOtherPrograms:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_published_durations(self, name: str) -> None:
        """They are 0.7 % shorter, on a grid of 0.01: finer grids of TOPP-RA approach ours, see docs/time_optimal.md."""
        motion = time_optimal(bars(), bars_path(name), **LIMITS)
        assert motion.duration == pytest.approx(PUBLISHED[name][1], rel=0.01)

    @pytest.mark.release
    @pytest.mark.parametrize("name", PUBLISHED)
    @pytest.mark.parametrize(("steps", "rate", "tolerance"), [(80, None, 5e-3), (60, 200.0, 2e-3)])
    def test_direct_transcription(self, name: str, steps: int, rate: float | None, tolerance: float) -> None:
        motion = time_optimal(bars(), bars_path(name), **LIMITS, effort_rate=np.inf if rate is None else rate)
        assert motion.duration == pytest.approx(transcribed(name, steps, rate), rel=tolerance)

    @pytest.mark.release
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_reachability_of_toppra(self, name: str) -> None:
        """TOPP-RA on a fine grid is as fast, and exceeds the limits between its points."""
        pytest.importorskip("toppra")
        duration, usage = EXAMPLE["toppra_motion"](bars(), bars_path(name), 500)
        motion = time_optimal(bars(), bars_path(name), **LIMITS)
        assert motion.duration == pytest.approx(duration, rel=2e-3)
        assert usage > 1.01
        assert largest_usage(motion) <= 1.0 + 1e-9


def random_problem(seed: int) -> tuple[th.Robot, np.ndarray, dict[str, np.ndarray | float]]:
    """An arm with friction, points of a path, and limits with which it can hold itself and creep on the path."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    robot = random_robot(seed, n, rotors=bool(seed % 2), armature=bool(seed % 3))
    points = 0.7 * np.cumsum(rng.normal(size=(int(rng.integers(2, 6)), n)), axis=0)
    from thunder_py.trajectory.path_geometry import path_grid, path_pieces

    grid = path_grid(path_pieces(points, n, 100), 100, 1)
    effort = 1.2 * np.abs(robot.gravity_vector(grid.q)).max(axis=(0, 1))
    effort += rng.uniform(2.0, 20.0, n) * np.diagonal(robot.mass_matrix(points[0]))
    terms = ("viscous", "coulomb", "quadratic", "cubic")[: seed % 5]
    if terms:
        coefficients = rng.uniform(0.0, 0.05, (n, len(terms))) * effort[:, None]
        robot = robot.replace(friction=Friction(terms=terms, coefficients=coefficients))
    return robot, points, {"effort": effort, "velocity": rng.uniform(1.0, 5.0)}


class TestLimits:
    @pytest.mark.parametrize("seed", range(4))
    def test_hold_between_grid_points(self, seed: int) -> None:
        robot, points, limits = random_problem(seed)
        motion = time_optimal(robot, points, **limits, acceleration=20.0 if seed % 2 else np.inf, cells=60)
        assert largest_usage(motion) <= 1.0 + 1e-9
        usage = np.concatenate(list(motion.usage(np.linspace(0.0, motion.duration, 2001)).values()), axis=1)
        assert (usage.max(axis=1) > 0.98).mean() > 0.9  # one limit is active almost always

    @pytest.mark.parametrize("seed", [10, 11])
    def test_rates_hold_between_grid_points(self, seed: int) -> None:
        robot, points, limits = random_problem(seed)
        rates = {"jerk": 150.0} if seed % 2 else {"effort_rate": 10.0 * np.asarray(limits["effort"])}
        motion = time_optimal(robot, points, **limits, **rates, cells=60)
        assert largest_usage(motion) <= 1.0 + 1e-9
        assert motion.duration > time_optimal(robot, points, **limits, cells=60).duration

    def test_torques_and_their_rates_are_those_of_the_model(self) -> None:
        robot = panda().replace(friction=Friction(terms=("viscous",), coefficients=np.full((7, 1), 0.5)))
        motion = time_optimal(robot, [Q0, Q1], effort_rate=800.0, cells=60)
        t, h = np.linspace(0.05, 0.9, 40) * motion.duration, 1e-7
        np.testing.assert_allclose(
            motion.usage(t)["effort"], np.abs(motion.torque(t)) / robot.limits.effort, rtol=1e-12
        )
        rates = (motion.torque(t + h) - motion.torque(t - h)) / (2.0 * h)
        np.testing.assert_allclose(800.0 * motion.usage(t)["effort_rate"], np.abs(rates), atol=0.05)


class TestPaths:
    def test_timing_of_the_path_does_not_matter(self) -> None:
        durations = [
            time_optimal(panda(), path, cells=100).duration
            for path in (
                [Q0, Q1],
                point_to_point(Q0, Q1, quintic(3.0)),
                spline([1.0, 2.0], [Q0, Q1]),
                point_to_point(Q0, Q1, trapezoidal(duration=2.0, blend=0.25)),
            )
        ]
        np.testing.assert_allclose(durations, durations[0], rtol=2e-3)

    @pytest.mark.parametrize("width", [1e-3, 1e-9])
    def test_short_pieces_do_not_matter(self, width: float) -> None:
        """A straight line in pieces, one of them short, and points that are nearly equal."""
        line = time_optimal(bars(), [[0.0, 0.0], [0.5, 0.2]], velocity=3.0, effort=40.0, jerk=300.0, cells=60).duration
        breaks = np.array([0.0, 0.5, 0.5 + width, 1.0])
        rows = np.array([[0.5, 0.2]])
        path = JointTrajectory(breaks, np.stack([rows.repeat(3, axis=0), breaks[:3, None] * rows]))
        for same in (path, [[0.0, 0.0], [0.25, 0.1], [0.25, 0.1 + 1e-3 * width], [0.5, 0.2]]):
            motion = time_optimal(bars(), same, velocity=3.0, effort=40.0, jerk=300.0, cells=60)
            assert motion.duration == pytest.approx(line, rel=1e-3)

    def test_line_in_space(self) -> None:
        T = panda().forward_kinematics(Q0)
        line = Line(T[:3, 3], T[:3, 3] + [0.0, 0.3, 0.1], 2.0, orientation=T[:3, :3])
        motion = time_optimal(panda(), th.kinematics.joint_path(panda(), line, Q0, samples=300), jerk=500.0, cells=60)
        path = panda().forward_kinematics(motion(np.linspace(0.0, motion.duration, 500)).q)
        offset = path[:, :3, 3] - T[:3, 3]
        assert np.linalg.norm(np.cross(offset, [0.0, 3.0, 1.0]) / np.sqrt(10.0), axis=1).max() < 1e-6
        np.testing.assert_allclose(path[:, :3, :3], np.broadcast_to(T[:3, :3], (500, 3, 3)), atol=1e-6)

    def test_reference_that_is_not_a_polynomial(self) -> None:
        circle = th.reference.Sinusoid([0.3, 0.3], 0.5, phase=[0.0, np.pi / 2])
        with pytest.raises(ThunderError, match=r"^path must have a duration, which a Sinusoid has not"):
            time_optimal(bars(), circle, **LIMITS)
        series = th.trajectory.FourierSeries([[0.5, 0.2], [0.3, 0.1]], [[0.1, 0.3], [0.2, 0.1]], [0.3, 0.8], 0.5)
        motion = time_optimal(bars(), series, velocity=3.0, effort=40.0, cells=80)
        np.testing.assert_allclose(motion(motion.breaks[:-1]).q, series(motion.path_parameter[:-1]).q, atol=1e-6)


class TestMotion:
    def test_active_limits(self) -> None:
        motion = time_optimal(slider(2.0), [[0.0], [0.6]], velocity=1.0, effort=10.0)
        names = motion.active([0.1, 0.5 * motion.duration, motion.duration - 0.1])
        assert names.tolist() == ["effort of joint1", "velocity of joint1", "effort of joint1"]
        assert motion.active(0.1) == "effort of joint1"
        assert motion.torque([0.1, motion.duration - 0.1]).round(2).tolist() == [[10.0], [-10.0]]

    def test_outside_its_duration_it_rests(self) -> None:
        motion = time_optimal(slider(2.0), [[0.0], [0.6]], velocity=1.0, effort=10.0, cells=20)
        assert [float(motion.usage(t)["effort"][0]) for t in (-0.1, motion.duration + 0.1)] == [0.0, 0.0]
        np.testing.assert_allclose(motion.usage([0.0, motion.duration])["effort"], 1.0, rtol=1e-3)
        with pytest.raises(ThunderError, match=r"^t must be finite, got nan"):
            motion.active(np.nan)

    def test_motors_of_elastic_joints_take_their_part(self) -> None:
        drive = th.robot.Elastic(joint=1, K=(400.0,), Mm=3.0)
        motion = time_optimal(slider(2.0).replace(elastic=[drive]), [[0.0], [0.6]], effort=10.0, cells=60)
        assert motion.duration == pytest.approx(2.0 * np.sqrt(0.6 * 5.0 / 10.0), rel=1e-3)

    def test_friction_that_forbids_the_motion(self) -> None:
        robot = slider(2.0).replace(friction=Friction(terms=("coulomb",), coefficients=[[11.0]]))
        with pytest.warns(
            th.errors.ThunderWarning, match="^effort must be above gravity and Coulomb friction, .*joint1"
        ):
            time_optimal(robot, [[0.0], [0.6]], effort=10.0, cells=20)

    def test_longer_duration(self) -> None:
        motion = time_optimal(panda(), [Q0, Q1], cells=60)
        slow = motion.stretched(1.3)
        assert slow.duration == pytest.approx(1.3)
        np.testing.assert_allclose(slow(0.65).q, motion(0.5 * motion.duration).q, atol=1e-12)
        assert slow.largest_usage < 1.0
        with pytest.raises(
            ThunderError, match=r"^duration must keep the limits, but 0.3 s takes \d+(\.\d+)? % of one: choose"
        ):
            motion.stretched(0.3)

    def test_drawing(self) -> None:
        motion = time_optimal(slider(2.0), [[0.0], [0.6]], velocity=1.0, effort=10.0, cells=20)
        axes = motion.plot()
        assert list(axes) == ["q", "dq", "ddq", "tau", "usage"]
        assert [line.get_label() for line in axes["usage"].lines[:2]] == ["velocity", "effort"]


def test_refusals() -> None:
    assert_refused(
        (([[3.0, 0.0], [1.57, 0.0]], LIMITS), "path must be within the torque limits at rest, but gravity takes..."),
        (([[0.1, 0.0]], LIMITS), "path must have at least two points, got 1"),
        (([[0.1, 0.0], [0.1, 0.0]], LIMITS), "path must move, got points that are all equal"),
        ((parabolic_blends([0, 1, 2], [[0, 0], [0.1, 0.2], [0.2, 0]], 1e-6), LIMITS), "path must turn slowly, but..."),
        (([[0.1], [0.2]], LIMITS), "path must have 2 joints, got 1"),
        ((JointTrajectory([0, 1], [[[0.1, 0.2]]]), LIMITS), "path must move, got a constant position"),
        ((JointTrajectory([0, 1, 2], [[[1, 1], [0, 0]], [[0, 0], [1, 1]]]), LIMITS), "path must not rest, but it s..."),
        ((JointTrajectory([0, 1, 2], [[[1, 0], [0, 1]], [[0, 0], [1, 0]]]), LIMITS), "path must be continuous in p..."),
        (
            (parabolic_blends([0, 1, 2], [[0, 0], [0.1, 0.2], [0.2, 0]], 0.4), {**LIMITS, "jerk": 100.0}),
            "...curvature where rates are limited, but its curvature jumps at...",
        ),
        (([0.1, 0.0], LIMITS), "path must be a joint reference or points of shape (m, 2), got shape (2,)"),
        (([[0.0, 0.0], [0.0, 0.1]], {"acceleration": [1.0, np.inf]}), "limits must bound the motion, but none of a..."),
        (([[0.0, 0.0], [0.1, 0.0]], {"velocity": 1.0}), "limits must have a finite acceleration or effort..."),
        (([[0.0, 0.0], [0.1, 0.0]], {"effort": -1.0}), "effort must be positive, got..."),
        (([[0.0, 0.0], [0.1, 0.0]], {**LIMITS, "cells": 4}), "cells must be a whole number from 8 to 10000, got 4"),
        ((Line([0, 0, 0], [1, 0, 0], 1.0), LIMITS), "path must be a reference of joints, got a Line: kinematics.jo..."),
        call=lambda path, options: time_optimal(bars(), path, **options),
    )
    points = np.tile(Q0, (4, 1))
    points[1:3, 3], points[2, 4] = -0.09, 0.5
    assert_refused(
        (lambda: time_optimal(panda(), points), "path must be within the position limits, but joint4 is at -0.05...")
    )


@pytest.mark.parametrize("duration", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("power", "expected"), [(1, (3.0, 3.0)), (2, (1.5, 3.0)), (3, (1.0, 3.0))])
def test_paths_that_begin_at_rest_in_any_time(duration: float, power: int, expected: tuple[float, float]) -> None:
    """Of q = s^k near the start, the warp needs only the powers that the path does not have."""
    coefficients = np.zeros((4, 1, 1))
    coefficients[3 - power] = duration**-power
    for lower in range(1, power):  # rounding
        coefficients[3 - lower] = 0.1 * _ZERO * duration**-lower
    warp = _Warp.of(PathPieces(np.array([2.0, 2.0 + duration]), coefficients), 2)
    assert (warp.a, warp.b) == expected
    back = coefficients.copy()  # the same path from its end: (1 - x)^k
    polynomial = np.polynomial.Polynomial([1.0, -1.0 / duration]) ** power
    back[3 - power :, 0, 0] = polynomial.coef[::-1]
    warp = _Warp.of(PathPieces(np.array([2.0, 2.0 + duration]), back), 2)
    assert (warp.b, warp.a) == expected
