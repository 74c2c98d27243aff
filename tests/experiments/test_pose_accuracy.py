import numpy as np
import pytest

from thunder_py.papers.pose_accuracy import run as experiment
from thunder_py.papers.pose_accuracy.run import HIDDEN


@pytest.mark.parametrize("share", HIDDEN[1:])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_screen_hides_the_stated_share(share, side):
    shape, middle = experiment.shape_of("box", 0.05, -0.02, 0.6)
    camera, rng = experiment.DEPTH_CAMERA, np.random.default_rng(0)
    before = (camera.see([experiment.BELT, shape], rng).shape == 1).sum()
    scene = [experiment.BELT, shape, *experiment._screen(shape, middle, share, side)]
    after = (camera.see(scene, rng).shape == 1).sum()
    assert after / before == pytest.approx(1.0 - share, abs=0.02)


def test_blur_is_as_long_as_the_way_during_the_exposure(monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setattr(experiment, "EXPOSURE", 0.05)
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[2, 3] = 0.5
    rng = np.random.default_rng(0)
    still, moved = (experiment._moving(T, np.array([v, 0.0, 0.0]), rng).astype(float) for v in (0.0, 0.4))
    row = slice(230, 250)  # through the middle of the tag, along the motion: 24 pixels of way
    sharpness = [np.abs(np.diff(picture[row], axis=1)).max() for picture in (still, moved)]
    assert sharpness[1] < 0.5 * sharpness[0]


def test_a_moving_tag_is_found_and_a_covered_one_is_not():
    pytest.importorskip("cv2")
    rng = np.random.default_rng(0)
    T = experiment._tag_pose(rng, experiment.MOVING_AT)
    position, angle = experiment._found(experiment._moving(T, np.array([0.4, 0.0, 0.0]), rng), T)
    assert position < experiment.PRINTED
    assert angle < np.radians(2.0)
    assert np.isnan(experiment._found(experiment._covered(T, 0.2, rng), T)[0])


def test_the_middle_of_a_box_is_found_the_mean_is_biased(monkeypatch):
    monkeypatch.setattr(experiment, "HIDDEN", (0.0,))
    monkeypatch.setattr(experiment, "OBJECTS", ("box",))
    ((error,),) = experiment.cloud_errors(0)
    assert np.abs(error[3:6]).max() < 0.008 < np.abs(error[:3]).max()
    assert abs(error[6]) < np.radians(3.0)


def test_bias_and_root_mean_square():
    errors = np.array([[0.003, 0.0, 0.0], [0.001, 0.0, 0.0], [np.nan] * 3])
    assert experiment._bias_and_rms(errors) == pytest.approx((2.0, np.sqrt(5.0)))
