"""Files and figures of functional components."""

from __future__ import annotations

import numpy as np
import pytest

from tests.motion.test_fpca import reaches
from thunder_py.errors import FileFormatError, NotFittedError, ThunderError
from thunder_py.motion import FPCA, SplineBasis


@pytest.fixture
def saved(tmp_path):
    """A file, and a function that writes it again with some arrays changed or (None) left out."""
    path = tmp_path / "components.npz"
    FPCA(3, alignment="path", shrinkage="auto").fit(reaches(count=6)).save(path)

    def again(**changes):
        with np.load(path) as file:
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
        back = FPCA.load(tmp_path / "a.npz")
        assert back.get_params() == fpca.get_params()
        assert back.shrinkage_ == fpca.shrinkage_
        np.testing.assert_array_equal(back.explained_variance_ratio_, fpca.explained_variance_ratio_)


def test_only_arrays_are_written(saved):
    with np.load(saved(), allow_pickle=False) as file:
        assert int(file["thunder_fpca"]) == 1
        assert all(file[name].dtype.kind in "fibU" for name in file.files)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"thunder_fpca": None}, "thunder_fpca missing"),
        ({"thunder_fpca": np.array(2)}, "version 2 of FPCA.save, this package reads 1"),
        ({"variances_": None}, "variances_ missing"),
        ({"variances_": np.zeros((2, 3))}, r"variances_ must have shape \(3, 3\), got \(2, 3\)"),
        ({"knots": np.zeros(4)}, "knots must be"),
        ({"frames.scale": None}, "frames.scale missing"),
        ({"shrinkage": np.array("import os")}, "could not convert"),
        ({"thunder_fpca": np.zeros(3)}, "version .* of FPCA.save"),
        ({"degree": np.array(np.inf)}, "not a file of FPCA.save"),
        ({"joint": np.array("yes")}, "joint must be True or False"),
        ({"dofs": np.zeros(3)}, "dofs must be texts"),
        ({"dofs": np.array(["x", "x", "z"])}, "must name the same coordinates"),
        ({"units": np.array(["m"])}, "must name the same coordinates"),
        ({"mean_coefficients_": np.full((15, 3), np.nan)}, "mean_coefficients_ must be finite"),
        ({"mean_coefficients_": np.full((15, 3), 1j)}, "mean_coefficients_ must be numbers"),
        ({"variances_": np.full((3, 3), -1.0)}, "variances_ must not be negative"),
        ({"total_variance_": np.zeros(2)}, r"total_variance_ must have shape \(3,\), got \(2,\)"),
        ({"scores_": np.zeros(())}, r"scores_ must have shape \(6, 3, 3\)"),
        ({"offsets_": np.zeros((1, 3))}, "must have shape"),
        ({"durations_": np.zeros(6)}, "durations_ must be positive"),
        ({"offset_covariance_": np.arange(9.0).reshape(3, 3)}, "must be symmetric"),
        ({"shrinkage_": np.array(7.0)}, r"shrinkage_ must lie in \[0, 1\]"),
        ({"frames.start": np.array("a")}, "frames.start must be numbers"),
        ({"frames.rotation": np.zeros((6, 3, 3))}, "frames must have rotations"),
        ({"frames.scale": np.zeros(6)}, "positive scales"),
    ],
)
def test_bad_files(saved, changes, text):
    path = saved(**changes)
    with pytest.raises(FileFormatError, match=text) as error:
        FPCA.load(path)
    assert str(path) in str(error.value)


def test_numbers_of_numpy_are_parameters_too(tmp_path):
    FPCA(np.int64(2), smoothing=np.float64(1e-7), shrinkage=np.float32(0.5), alignment="none").fit(reaches()).save(
        tmp_path / "a.npz"
    )
    back = FPCA.load(tmp_path / "a.npz")
    assert (back.n_components, back.smoothing, back.shrinkage) == (2, 1e-7, 0.5)


def test_a_file_that_is_cut_off_or_too_large(tmp_path, monkeypatch):
    FPCA(2, alignment="none", shrinkage=0.0).fit(reaches()).save(tmp_path / "a.npz")
    content = (tmp_path / "a.npz").read_bytes()
    for length in range(0, len(content), len(content) // 25):
        (tmp_path / "b.npz").write_bytes(content[:length])
        with pytest.raises(FileFormatError, match="no archive of plain arrays"):
            FPCA.load(tmp_path / "b.npz")
    monkeypatch.setattr("thunder_py.files.LARGEST_DATA", 1000)
    with pytest.raises(FileFormatError, match="must hold at most 1000 bytes"):
        FPCA.load(tmp_path / "a.npz")


def test_other_files(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match="no archive of plain arrays"):
        FPCA.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", thunder_fpca=np.array([{}], dtype=object))
    with pytest.raises(FileFormatError, match="no archive of plain arrays"):
        FPCA.load(tmp_path / "b.npz")
    with pytest.raises(FileNotFoundError):
        FPCA.load(tmp_path / "c.npz")


def test_what_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        FPCA(alignment="none", shrinkage=0.0).save(tmp_path / "a.npz")
    with pytest.raises(ThunderError, match=r"path must end in .npz, got 'a.txt'"):
        FPCA(2, alignment="none", shrinkage=0.0).fit(reaches()).save("a.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", [{}, {"joint": True}, {"alignment": "path"}], ids=repr)
def test_figures(way):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    fpca = FPCA(4, **way).fit(reaches())
    tau = np.linspace(0.0, 1.0, 301)
    try:
        panels = fpca.plot(2, spread=2.0)
        assert list(panels) == ["x 1", "x 2", "y 1", "y 2", "z 1", "z 2"]
        mean, more, less = (line.get_ydata() for line in panels["y 1"].lines)
        deviation = np.sqrt(fpca.variances_[0] if fpca.joint else fpca.variances_[0, 1])
        np.testing.assert_allclose(mean, fpca.offset_mean_[1] + fpca.mean(tau)[:, 1])
        np.testing.assert_allclose(more - mean, 2.0 * deviation * fpca.components(tau)[0, :, 1], atol=1e-12)
        np.testing.assert_allclose(more + less, 2.0 * mean, atol=1e-12)
        assert ("distance" in panels["x 1"].get_ylabel()) == (fpca.alignment_ == "path")
        components = fpca.plot_components(3, derivative=1)
        assert len(components) == 3
        assert [len(axis.lines) for axis in components.values()] == [3, 3, 3]
        np.testing.assert_allclose(components["z"].lines[1].get_ydata(), fpca.components(tau, 1)[1, :, 2])
        axis = fpca.plot_variance()
        assert len(axis.lines) == (1 if fpca.joint else 3)
        ratio = fpca.explained_variance_ratio_.reshape(4, -1)[:, 0]
        np.testing.assert_allclose(axis.lines[0].get_ydata(), 100.0 * np.cumsum(ratio))
        assert fpca.plot_variance(ax=axis) is axis
    finally:
        plt.close("all")
