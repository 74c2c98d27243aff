"""Files and figures of functional components."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.motion.test_fpca import reaches
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, NotFittedError, ThunderError
from thunder_py.motion import FPCA, SplineBasis


@pytest.fixture
def saved(tmp_path):
    """A file, and a function that writes it again with some arrays changed or (None) left out."""
    first, path = tmp_path / "first.npz", tmp_path / "components.npz"
    FPCA(3, alignment="path", shrinkage="auto").fit(reaches(count=6)).save(first)

    def again(**changes):
        with np.load(first) as file:
            arrays = {name: file[name] for name in file.files} | changes
        np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
        return path

    return again


def test_parameters_come_back(tmp_path):
    basis = SplineBasis(degree=4, knots=[*[0.0] * 5, 0.2, 0.5, 0.6, *[1.0] * 5])
    for way in (
        {"n_components": 0.9, "smoothing": 1e-7},
        {"smoothing": None, "joint": True, "shrinkage": 0.25},
        {"n_components": 2, "shrinkage": "auto", "alignment": "path", "demean": False},
    ):
        fpca = FPCA(basis=basis, **way).fit(reaches())
        fpca.save(tmp_path / "a.npz")
        with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
            assert all(file[name].dtype.kind in "fibU" for name in file.files)
        back = FPCA.load(tmp_path / "a.npz")
        assert repr(back) == repr(fpca)
        assert (back.dofs, back.units, back.shrinkage_) == (fpca.dofs, fpca.units, fpca.shrinkage_)
        for name in ("explained_variance_ratio_", "offset_variance_", "component_coefficients_"):
            np.testing.assert_array_equal(getattr(back, name), getattr(fpca, name))
        np.testing.assert_array_equal(back.project(reaches(seed=2)).scores, fpca.project(reaches(seed=2)).scores)


def test_bad_files(saved):
    def load(**changes):
        return FPCA.load(saved(**changes))

    cases = (
        ({"thunder_fpca": None}, "thunder_fpca missing"),
        ({"thunder_fpca": np.array(2)}, "version 2 of FPCA.save, this package reads 1"),
        ({"variances_": None}, "variances_ missing"),
        ({"variances_": np.zeros((2, 3))}, "variances_ must have shape (3, 3), got (2, 3)"),
        ({"knots": np.zeros(4)}, "knots must be"),
        ({"frames.scale": None}, "frames.scale missing"),
        ({"shrinkage": np.array("import os")}, "could not convert"),
        ({"degree": np.array(np.inf)}, "not a file of FPCA.save"),
        ({"joint": np.array("yes")}, "joint must be True or False"),
        ({"dofs": np.zeros(3)}, "dofs must be texts"),
        ({"dofs": np.array(["x", "x", "z"])}, "must name the same coordinates"),
        ({"units": np.array(["m"])}, "must name the same coordinates"),
        ({"mean_coefficients_": np.full((15, 3), np.nan)}, "mean_coefficients_ must be finite"),
        ({"mean_coefficients_": np.full((15, 3), 1j)}, "mean_coefficients_ must be numbers"),
        ({"variances_": np.full((3, 3), -1.0)}, "variances_ must not be negative"),
        ({"total_variance_": np.zeros(2)}, "total_variance_ must have shape (3,), got (2,)"),
        ({"scores_": np.zeros(())}, "scores_ must have shape (6, 3, 3)"),
        ({"durations_": np.zeros(6)}, "durations_ must be positive"),
        ({"offset_covariance_": np.arange(9.0).reshape(3, 3)}, "must be symmetric"),
        ({"shrinkage_": np.array(7.0)}, "shrinkage_ must lie in [0, 1]"),
        ({"frames.start": np.array("a")}, "frames.start must be numbers"),
        ({"frames.rotation": np.zeros((6, 3, 3))}, "frames must have rotations"),
        ({"frames.scale": np.zeros(6)}, "positive scales"),
    )
    refused = ((partial(load, **changes), f"...components.npz: ...{message}...") for changes, message in cases)
    assert_refused(*refused, error=FileFormatError)


def test_a_file_that_is_cut_off_too_large_or_another(tmp_path, monkeypatch):
    path, nothing = tmp_path / "a.npz", "...no archive of plain arrays..."
    FPCA(np.int64(2), smoothing=np.float64(1e-7), shrinkage=np.float32(0.5), alignment="none").fit(reaches()).save(path)
    back = FPCA.load(path)
    assert (back.n_components, back.smoothing, back.shrinkage) == (2, 1e-7, 0.5)
    content = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("thunder_py.files.LARGEST_DATA", 1000)
        assert_refused((lambda: FPCA.load(path), "...must hold at most 1000 bytes..."), error=FileFormatError)
    for length in range(0, len(content), len(content) // 25):
        path.write_bytes(content[:length])
        assert_refused((lambda: FPCA.load(path), nothing), error=FileFormatError)
    path.write_bytes(b"no archive")
    np.savez(tmp_path / "b.npz", thunder_fpca=np.array([{}], dtype=object))
    assert_refused(
        (lambda: FPCA.load(path), nothing, FileFormatError),
        (lambda: FPCA.load(tmp_path / "b.npz"), nothing, FileFormatError),
        (lambda: FPCA.load(tmp_path / "c.npz"), "...", FileNotFoundError),
    )


def test_what_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        FPCA(alignment="none", shrinkage=0.0).save(tmp_path / "a.npz")
    with pytest.raises(ThunderError, match=r"path must end in .npz, got 'a.txt'"):
        FPCA(2, alignment="none", shrinkage=0.0).fit(reaches()).save("a.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", [{"joint": True}, {"alignment": "path"}], ids=repr)
def test_figures(way):
    fpca, tau = FPCA(4, **way).fit(reaches()), np.linspace(0.0, 1.0, 301)
    panels = fpca.plot(2, spread=2.0)
    assert list(panels) == ["x 1", "x 2", "y 1", "y 2", "z 1", "z 2"]
    mean, more, less = (line.get_ydata() for line in panels["y 1"].lines)
    deviation = np.sqrt(fpca.variances_[0] if fpca.joint else fpca.variances_[0, 1])
    np.testing.assert_allclose(mean, fpca.offset_mean_[1] + fpca.mean(tau)[:, 1])
    np.testing.assert_allclose(more - mean, 2.0 * deviation * fpca.components(tau)[0, :, 1], atol=1e-12)
    np.testing.assert_allclose(more + less, 2.0 * mean, atol=1e-12)
    assert ("distance" in panels["x 1"].get_ylabel()) == (fpca.alignment_ == "path")
    components = fpca.plot_components(3, derivative=1)
    np.testing.assert_allclose(components["z"].lines[1].get_ydata(), fpca.components(tau, 1)[1, :, 2])
    axis = fpca.plot_variance()
    assert len(axis.lines) == (1 if fpca.joint else 3)
    ratio = fpca.explained_variance_ratio_.reshape(4, -1)[:, 0]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), 100.0 * np.cumsum(ratio))
    plt.close("all")
