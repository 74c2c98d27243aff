"""Sources that freeze, jump, send NaN, fall silent, come late or out of order."""

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.manipulation.servoing.pose_filter import LatestPose, PoseFilter
from thunder_py.manipulation.servoing.tracker import SourceFault, TargetTracker
from thunder_py.perception.pose_source import PoseFault, PoseMeasurement, SimulatedPoseSource

POSE = np.eye(4)
NOISE = (0.003, 0.03)


def tracker(**options):
    defaults = {"rate": 10.0, "latency": 0.1, "position_noise": NOISE[0], "rotation_noise": NOISE[1], "seed": 1}
    source = SimulatedPoseSource(lambda t: POSE, **{**defaults, **options})
    return TargetTracker(source, PoseFilter(*NOISE, acceleration=0.02, angular_acceleration=0.05, persistence=0.5))


def tracks(one, seconds, period=0.02):
    return [one.update(t) for t in np.arange(0.0, seconds, period)]


class Scripted:
    """Gives away what it was given, at its time."""

    def __init__(self, *measurements):
        self.measurements = measurements
        self.reset()

    def reset(self):
        self.waiting = sorted(self.measurements, key=lambda m: m.available)

    def poll(self, t):
        ready = [m for m in self.waiting if m.available <= t]
        self.waiting = self.waiting[len(ready) :]
        return ready


def test_nothing_is_known_before_the_first_result():
    one = tracker()
    first = one.update(0.05)
    assert first.estimate is None
    assert first.age == np.inf
    track = one.update(0.1)
    assert track.estimate is not None
    assert track.age == pytest.approx(0.1)
    assert track.trouble is SourceFault.none


def test_age_counts_from_the_picture():
    found = tracks(tracker(), 4.0)[10:]
    assert max(track.age for track in found) < 0.1 + 0.1 + 0.021
    assert all(track.trouble in (SourceFault.none, SourceFault.outliers) for track in found)


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ({"faults": [PoseFault("nan", 2.0)]}, SourceFault.invalid),
        ({"faults": [PoseFault("freeze", 2.0)]}, SourceFault.frozen),
        ({"occlusions": [(2.0, 100.0)]}, SourceFault.unseen),
    ],
)
def test_a_source_that_fails_is_told_and_its_age_grows(fault, trouble):
    one = tracker(**fault)
    found = tracks(one, 5.0)
    assert found[-1].trouble is trouble
    assert found[-1].age == pytest.approx(5.0 - 1.9, abs=0.32)  # a frozen pose counts twice before it is known
    assert np.isfinite(found[-1].estimate.pose).all()
    np.testing.assert_allclose(found[-1].estimate.pose[:3, 3], 0.0, atol=0.02)


def test_a_silent_source_is_told():
    """Drop-outs of all pictures but the first: no message is no news."""
    measurements = [PoseMeasurement(0.1 * k, 0.1 * k + 0.1, POSE + 0.0) for k in range(2)]
    one = TargetTracker(Scripted(*measurements), PoseFilter(*NOISE), silence=0.3)
    assert one.update(0.25).trouble is SourceFault.none
    assert one.update(0.6).trouble is SourceFault.silent


def test_a_jump_is_an_outlier_first_and_then_a_new_start():
    one = tracker(faults=[PoseFault("jump", 2.0)])
    found = tracks(one, 4.0)
    assert any(track.trouble is SourceFault.outliers for track in found)
    restarts = [track.time for track in found if track.restarted]
    assert len(restarts) == 1
    assert 2.3 < restarts[0] < 2.7
    assert found[-1].estimate.pose[0, 3] == pytest.approx(0.5, abs=0.01)


def test_messages_from_the_past_and_from_the_future_are_not_used():
    old = [PoseMeasurement(float(k), float(k), POSE) for k in range(3)] + [PoseMeasurement(0.5, 4.0, 1.0 * POSE)]
    one = TargetTracker(Scripted(*old), PoseFilter(*NOISE, memory=1), repeats=None)
    assert one.update(3.0).trouble is SourceFault.none
    assert one.update(4.0).trouble is SourceFault.late

    class Ahead(Scripted):
        def poll(self, t):
            return [PoseMeasurement(t + 1.0, t + 1.0, POSE)]

    track = TargetTracker(Ahead(), LatestPose(*NOISE)).update(0.0)
    assert track.trouble is SourceFault.late
    assert track.estimate is None


def test_sources_without_noise_need_no_check_for_repetition():
    still = [PoseMeasurement(0.1 * k, 0.1 * k, POSE) for k in range(10)]
    suspicious = TargetTracker(Scripted(*still), PoseFilter(*NOISE)).update(1.0)
    trusting = TargetTracker(Scripted(*still), PoseFilter(*NOISE), repeats=None).update(1.0)
    assert suspicious.trouble is SourceFault.frozen
    assert trusting.trouble is SourceFault.none
    assert trusting.age == pytest.approx(0.1)


def test_reset_starts_again():
    one = tracker()
    first = tracks(one, 2.0)[-1]
    one.reset()
    assert one.update(0.0).estimate is None
    again = tracks(one, 2.0)[-1]
    np.testing.assert_array_equal(first.estimate.pose, again.estimate.pose)


def test_bad_options_are_refused():
    source = Scripted()
    assert_refused(
        (lambda: TargetTracker(None, PoseFilter(*NOISE)), "...source..."),
        (lambda: TargetTracker(source, PoseFilter(*NOISE), repeats=1), "...repeats..."),
        (lambda: TargetTracker(source, PoseFilter(*NOISE), silence=0.0), "...silence..."),
        (lambda: TargetTracker(source, PoseFilter(*NOISE), silence="long"), "...silence..."),
    )
