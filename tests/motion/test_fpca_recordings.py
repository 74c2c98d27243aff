"""Functional components of recorded reaches (CULM), where the recordings are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thunder_py.motion import FPCA
from thunder_py.motion.fpca.fit import Blend, Setting, SplineSpace, predicted, unit_groups
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


@pytest.mark.release
def test_other_subjects_are_predicted_better_than_by_minimum_jerk(reaches):
    """Leave one subject out: the chosen share against full minimum jerk, from the ends of reaches."""
    errors = {"auto": [], 1.0: []}
    for _, rest, held_out in reaches.leave_one_subject_out():
        for shrinkage, found in errors.items():
            fpca = FPCA(alignment="path", shrinkage=shrinkage, smoothing=1e-8).fit(rest)
            p = fpca.project(held_out)
            space = SplineSpace(fpca.basis_, zero_mean=True)
            setting = Setting(fpca.basis_, space, False, True, [[0], [1], [2]], unit_groups(fpca.units))
            whole = fpca.mean_coefficients_ + np.einsum("rnd,nkd->rkd", p.scores, fpca.component_coefficients_)
            roots = np.sqrt(fpca.variances_)[:, None] * space.coordinates(fpca.component_coefficients_)
            none = [np.zeros((0, space.dimension))] * 3
            blend = Blend(fpca.mean_coefficients_, fpca.offset_mean_, fpca.offset_covariance_, roots, none)
            left = whole - predicted(setting, blend, whole, 3, moving=True)
            found.append(p.frames.scale**2 * ((space.L.T @ left) ** 2).sum(axis=(1, 2)))
    auto, jerk = (np.sqrt(np.concatenate(found)) for found in errors.values())
    assert auto.mean() < 0.97 * jerk.mean()
