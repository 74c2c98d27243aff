"""Functional components of recorded reaches (CULM), where the recordings are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thunder_py.motion import FPCA
from thunder_py.recordings import MotionSet

CULM = Path(__file__).parents[2].parent / "shared" / "data" / "culm"
pytestmark = pytest.mark.skipif(not CULM.is_dir(), reason="recordings are not here")


@pytest.fixture(scope="module")
def reaches():
    from thunder_py.recordings.loaders import load_culm
    from thunder_py.recordings.processing import low_pass, segment_by_speed

    planned = load_culm(CULM).filter(task="Planned")
    parts = [part for trial in planned for part in segment_by_speed(low_pass(trial, 10.0))]
    far = [part for part in parts if np.linalg.norm(part.position[-1] - part.position[0]) > 0.2]
    assert len(far) > 300
    return MotionSet(far)


def test_a_few_shapes_are_enough(reaches):
    """Splines follow the recordings to under a millimeter, five joint components explain 99 % of the variance."""
    fpca = FPCA(5, joint=True, alignment="path", shrinkage=0.0).fit(reaches)
    nodes, weights = fpca.basis_.quadrature()
    S = fpca.components(nodes)
    np.testing.assert_allclose(np.einsum("ntd,t,mtd->nm", S, weights, S), np.eye(5), atol=1e-12)
    assert fpca.explained_variance_ratio_.sum() > 0.99
    every = FPCA(smoothing="gcv", alignment="none", shrinkage=0.0).fit(reaches)
    for k in range(0, len(reaches), 50):
        tau = (reaches[k].t - reaches[k].t[0]) / reaches[k].duration
        back = every.inverse_transform(every.scores_[[k]], every.offsets_[[k]], tau=tau)[0]
        assert np.sqrt(((back - reaches[k].position) ** 2).sum(axis=1).mean()) < 1e-3
