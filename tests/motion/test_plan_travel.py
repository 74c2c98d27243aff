"""Length and speed of plans in meters and radians, compared with minimum jerk and with the training motions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import BPoly
from scipy.spatial.transform import Rotation

from thunder_py.errors import ThunderWarning
from thunder_py.motion import DMP, FPCA, Constraint, HumanLikePlanner, QuaternionDMP, turns_from_start
from thunder_py.recordings import MotionSet, Trial
from thunder_py.recordings.processing import segment_by_speed
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches, sigma_lognormal_reaches

from .planner_models import away, fitted, joints

FAR = "is longer or faster"
TAU = np.linspace(0.0, 1.0, 101)
STEP = 10 * TAU**3 - 15 * TAU**4 + 6 * TAU**5


def out_and_back(back: float, seed: int, count: int = 30) -> list[Trial]:
    """Motions of 0.3 to 0.5 m whose displacement is a part of their extent."""
    rng = np.random.default_rng(seed)
    half = 10 * (2 * TAU) ** 3 - 15 * (2 * TAU) ** 4 + 6 * (2 * TAU) ** 5
    there = np.where(TAU < 0.5, half, 1.0)
    after = np.clip(2 * TAU - 1, 0, 1)
    home = 10 * after**3 - 15 * after**4 + 6 * after**5
    trials = []
    for k in range(count):
        way, side = rng.uniform(0.3, 0.5) * _direction(rng), 0.005 * _direction(rng)
        x = there[:, None] * way + home[:, None] * ((back - 1.0) * way + side)
        trials.append(Trial.from_positions(2.0 * TAU, x, name=f"there {k}"))
    return trials


def enlarged(seed: int) -> HumanLikePlanner:
    """Planner of aligned positions that return."""
    with pytest.warns(ThunderWarning, match="which enlarges them"):
        fpca = FPCA(shrinkage=0.2, alignment="path").fit(daily_living(60, seed=seed).map(positions))
    return HumanLikePlanner(fpca)


def positions(trial: Trial) -> Trial:
    return trial.select(("x", "y", "z"))


def _direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def quintic(plan) -> tuple[float, float]:
    """Length and peak speed of the quintic between the end states of a plan of positions, by SciPy."""
    ends = [plan.start_time, plan.end_time]
    states = [[plan.position(t, derivative) for derivative in range(3)] for t in ends]
    v = BPoly.from_derivatives(ends, states)(np.linspace(*ends, 4001), 1)
    speed = np.linalg.norm(v, axis=1)
    return float(speed.mean() * plan.duration), float(speed.max())


def test_components_of_returning_poses_warn() -> None:
    """The case of the documentation before: 4.9 m for 0.37 m; and others of its kind."""
    motions = turns_from_start(daily_living(60, seed=5))
    with pytest.warns(ThunderWarning, match=r'60 of 60 motions return .* alignment of all is "path"'):
        fpca = FPCA(shrinkage=0.2, alignment="path").fit(motions)
    T0, T1 = np.eye(4), np.eye(4)
    T1[:3] = [[0, -1, 0, 0.3], [1, 0, 0, 0.1], [0, 0, 1, 0.2]]
    planner = HumanLikePlanner(fpca)
    with pytest.warns(ThunderWarning, match=FAR + r".*training motions return toward their start"):
        plan = planner.plan(T0, T1, 1.0)
    assert plan.path_length["m"] > 2.0
    assert plan.peak_speed["m"] > 5.0
    assert 1.5 < plan.path_length["rad"] < 3.0  # a quarter turn
    with pytest.warns(ThunderWarning, match="the replanned motion " + FAR):
        planner.replan(plan, 0.4, T1)
    with pytest.warns(ThunderWarning, match="a plan " + FAR):
        planner.plan_many(np.zeros(6), [0.3, 0.1, 0.2, 0.0, 0.0, 1.5], 1.0, n=2)
    assert HumanLikePlanner(fpca, max_travel_ratio=np.inf).plan(T0, T1, 1.0).path_length == plan.path_length


def test_every_plan_of_enlarged_motions_warns() -> None:
    rng = np.random.default_rng(7)
    planner = enlarged(8)
    for _ in range(20):
        way, T = rng.uniform(0.02, 0.8) * _direction(rng), rng.uniform(0.5, 3.0)
        with pytest.warns(ThunderWarning, match=FAR):
            plan = planner.plan(np.zeros(3), way, T)
        length, speed = quintic(plan)
        assert plan.path_length["m"] > 4.0 * length
        assert plan.peak_speed["m"] > 4.0 * speed


@pytest.mark.parametrize("name", ["aligned", "joint aligned", "plain", "sigma", "away", "parts", "joints"])
def test_good_plans_and_replanned_motions_do_not_warn(name) -> None:
    """Plans over distances, durations and rates like those of the demonstrations; warnings are errors."""
    rng = np.random.default_rng(11)
    if name == "joints":
        planner = HumanLikePlanner(joints())
        for _ in range(30):
            a, b = rng.normal(size=(2, 7))
            plan = planner.plan(a, b, 1.0)
            planner.replan(plan, 0.3, b + 0.05)
        return
    sets = {
        "sigma": lambda: sigma_lognormal_reaches(60, seed=1),
        "away": lambda: away().map(positions),
        "parts": lambda: segment_by_speed(daily_living(60, seed=4)).map(positions),
    }
    planner = HumanLikePlanner(
        FPCA(shrinkage=0.2).fit(sets[name]()) if name in sets else fitted(name), max_distance_ratio=np.inf
    )
    moving = name not in sets
    for _ in range(20):
        a, T = rng.normal(size=3), rng.uniform(0.4, 3.0)
        b = a + rng.uniform(0.15, 0.5) * _direction(rng)
        v = 0.2 * rng.normal(size=(2, 3)) if moving else np.zeros((2, 3))
        plan = planner.plan(a, b, T, start_velocity=v[0], goal_velocity=v[1])
        planner.replan(plan, 0.3 * T, b + 0.01 * _direction(rng), goal_velocity=v[1])
    batch = planner.plan_many(0.2 * rng.normal(size=(50, 3)), [0.2, 0.1, 0.0], 1.0, n=2)
    assert batch.found.all()


def test_motions_that_stand_still_or_are_tiny_do_not_warn() -> None:
    for name in ("aligned", "plain", "joint"):
        planner = HumanLikePlanner(fitted(name))
        for size in (0.0, 1e-9, 1e-5, 1e-3):
            planner.plan(np.zeros(3), [size, 0.0, size], 1.0)


def test_components_of_motions_that_return_plan_a_return() -> None:
    """A motion back to the start is like the training motions; minimum jerk stands still."""
    trials = out_and_back(0.05, seed=4)
    fpca = FPCA(shrinkage=0.1).fit(trials)  # all return: no warning
    assert fpca.alignment_ == "none"
    plan = HumanLikePlanner(fpca).plan(np.zeros(3), [0.02, 0.0, 0.0], 2.0)
    assert plan.path_length["m"] < 2.0 * max(np.linalg.norm(np.diff(trial.x, axis=0), axis=1).sum() for trial in trials)


def test_the_most_likely_motion_under_constraints_is_checked() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    ends = [Constraint(0.0, "position", 0.0), Constraint(1.0, "position", 0.1)]
    rest = [Constraint(t, kind) for t in (0.0, 1.0) for kind in ("velocity", "acceleration")]
    planner.condition(ends, 1.0).plan()
    planner.condition([*ends, Constraint(0.5, "position", [0.1, 0.3, 0.1], noise=0.1)], 1.0).plan()  # a detour
    with pytest.warns(ThunderWarning, match="the most likely motion " + FAR):
        enlarged(2).condition([*ends, *rest], 1.0).plan()


class TestAlignment:
    """One motion that returns never changes the alignment of all without a warning."""

    LOOP = Trial.from_positions(
        TAU, np.column_stack([0.1 - 0.1 * np.cos(2 * np.pi * TAU), 0.1 * np.sin(2 * np.pi * TAU), 0 * TAU]), name="loop"
    )

    def test_a_loop_among_reaches_is_named(self) -> None:
        reaches = list(minimum_jerk_reaches(20, seed=8))
        assert FPCA(shrinkage=0.1).fit(reaches).alignment_ == "path"
        with pytest.warns(ThunderWarning, match=r'1 of 21 motions return .*\(loop\): the alignment of all is "none"'):
            assert FPCA(shrinkage=0.1).fit([*reaches, self.LOOP]).alignment_ == "none"
        assert FPCA(shrinkage=0.1, alignment="none").fit([*reaches, self.LOOP]).alignment_ == "none"

    @pytest.mark.parametrize(("back", "returns"), [(0.02, True), (0.3, True), (0.45, None), (0.7, False), (1.2, False)])
    def test_the_displacement_relative_to_the_extent_decides(self, back, returns) -> None:
        trials = out_and_back(back, seed=9, count=8)
        expected = [
            np.linalg.norm(trial.x[-1] - trial.x[0]) <= 0.5 * np.linalg.norm(trial.x - trial.x[0], axis=1).max()
            for trial in trials
        ]
        if returns is not None:
            assert set(expected) == {returns}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fpca = FPCA(shrinkage=0.1).fit(trials)
        assert fpca.alignment_ == ("none" if any(expected) else "path")
        assert len(caught) == (0 < sum(expected) < len(expected))

    def test_the_remedy_works(self) -> None:
        parts = segment_by_speed(MotionSet(out_and_back(0.1, seed=6, count=12)))
        assert len(parts) == 24
        assert FPCA(shrinkage=0.1).fit(parts).alignment_ == "path"


class TestPrimitives:
    """Forcing terms scaled by a displacement that is small in the demonstration."""

    GROWS = "the motion is longer and faster than 2 times the demonstration"

    @pytest.mark.parametrize("short", [2e-5, 1e-3, 0.01])
    def test_a_coordinate_that_nearly_returns(self, short) -> None:
        x = np.column_stack([0.4 * STEP, short * STEP + 0.05 * np.sin(np.pi * TAU) ** 3])
        dmp = DMP.paper().fit((TAU, x))
        shown = dmp.rollout()
        assert np.abs(dmp.rollout(goal=[0.5, short]).x).max() < 0.6  # the same displacement of y: as demonstrated
        with pytest.warns(ThunderWarning, match=self.GROWS):
            motion = dmp.rollout(goal=[0.4, 5.0 * short + 0.02])
        assert np.ptp(motion.x[:, 1]) > 2.0 * np.ptp(shown.x[:, 1])
        with pytest.warns(ThunderWarning, match=self.GROWS):
            dmp.reset(goal=[0.4, 5.0 * short + 0.02])
        plain = DMP(rotodilatation=False).fit((TAU, x)).rollout(goal=[0.4, 5.0 * short + 0.02])
        assert np.ptp(plain.x[:, 1]) < 0.05 + 5.0 * short + 0.03  # the remedy

    def test_rotodilatation_of_a_motion_that_returns(self) -> None:
        x = np.column_stack([0.3 * np.sin(np.pi * TAU) ** 3, 0.02 * STEP])
        dmp = DMP(rotodilatation=True).fit((TAU, x))
        with pytest.warns(ThunderWarning, match=self.GROWS):
            assert np.abs(dmp.rollout(goal=[0.2, 0.0]).x).max() > 1.0
        assert not DMP().fit((TAU, x)).rotodilatation_

    def test_curved_demonstrations_over_any_distance_do_not_warn(self) -> None:
        x = np.column_stack([0.4 * STEP, 0.2 * STEP + 0.1 * np.sin(np.pi * TAU) ** 3])
        for dmp in (DMP.paper(), DMP(), DMP(rotodilatation=True)):
            for size in (0.01, 1.0, 30.0):
                dmp.fit((TAU, x)).rollout(goal=size * x[-1])

    def test_orientation(self) -> None:
        about = np.column_stack([0.8 * STEP, 0.005 * STEP + 0.3 * np.sin(np.pi * TAU) ** 3, 0.4 * STEP])
        dmp = QuaternionDMP(scaling="paper").fit((TAU, Rotation.from_rotvec(about)))
        dmp.rollout()
        with pytest.warns(ThunderWarning, match=self.GROWS):
            dmp.rollout(goal=Rotation.from_rotvec([0.8, 0.1, 0.4]))
