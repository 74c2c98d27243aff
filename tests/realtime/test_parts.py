"""The simulated robot with its watchdog, generators of references, times."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.realtime import Pacer, Quantiles, ReferenceGenerator, SimulatedRobot
from thunder_py.realtime.hold import safe_torque

from .loops import MS, NOON, Q0, make_robot

PANDA = th.Robot.load("panda")
NAMES = PANDA.joint_names


def test_the_plant_moves_as_in_simulate() -> None:
    payload = th.Payload(0.5, com=[0.0, 0.0, 0.1], time=0.1)
    robot = make_robot(payloads=[{"mass": 0.5, "com": [0.0, 0.0, 0.1], "time": 0.1}])
    states = [robot.advance(NOON + k * MS) for k in range(301)]

    hold = safe_torque(PANDA, 150.0, PANDA.limits.effort)

    class Drive:
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            hold.leave()
            return np.asarray(hold.step(t, q, dq))

    run = th.simulate(PANDA, Drive(), th.reference.SetPoint(Q0), 0.3, q0=Q0, payloads=payload)
    np.testing.assert_allclose(np.array([s.q for s in states]), run.q, atol=1e-12)
    assert np.ptp(run.q) > 0.0


def test_without_commands_it_holds_itself_and_says_so() -> None:
    robot = make_robot()
    state = robot.advance(NOON)
    assert state.safe
    np.testing.assert_allclose(state.tau, PANDA.gravity_vector(Q0), atol=1e-12)
    assert robot.report()["torque"] == "safe"
    dq = np.linspace(-0.05, 0.05, 7)
    moving = SimulatedRobot(PANDA, Q0, dq0=dq)
    expected = PANDA.inverse_dynamics(Q0, dq, -150.0 * dq)
    np.testing.assert_allclose(moving.advance(NOON).tau, expected, atol=1e-12)


def test_a_command_is_in_force_until_the_watchdog() -> None:
    robot = make_robot(watchdog=0.02)
    robot.advance(NOON)
    tau = PANDA.gravity_vector(Q0) + 0.5
    assert robot.command(NOON, NOON + MS, NAMES, tau) is None
    for k in range(1, 22):
        state = robot.advance(NOON + k * MS)
        assert not state.safe
        np.testing.assert_array_equal(state.tau, tau)
    assert robot.advance(NOON + 22 * MS).safe
    assert robot.command(NOON + 22 * MS, NOON + 22 * MS, NAMES[::-1], tau[::-1]) is None
    state = robot.advance(NOON + 23 * MS)
    assert not state.safe
    np.testing.assert_array_equal(state.tau, tau)


def test_commands_that_are_no_good_change_nothing() -> None:
    ones, after = np.ones(7), NOON + MS
    for why, stamp, now, names, tau in (
        ("repeated", NOON, after, NAMES, ones),
        ("reordered", NOON - MS, after, NAMES, ones),
        ("late", after, NOON + 60 * MS, NAMES, ones),
        ("future", NOON + 60 * MS, after, NAMES, ones),
        ("not_finite", after, after, NAMES, np.full(7, np.nan)),
        ("size", after, after, NAMES, ones[:6]),
        ("size", after, after, NAMES, "full speed"),
        ("names", after, after, ["a"] * 7, ones),
    ):
        robot = make_robot()
        robot.advance(NOON)
        assert robot.command(NOON, NOON, NAMES, np.zeros(7)) is None
        assert robot.command(stamp, now, names, tau) == why
        assert robot.refused == {**dict.fromkeys(robot.refused, 0), why: 1}
        assert not robot.advance(NOON + 50 * MS).safe
        assert robot.advance(NOON + 51 * MS).safe


def test_commands_are_clipped() -> None:
    robot = make_robot(torque_limits=10)
    robot.advance(NOON)
    robot.command(NOON, NOON, NAMES, np.full(7, 99.0))
    np.testing.assert_array_equal(robot.advance(NOON + MS).tau, 10.0)
    assert robot.clipped == 1


def test_time_that_cannot_be_made_up_for_slips() -> None:
    robot = make_robot()
    robot.advance(NOON)
    state = robot.advance(NOON + 40 * MS)
    assert state.stamp == NOON + 40 * MS
    assert robot.slipped == 0.0
    state = robot.advance(NOON + 1040 * MS + MS // 3)
    assert state.stamp == NOON + 1040 * MS
    assert robot.slipped == pytest.approx(1.0)


def test_robots_that_make_no_sense_are_refused() -> None:
    changes = (
        {"robot": "nobody"}, {"q0": [0.0]}, {"watchdog": -1}, {"payloads": 3}, {"payloads": [{"weight": 1}]},
        {"payloads": [{"mass": 1, "link": "hand"}]}, {"color": "red"}, {"period": "often"}, {"period": 1e-10},
    )  # fmt: skip
    assert_refused(*((({"robot": "panda", **c},), f"...{next(iter(c))[:7]}...") for c in changes), call=SimulatedRobot)


def generator(reference: dict[str, Any], **options: Any) -> ReferenceGenerator:
    made = ReferenceGenerator({"robot": "panda", "reference": reference, **options})
    assert made.begin(NOON, NAMES, Q0) is None
    return made


@pytest.mark.parametrize(
    "reference",
    [
        {"kind": "sinusoid", "frequency": [0.1] * 7},
        {"kind": "set_point"},
        {"kind": "human_like", "goals": [[0.1] * 7, [0.0] * 7], "seconds": 1.5},
    ],
)
def test_joint_references_begin_where_the_arm_is(reference: dict[str, Any]) -> None:
    made = generator(reference)
    sample = made.joints(NOON)
    np.testing.assert_allclose(sample.q[0], Q0, atol=1e-9)
    assert sample.times[-1] == 0.5
    assert sample.q.shape == sample.dq.shape == sample.ddq.shape == (26, 7)
    later = made.joints(NOON + 100 * MS)
    np.testing.assert_allclose(later.q[0], sample.q[5], atol=1e-9)
    assert_refused((lambda: made.pose(NOON), "...poses..."))


@pytest.mark.parametrize(
    "reference",
    [{"kind": "lissajous"}, {"kind": "set_pose"},
     {"kind": "human_like", "space": "task", "goals": [[0.1, 0.0, 0.05]], "seconds": 1.5}],
)  # fmt: skip
def test_pose_references_begin_where_the_hand_is(reference: dict[str, Any]) -> None:
    made = generator(reference)
    sample, T = made.pose(NOON), PANDA.forward_kinematics(Q0)
    np.testing.assert_allclose(sample.position, T[:3, 3], atol=1e-9)
    assert np.linalg.norm(sample.quaternion) == pytest.approx(1.0)
    a, b = made.pose(NOON + 300 * MS), made.pose(NOON + 301 * MS)
    np.testing.assert_allclose((b.position - a.position) / 1e-3, 0.5 * (a.linear + b.linear), atol=1e-4)


def test_human_like_goals_are_reached_in_turn() -> None:
    goals = [[0.2, 0.1, 0.0, 0.1, 0.0, 0.0, 0.1], [0.0] * 7]
    made = generator({"kind": "human_like", "goals": goals, "seconds": 1.0})
    np.testing.assert_allclose(made.joints(NOON + 1000 * MS).q[0], Q0 + goals[0], atol=1e-6)
    np.testing.assert_allclose(made.joints(NOON + 5000 * MS).q[0], Q0, atol=1e-6)


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_files_are_played_after_a_way_to_where_they_begin(tmp_path: Path, suffix: str) -> None:
    t, q = np.linspace(0.0, 2.0, 21), Q0 + 0.2 + 0.1 * np.linspace(0.0, 1.0, 21)[:, None]
    path = tmp_path / f"motion.{suffix}"
    if suffix == "npz":
        np.savez(path, t=t, q=q)
    else:
        order = [3, 1, 0, 2, 6, 5, 4]
        header = ",".join(["t", *(NAMES[k] for k in order)])
        np.savetxt(path, np.column_stack([t, q[:, order]]), delimiter=",", header=header, comments="")
    made = generator({"kind": "file", "path": str(path)})
    np.testing.assert_allclose(made.joints(NOON).q[0], Q0, atol=1e-9)
    np.testing.assert_allclose(made.joints(NOON + 20_000 * MS).q[0], q[-1], atol=1e-5)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"table|columns"):
        generator({"kind": "file", "path": str(path)})


HEADER = "t," + ",".join(NAMES)
ROW = ",".join(["0.1"] * 7)


def test_files_that_are_no_reference_are_refused(tmp_path: Path) -> None:
    path, table = tmp_path / "motion.csv", "must be a table of t, joint1, ..., one column each, got"
    rows = "must have two rows of times and joint positions at least, got"
    for text, message in (
        ("", ": there must be rows of numbers..."),
        (f"{HEADER}\n", f": {rows} 0..."),
        (f"# {HEADER}\n0,{ROW}\n\n", f": {rows} 1..."),
        (f"0,{ROW}\n1,{ROW}\n", f": {table} '0, 1, ..."),
        (f"{HEADER},joint3\n0,{ROW},1\n1,{ROW},1\n", f": {table} 't, joint1, ..."),
        (f"{HEADER[:-7]}\n0,{ROW}\n1,{ROW}\n", f": {table} '0, 1, ..."),
        (f"\n{HEADER}\n0,{ROW}\n# a note\n1,{ROW[:-4]}\n", ":5: there must be 8 values, got 7..."),
        (f"{HEADER}\n0,{ROW}\n1,nan,{ROW[4:]}\n", ":3: values must be finite..."),
        (f"{HEADER}\n0,{ROW}\n1,,{ROW[4:]}\n", ":3: values must be numbers, got ''..."),
        (f"{HEADER}\n0,{ROW}\n0.5,{ROW}\n0.4999999999,{ROW}\n", ":4: t must increase, got 0.4999999999 after 0.5..."),
    ):
        path.write_text(text)
        refuse_file(path, f"{path}{message}")


def refuse_file(path: Path, message: str) -> None:
    given = {"robot": "panda", "reference": {"kind": "file", "path": str(path)}}
    assert_refused((lambda: ReferenceGenerator(given), message, th.errors.FileFormatError))


def test_arrays_that_are_no_reference_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "motion.npz"
    for spoil in ("short", "bytes", "one", "nan", "missing"):
        t, q = np.linspace(0.0, 1.0, 5), np.tile(Q0, (5, 1))
        if spoil == "one":
            t, q = t[:1], q[:1]
        q[-1, 2] = np.nan if spoil == "nan" else q[-1, 2]
        np.savez_compressed(path, t=t, **({} if spoil == "missing" else {"q": q}))
        data = path.read_bytes()
        middle = len(data) // 3
        if spoil == "short":
            path.write_bytes(data[:middle])
        if spoil == "bytes":
            path.write_bytes(data[: middle - 40] + bytes(80) + data[middle + 40 :])
        refuse_file(path, f"{path}: must...")


def test_generators_refuse_what_makes_no_sense() -> None:
    wrong = (
        {"kind": "dance"}, {}, {"kind": "set_point", "speed": 1}, {"kind": "human_like"},
        {"kind": "file", "path": "motion.txt"}, {"kind": "sinusoid", "amplitude": [1, 2]},
    )  # fmt: skip
    assert_refused(
        *((lambda given=given: generator(given), "...") for given in wrong),
        (lambda: generator({"kind": "set_point"}, horizon=0.01), "...horizon..."),
    )
    made = ReferenceGenerator({"robot": "panda", "reference": {"kind": "set_point"}})
    assert made.begin(NOON, NAMES[:6], Q0[:6]) is not None
    assert made.begin(NOON, NAMES, Q0 * np.nan) is not None
    assert not made.running


def test_quantiles_are_those_of_all_durations() -> None:
    times = np.exp(np.random.default_rng(0).normal(np.log(3e-4), 1.0, 20000))
    counted = Quantiles()
    for x in times:
        counted.add(float(x))
    for part in (0.01, 0.5, 0.99):
        exact = np.quantile(times, part, method="inverted_cdf")
        assert exact <= counted.quantile(part) * (1 + 1e-12) <= 1.0443 * exact
    assert counted.worst == times.max()
    assert counted.mean == pytest.approx(times.mean())
    assert counted.count == 20000
    assert counted.summary()["p99"] == counted.quantile(0.99)


def test_quantiles_take_anything() -> None:
    counted = Quantiles()
    assert counted.summary() == {"count": 0, "mean": 0.0, "median": 0.0, "p99": 0.0, "worst": 0.0}
    for x in (0.0, -1.0, float("nan"), float("inf"), 1e9):
        counted.add(x)
    assert counted.count == 3
    assert counted.worst == 1e9
    with pytest.raises(ValueError, match="part"):
        counted.quantile(1.5)


def test_a_pacer_keeps_its_grid_and_skips_what_it_missed() -> None:
    pacer, start = Pacer(0.002), time.monotonic()
    for _ in range(20):
        pacer.wait()
    assert time.monotonic() - start > 0.039
    missed = pacer.missed
    time.sleep(0.02)
    pacer.wait()
    assert pacer.missed >= missed + 8
    with pytest.raises(ValueError, match="period"):
        Pacer(0.0)
