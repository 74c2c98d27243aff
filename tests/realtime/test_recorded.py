"""The loop in C++ answers as the one in Python did, which was written first (commit 1503fe5 recorded the answers)."""

from pathlib import Path

import numpy as np
import pytest

from thunder_py.realtime import Mode

from .recorded import LOOPS, play, rows

RECORDED = Path(__file__).parent.parent / "data" / "realtime" / "commands.npz"


@pytest.mark.filterwarnings("ignore:K_d or Lambda")
@pytest.mark.parametrize("name", LOOPS)
def test_the_answers_are_those_of_the_loop_in_python(name: str) -> None:
    with np.load(RECORDED) as recorded:
        expected, answers = recorded[name], rows(play(name, recover=True))
    whole, torques = [0, 1, 9, 10], slice(2, 9)
    np.testing.assert_allclose(answers[:, whole], expected[:, whole], rtol=1e-9, atol=1e-9)
    tracking = expected[:, 1] == Mode.tracking
    same = np.isclose(answers[tracking, torques], expected[tracking, torques], rtol=1e-9, atol=1e-9).all(axis=1)
    assert same.mean() > 0.9  # after a hold, the torque rate takes some states
