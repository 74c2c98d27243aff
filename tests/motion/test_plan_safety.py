"""Plans that tell how far they are from their training data, that stand still, and that search farther."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.interpolate import BPoly
from scipy.spatial.transform import Rotation

from thunder_py.errors import NoPathError, ThunderWarning
from thunder_py.geometry import Box, Capsule, Sphere
from thunder_py.motion import DMP, FPCA, Constraint, HumanLikePlanner, QuaternionDMP, ViaSearch, turns_from_start
from thunder_py.recordings import Trial, split_reaches
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches, sigma_lognormal_reaches

from .planner_models import away, fitted, joints

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2
KINDS = [("paper", "paper"), ("plain", "map"), ("joint", "map"), ("aligned", "map"), ("joint aligned", "map")]


def distance_of(plan) -> float:
    variances = plan._planner.fpca.explained_variance_
    used = variances > 0.0
    return float(np.sqrt((plan.scores[used] ** 2 / variances[used]).sum()))


class TestMahalanobisDistance:
    @pytest.mark.parametrize(("kind", "mode"), KINDS)
    def test_is_that_of_the_scores(self, kind, mode) -> None:
        planner = HumanLikePlanner(fitted(kind), mode)
        plan = planner.plan(START, GOAL, T, start_velocity=[0.1, 0.0, -0.2])
        assert plan.mahalanobis_distance == pytest.approx(distance_of(plan), rel=1e-6)
        assert 0.0 < plan.mahalanobis_distance < planner.training_span
        rest = planner.replan(plan, 0.4, GOAL + 0.03)
        assert rest.mahalanobis_distance == pytest.approx(distance_of(rest), rel=1e-9)
        assert rest.mahalanobis_distance != pytest.approx(plan.mahalanobis_distance, rel=1e-6)

    def test_of_joints_conditions_and_batches(self) -> None:
        arm = HumanLikePlanner(joints()).plan(np.zeros(7), 0.5 * np.ones(7), 1.0)
        assert arm.mahalanobis_distance == pytest.approx(distance_of(arm), rel=1e-6)
        planner = HumanLikePlanner(fitted("plain"))
        ends = [Constraint(0.0, "position", START), Constraint(T, "position", GOAL)]
        likely = planner.condition(ends, T).plan()
        assert likely.mahalanobis_distance == pytest.approx(distance_of(likely), rel=1e-9)
        goals = [GOAL, GOAL + 0.1]
        batch = planner.plan_many(START, goals, T, n=3)
        assert batch.mahalanobis_distance.tolist() == [
            pytest.approx(planner.plan(START, goal, T).mahalanobis_distance) for goal in goals
        ]

    def test_of_via_points_is_that_of_the_worst_segment(self) -> None:
        planner = HumanLikePlanner(fitted("aligned"))
        wall = Box(0.5 * (START + GOAL), [0.1, 0.1, 0.1])
        plan = planner.plan(START, GOAL, T, obstacles=[wall], margin=0.01)
        assert len(plan.via_points) >= 1
        assert plan.mahalanobis_distance >= distance_of(plan) * (1.0 - 1e-9)
        batch = planner.plan_many(START, GOAL, T, obstacles=[wall], margin=0.01, n=3)
        assert batch.mahalanobis_distance[0] == pytest.approx(plan.mahalanobis_distance)

    def test_far_from_the_data_a_plan_warns(self) -> None:
        """Reaches that all start at rest: the square system needs scores of many standard deviations."""
        planner = HumanLikePlanner(FPCA.paper(sigma_lognormal_reaches(12, seed=1)), "paper", max_travel_ratio=np.inf)
        with pytest.warns(ThunderWarning, match=r"the plan is .* standard deviations .* training data span"):
            plan = planner.plan(START, GOAL, T, goal_velocity=[0.5, 0.0, 0.0])
        assert plan.mahalanobis_distance > planner.training_span
        with pytest.warns(ThunderWarning, match="the farthest plan is"):
            planner.plan_many(START, [GOAL, GOAL], T, goal_velocities=[0.5, 0.0, 0.0])

    def test_a_replanned_motion_warns_once_in_a_loop(self) -> None:
        planner = HumanLikePlanner(fitted("aligned"))
        plan, other = planner.plan(START, GOAL, T), GOAL + np.array([0.0, 0.1, 0.0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for k in range(4):
                rest = planner.replan(plan, 0.9 + 0.01 * k, other)
                assert rest.mahalanobis_distance > 2.0 * planner.training_span
        (one,) = caught
        assert one.filename == __file__
        assert str(one.message).startswith("the replanned motion is more than 15.7 standard deviations")
        with pytest.warns(ThunderWarning, match="the replanned motion is"):  # neither is a motion that is replanned
            rest = planner.replan(rest, 0.95, other, goal_velocity=[0.01, 0.0, 0.0])
        with pytest.warns(
            ThunderWarning, match="the replanned motion is"
        ):  # an end so late that the motion goes astray
            planner.replan(plan, 0.5, GOAL, end_time=5.0)
        assert HumanLikePlanner(planner.fpca, max_distance_ratio=np.inf).replan(plan, 0.9, GOAL + 0.1).end_time == T

    def test_segments_of_detours_may_be_farther(self) -> None:
        """They begin or end amid a reach: 2.5 times the distance is no warning, more is one."""
        planner = HumanLikePlanner(FPCA().fit(sigma_lognormal_reaches(40, seed=5)), max_travel_ratio=np.inf)
        rng, ratios, bound = np.random.default_rng(3), [], 2.0 * planner.training_span
        for _ in range(8):
            goal = START + rng.normal(size=3) * 0.2
            balls = [Sphere(START + 0.5 * (goal - START) + rng.normal(size=3) * 0.01, 0.04)]
            plan = planner.plan(START, goal, 1.0, obstacles=balls, margin=0.02)  # a warning is an error
            planner.replan(plan, 0.8, goal + 1e-4)
            ratios.append(plan.mahalanobis_distance / bound)
        assert 1.0 < max(ratios) < 2.5
        planner = HumanLikePlanner(FPCA().fit(sigma_lognormal_reaches(6, seed=2)), max_travel_ratio=np.inf)
        ball, fast = [Sphere([0.3, 0.1, 0.35], 0.04)], [2.0, 0.0, 0.0]
        message = f"is more than {5.0 * planner.training_span:.3g} standard"
        free = planner.plan(START, GOAL, 1.0)
        with pytest.warns(ThunderWarning, match=f"the plan {message}") as caught:
            plan = planner.plan(START, GOAL, 1.0, goal_velocity=fast, obstacles=ball, margin=0.02)
        with pytest.warns(ThunderWarning, match=f"the replanned motion {message}") as again:
            rest = planner.replan(free, 0.01, GOAL, goal_velocity=fast, obstacles=ball, margin=0.02)
        with pytest.warns(ThunderWarning, match=f"the farthest plan {message}") as batch:
            planner.plan_many(START, GOAL, 1.0, goal_velocities=fast, obstacles=ball, margin=0.02)
        assert (len(plan.via_points), len(rest.via_points), rest.fallback) == (1, 1, "plan")
        assert [one.filename for one in (*caught, *again, *batch)] == [__file__] * 3

    def test_conditions_and_tubes_warn(self) -> None:
        planner = HumanLikePlanner(fitted("plain"))
        far = [Constraint(0.0, "position", START), Constraint(T, "position", GOAL + 9.0)]
        calls = (
            lambda: planner.condition(far, T),
            lambda: planner.tube(START, GOAL + 9.0, T, [0.5]),
            lambda: planner.sample(START, GOAL + 9.0, T, 1, seed=1),
        )
        for call in calls:
            with pytest.warns(ThunderWarning, match="the most likely motion is more than") as caught:
                call()
            assert caught[0].filename == __file__


class TestStandstill:
    @pytest.mark.parametrize(("kind", "mode"), [*KINDS, ("pose", "map"), ("pose joint aligned", "map")])
    def test_start_and_goal_alike(self, kind, mode) -> None:
        planner = HumanLikePlanner(fitted(kind), mode)
        p = START if len(planner.dofs) == 3 else (START, np.eye(3))
        plan = planner.plan(p, p, 1.0)
        t = np.linspace(0.0, 1.0, 21)
        assert np.abs(plan.position(t) - plan.position(0.0)).max() < 1e-12
        assert np.abs(plan.position(t, 1)).max() < 1e-9
        distance = [np.abs(planner.tube(p, p, 1.0, t)[0] - plan.position(0.0)).max()]
        assert max(distance) < 1e-9

    def test_joints_and_batches(self) -> None:
        planner = HumanLikePlanner(joints())
        q = np.linspace(-1.0, 1.0, 7)
        assert np.abs(planner.plan(q, q, 2.0).position([0.5, 1.0, 1.5]) - q).max() < 1e-12
        assert np.abs(planner.plan_many(q, q, 2.0, n=5).x - q).max() < 1e-12


class TestWiderSearch:
    def planner(self):
        return HumanLikePlanner(fitted("aligned"))

    def wall(self):
        """A wall whose edges a narrow search cannot reach."""
        return _plate(0.5 * (START + GOAL), GOAL - START, 0.9)

    def test_a_failed_search_is_widened(self) -> None:
        planner, narrow = self.planner(), ViaSearch(count=40, half_width=0.2, most=1)
        with pytest.raises(NoPathError, match="no path keeps"):
            planner.plan(
                START, GOAL, T, obstacles=[self.wall()], via=ViaSearch(40, half_width=0.2, most=1, widenings=0)
            )
        plan = planner.plan(
            START, GOAL, T, obstacles=[self.wall()], via=ViaSearch(40, half_width=0.2, most=1, widenings=3)
        )
        assert 1 <= plan.widenings <= 3
        assert plan.clearance >= 0.0
        assert plan._details.candidates > 40
        assert planner.plan(START, GOAL, T, obstacles=[], via=narrow).widenings == 0


def _plate(center, normal, width):
    x = normal / np.linalg.norm(normal)
    y = np.cross([0.0, 0.0, 1.0], x)
    R = np.stack([x, y / np.linalg.norm(y), np.cross(x, y) / np.linalg.norm(y)], axis=1)
    return Box(center, [0.02, width, width], R)


# --- Length and speed of plans in meters and radians, compared with minimum jerk and with the training motions ---
FAR = "is longer, faster"
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
    with pytest.warns(ThunderWarning, match="enlarged by alignment"):
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
    with pytest.warns(ThunderWarning, match=r'60 of 60 motions return .* enlarged by alignment="path"'):
        fpca = FPCA(shrinkage=0.2, alignment="path").fit(motions)
    T0, T1 = np.eye(4), np.eye(4)
    T1[:3] = [[0, -1, 0, 0.3], [1, 0, 0, 0.1], [0, 0, 1, 0.2]]
    planner = HumanLikePlanner(fpca)
    with pytest.warns(ThunderWarning, match=FAR + r".*training motions return toward their start"):
        plan = planner.plan(T0, T1, 1.0)
    assert plan.path_length["m"] > 2.0
    assert plan.peak_speed["m"] > 5.0
    assert {one.quantity for one in plan.excess} == {"path length", "peak speed", "peak acceleration"}
    assert str(plan.excess[0]) in repr(plan)
    assert 1.5 < plan.path_length["rad"] < 3.0  # a quarter turn
    with pytest.warns(ThunderWarning, match="the replanned motion " + FAR):
        rest = planner.replan(plan, 0.4, T1)
    assert rest.excess
    with pytest.warns(ThunderWarning, match="the farthest plan " + FAR):
        batch = planner.plan_many(np.zeros(6), [[0.3, 0.1, 0.2, 0.0, 0.0, 1.5], np.zeros(6)], 1.0, n=2)
    assert batch.to_columns()["exceeds"].tolist() == [True, False]
    assert HumanLikePlanner(fpca, max_travel_ratio=np.inf).plan(T0, T1, 1.0).path_length == plan.path_length


def test_every_plan_of_enlarged_motions_warns() -> None:
    rng = np.random.default_rng(7)
    planner = enlarged(8)
    planner = pickle.loads(pickle.dumps(planner))  # the limits are kept
    for _ in range(20):
        way, T = rng.uniform(0.02, 0.8) * _direction(rng), rng.uniform(0.5, 3.0)
        with pytest.warns(ThunderWarning, match=FAR):
            plan = planner.plan(np.zeros(3), way, T)
        length, speed = quintic(plan)
        assert plan.path_length["m"] > 4.0 * length
        assert plan.peak_speed["m"] > 4.0 * speed


UP = np.array([0.0, 0.0, 0.2])


def scenes(rng: np.random.Generator, count: int):
    """Start, goal, duration and up to five obstacles near the straight line, which leave both ends free."""
    while count:
        a, b = rng.uniform(-0.5, 0.5, (2, 3))
        centers = [a + (b - a) * rng.uniform(0.15, 0.85) + 0.08 * rng.normal(size=3) for _ in range(rng.integers(6))]
        kinds = (
            lambda c: Sphere(c, rng.uniform(0.03, 0.12)),
            lambda c: Box(c, rng.uniform(0.05, 0.25, 3), Rotation.random(random_state=rng).as_matrix()),
            lambda c: Capsule(c - UP, c + UP, rng.uniform(0.02, 0.06)),
        )
        obstacles = [kinds[rng.integers(3)](c) for c in centers]
        if np.linalg.norm(b - a) > 0.1 and all(o.distance(p) > 0.03 for o in obstacles for p in (a, b)):
            count -= 1
            yield a, b, rng.uniform(0.4, 2.5), obstacles


def sampled(plan) -> np.ndarray:
    """Length and peak speed of the position, from samples of it alone."""
    t = np.linspace(plan.start_time, plan.end_time, 2001)
    steps = np.linalg.norm(np.diff(plan.position(t)[:, :3], axis=0), axis=1)
    return np.array([steps.sum(), steps.max() / (t[1] - t[0])])


RECORDINGS = {
    "minimum jerk": lambda seed: minimum_jerk_reaches(40, seed=seed),
    "sigma": lambda seed: sigma_lognormal_reaches(40, seed=seed),
    "daily": lambda seed: daily_living(40, seed=seed).map(positions),
    "parts": lambda seed: split_reaches(daily_living(40, seed=seed)).map(positions),
}


@pytest.mark.release
@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize("alignment", ["auto", "none"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_no_plan_is_much_longer_or_faster_than_minimum_jerk_without_a_warning(name, alignment, seed) -> None:
    """1.6 and 2 times the minimum-jerk reach among the same obstacles, also where motions continue."""
    rng, warned, silent = np.random.default_rng(seed), 0, 0
    ideal = HumanLikePlanner(FPCA(shrinkage=1.0).fit(minimum_jerk_reaches(20, seed=1)))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        planner = HumanLikePlanner(FPCA(alignment=alignment).fit(RECORDINGS[name](seed)), max_distance_ratio=np.inf)
    for a, b, T, obstacles in scenes(rng, 200):
        options = {"obstacles": obstacles, "margin": 0.02}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                plan, other = planner.plan(a, b, T, **options), ideal.plan(a, b, T, **options)
            except NoPathError:
                continue
        far = (sampled(plan) > [1.6, 2.0] * sampled(other)).any()
        assert bool(caught) == bool(plan.excess)
        assert caught or not far
        warned, silent = warned + bool(caught), silent + (not caught)
    assert warned + silent > 150
    assert (silent > 150) == (name in ("minimum jerk", "parts"))


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
        "parts": lambda: split_reaches(daily_living(60, seed=4)).map(positions),
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
        for size in (0.0, 1e-9, 1e-5):
            planner.plan(np.zeros(3), [size, 0.0, size], 1.0)


def test_the_most_likely_motion_under_constraints_is_checked() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    ends = [Constraint(0.0, "position", 0.0), Constraint(1.0, "position", 0.1)]
    rest = [Constraint(t, kind) for t in (0.0, 1.0) for kind in ("velocity", "acceleration")]
    planner.condition(ends, 1.0).plan()
    planner.condition([*ends, Constraint(0.5, "position", [0.1, 0.3, 0.1], noise=0.1)], 1.0).plan()  # a detour
    with pytest.warns(ThunderWarning, match="the most likely motion " + FAR):
        enlarged(2).condition([*ends, *rest], 1.0).plan()


class TestPrimitives:
    """Forcing terms scaled by a displacement that is small in the demonstration."""

    GROWS = r"has a (path length|peak speed) of .* times that of the demonstration and of minimum jerk \(limit"

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
        with pytest.warns(ThunderWarning, match=r"path length of .* that of the demonstrations \(limit 10\)"):
            DMP().fit((TAU, x)).rollout(goal=[400.0, 0.02])  # mm
        dmp = DMP(rotodilatation=True).fit((TAU, x))
        with pytest.warns(ThunderWarning, match=self.GROWS):
            assert np.abs(dmp.rollout(goal=[0.2, 0.0]).x).max() > 1.0
        assert not DMP().fit((TAU, x)).rotodilatation_

    def test_orientation(self) -> None:
        about = np.column_stack([0.8 * STEP, 0.005 * STEP + 0.3 * np.sin(np.pi * TAU) ** 3, 0.4 * STEP])
        dmp = QuaternionDMP(scaling="paper").fit((TAU, Rotation.from_rotvec(about)))
        dmp.rollout()
        with pytest.warns(ThunderWarning, match=self.GROWS):
            dmp.rollout(goal=Rotation.from_rotvec([0.8, 0.1, 0.4]))
