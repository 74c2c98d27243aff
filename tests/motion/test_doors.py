"""What is no input says so, whatever it is: never an error of NumPy, SciPy or the C++ core, never a wrong answer."""

from functools import partial

import numpy as np

from tests.refusals import assert_refused
from thunder_py.motion import DMP, Constraint, DynamicPotential, ProMP, QuaternionDMP
from thunder_py.recordings import MotionSet, Trial, downloads, metrics, processing, split_reaches, statistics
from thunder_py.recordings.loaders import load_table
from thunder_py.recordings.synthetic import SigmaLognormal, minimum_jerk_reaches, power_law_curves
from thunder_py.trajectory import minimum_jerk

t = np.linspace(0.0, 1.0, 101)
REACH = Trial.from_positions(t, (t**3 * (10 - 15 * t + 6 * t**2))[:, None] * [0.3, 0.2, 0.1])
TURN = Trial.from_poses(t, REACH.x, euler=REACH.x, sequence="XYZ")
RESTING = REACH.with_values(np.full((101, 3), 1.0 / 3.0))
SET = minimum_jerk_reaches(4, seed=0)
MOTION = minimum_jerk([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 1.0)
LEARNED = ProMP().fit(SET)
STROKE = {"strokes": [[0.0, 1.0, 0.0, 0.3, 0.0, 0.0]], "start": [0.0, 0.0, 0.0], "plane": np.eye(3)[:2]}


def test_what_is_no_input_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    table = partial(load_table, "a.csv", columns=["x"], unit="m", rate=10)
    assert_refused(
        # trial
        (lambda: Trial([0, 1], [[0.0], [1.0]], ["x"], units=5), "...units must be one of..."),
        (lambda: Trial([-1e308, 1e308], [[0.0], [1.0]], ["x"]), "...t must be finite..."),
        (
            lambda: Trial.from_poses(t, REACH.x, matrix=np.full((101, 3, 3), 1e200)),
            "...matrix must be finite (at most...",
        ),
        (lambda: MotionSet(REACH), "...trials must be a sequence of Trials, got Trial..."),
        (lambda: SET.filter(subject=5), "...subject must be text or several texts..."),
        (lambda: downloads.fetch("culm", known_hash=3), "...known_hash must be..."),
        # files
        (lambda: load_table("a.csv", columns=["x"], unit=None, rate=10), "...unit must name the unit..."),
        (lambda: load_table("a.csv", columns=3, unit="m", rate=10), "...columns must be..."),
        (lambda: table(skip="a"), "...skip must be a whole number..."),
        (lambda: table(delimiter=""), "...delimiter must be one ..."),
        (lambda: table(name=3), "...name must be text..."),
        (lambda: table(euler=[], sequence="XYZ"), "...must name 3 ..."),
        # processing
        (lambda: processing.low_pass(REACH, None), "...cutoff must be a positive frequency [Hz], or math.inf..."),
        (lambda: processing.low_pass(REACH, 1e-9), "...cutoff must be above..."),
        (lambda: processing.low_pass(REACH, 5.0, order=2.0), "...order must be a whole number from 1 to 10..."),
        (lambda: processing.fill_gaps(REACH, longest="a"), "...longest must be positive..."),
        (lambda: processing.split_at_gaps(REACH, "a"), "...least_duration must not be negative [s]..."),
        (lambda: processing.resample(REACH, rate="a"), "...rate must be positive..."),
        (lambda: processing.resample(REACH, rate=1e12), "...rate must yield at most..."),
        (lambda: split_reaches(REACH, "a"), "...threshold must not be negative..."),
        (lambda: processing.crop_to_movement(REACH, "a"), "...fraction must be a number..."),
        (lambda: processing.peak_speed_time(RESTING), "...must move to have a peak of speed..."),
        (lambda: processing.register(SET, landmarks=[0.2]), "...one entry for each of 4 trials..."),
        (lambda: processing.register(SET, landmarks=lambda trial: "a"), "...landmarks must be numbers..."),
        (lambda: processing.register(SET, target=[np.nan]), "...target must be 1 increasing numbers..."),
        (lambda: processing.register(SET, "affine", grid=3), "...grid must be two numbers..."),
        (lambda: processing.register(SET, "affine", shifts=("a", "b")), "...shifts must be numbers..."),
        (lambda: processing.register(SET, "affine", reference="a"), "...reference must be a whole number..."),
        (lambda: processing.landmark_map([], []), "...got none..."),
        # metrics
        (lambda: metrics.mean_jerk(("a", "b"), cutoff=5.0), "...x must be numbers..."),
        (lambda: metrics.mean_jerk(REACH, cutoff="a"), "...cutoff must be a positive frequency..."),
        (lambda: metrics.mean_jerk(REACH, cutoff=5.0, part=["x"]), "...part must be one of..."),
        (lambda: metrics.path_length(REACH, cutoff="a"), "...cutoff must be a positive frequency..."),
        (lambda: metrics.rms_distance(REACH, MOTION, n=2.5), "...n must be a whole number..."),
        (lambda: metrics.sparc(MOTION, rate=-1.0), "...rate must be positive..."),
        (lambda: metrics.sparc(minimum_jerk([0.0], [1.0], 1e6)), "...rate must yield at most..."),
        (lambda: metrics.sparc(MOTION, padding=60), "...padding must be a whole number from 0 to 16..."),
        (lambda: metrics.sparc(MOTION, highest=-1.0), "...highest must be positive..."),
        (lambda: metrics.sparc(MOTION, threshold=2.0), "...threshold must be a number..."),
        (lambda: metrics.spectral_arc_length([], 100.0), "...two samples or more, got 0..."),
        (lambda: metrics.spectral_arc_length([1.0, np.nan], 100.0), "...speed must be finite..."),
        (lambda: metrics.power_law(REACH, cutoff=np.inf, slowest="a"), "...slowest must be a number..."),
        (lambda: statistics.cliffs_delta([1.0], [2.0], n_resamples=0), "...n_resamples must be a whole number..."),
        (lambda: statistics.cliffs_delta([1.0], [2.0], seed="a"), "...seed must be a whole number..."),
        (lambda: statistics.bootstrap_interval([1.0, 2.0], n_resamples=0), "...n_resamples must be a whole number..."),
        # primitives
        (lambda: DMP().fit(3), "...demonstrations must be motions, or several of them, got int..."),
        (lambda: DMP().fit((t, "a")), "...demonstration 0: x must be numbers..."),
        (lambda: DMP(alpha=1e3).fit(REACH), "...alpha, n_basis and overlap must give distinct centers..."),
        (lambda: DMP(10**9).fit(REACH), "...n_basis must be a whole number from 2 to 10000..."),
        (lambda: DMP(rotodilatation=True).with_weights(np.zeros((21, 1)), [0.0], [0.0], 1.0), "...start and goal ..."),
        (lambda: DMP().fit(REACH).rollout(until=1e9, dt=1e9), "...until must be at most 10000 durations..."),
        (lambda: QuaternionDMP().fit(TURN).rollout(dt=1e-9), "...at most 1e7 samples..."),
        (lambda: DMP().fit(REACH).rollout().position("now"), "...t must be numbers..."),
        (lambda: DynamicPotential().force([0.0, np.nan, 0.0], [0.0, 0.0, 0.0], []), "...y must be finite..."),
        (lambda: DynamicPotential().force(np.zeros((2, 3)), np.zeros((3, 3)), []), "...y and z must have shapes ..."),
        (lambda: DynamicPotential().force(np.zeros(3), np.zeros(3), [], t="now"), "...t must be a finite number..."),
        # models
        (lambda: minimum_jerk_reaches(1, seed=-1), "...seed must be a whole number..."),
        (lambda: power_law_curves(1, exponent="a"), "...exponent must be a number..."),
        (lambda: SigmaLognormal(**STROKE, duration=-1.0), "...duration must be positive..."),
        (lambda: minimum_jerk([0.0], [1.0], True), "...duration must be positive [s]..."),
        (lambda: minimum_jerk([0.0], [1.0], 1e-300), "...from 1e-50 to..."),
        (lambda: MOTION.position("now"), "...t must be numbers..."),
        (lambda: MOTION.position(0.0, 1.5), "...derivative must be a whole number from 0 to 5..."),
        (lambda: ProMP(overlap="a").fit(SET), "...overlap must be a number..."),
        (lambda: LEARNED.mean("a"), "...tau must be numbers..."),
        (lambda: LEARNED.sample(1.5), "...n must be a whole number..."),
        (lambda: LEARNED.condition([3]), "...must be a sequence of Constraint..."),
        (lambda: LEARNED.condition([Constraint(0.5, "position", ["a", 0, 0])]), "...value must be numbers..."),
    )


def test_an_infinite_cutoff_is_no_filter():
    learned = [DMP().fit(REACH, **given).weights_ for given in ({}, {"cutoff": np.inf})]
    np.testing.assert_array_equal(*learned)
    assert processing.low_pass(REACH, np.inf) is REACH
    assert metrics.path_length(REACH) == metrics.path_length(REACH, cutoff=np.inf)
    assert metrics.path_length(MOTION, cutoff=np.inf) == metrics.path_length(MOTION)
