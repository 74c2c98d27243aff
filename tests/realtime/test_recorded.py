"""The loop in C++ answers as the one in Python did, which was written first (commit 1503fe5 recorded the answers)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .recorded import LOOPS, play, rows

RECORDED = Path(__file__).parent.parent / "data" / "realtime" / "commands.npz"


@pytest.mark.filterwarnings("ignore:K_d or Lambda")
@pytest.mark.parametrize("name", LOOPS)
def test_the_answers_are_those_of_the_loop_in_python(name: str) -> None:
    with np.load(RECORDED) as recorded:
        np.testing.assert_allclose(rows(play(name, recover=True)), recorded[name], rtol=1e-9, atol=1e-9)
