"""Files of movement primitives."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, NotFittedError
from thunder_py.motion import DMP, ProMP, QuaternionDMP, RhythmicDMP
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.trajectory import minimum_jerk

REACH = minimum_jerk([0.0, 0.1, 0.0], [0.4, 0.3, 0.2], 2.0)
T = np.linspace(0.0, 2.0, 120)


def turning() -> QuaternionDMP:
    return QuaternionDMP(15, D=30.0).fit((T, Rotation.from_rotvec(np.outer((T / 2.0) ** 2, [0.3, 1.2, -0.4]))))


MADE = {
    "DMP": lambda: DMP(15, basis="mollifier", K=np.float64(120.0), fit="lwr").fit(REACH),
    "DMP, not turned": lambda: DMP(rotodilatation=False).fit(REACH),
    "DMP of the paper": lambda: DMP.paper().fit(REACH),
    "DMP of a closed motion": lambda: DMP().fit((T, np.sin(np.outer(T, [np.pi, 2.0 * np.pi])))),
    "RhythmicDMP": lambda: RhythmicDMP(9, overlap=1.5, K=90.0).fit((T, np.sin(7.0 * T))),
    "QuaternionDMP": turning,
    "ProMP": lambda: ProMP(7, overlap=0.6, variance_floor=1e-5).fit(minimum_jerk_reaches(8, seed=1)),
    "ProMP of an array": lambda: ProMP(5).fit(np.random.default_rng(0).normal(size=(4, 20, 2))),
}


@pytest.mark.parametrize("name", MADE)
def test_loaded_primitives_are_equal(name: str, tmp_path) -> None:
    one = MADE[name]()
    one.save(tmp_path / "a.npz")
    two = type(one).load(tmp_path / "a.npz")
    assert two.get_params() == one.get_params()
    assert repr(two) == repr(one).replace("np.float64(120.0)", "120.0")
    for key, value in vars(one).items():
        if key.endswith("_") and key not in ("basis_",):
            np.testing.assert_array_equal(getattr(two, key), value)
    if isinstance(one, ProMP):
        assert two.dofs == one.dofs
        np.testing.assert_array_equal(two.sample(2, seed=1), one.sample(2, seed=1))
    elif isinstance(one, QuaternionDMP):
        np.testing.assert_array_equal(two.rollout(dt=0.1).w, one.rollout(dt=0.1).w)
    else:
        np.testing.assert_array_equal(two.rollout(dt=0.1).x, one.rollout(dt=0.1).x)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert all(file[array].dtype.kind in "fibU" for array in file.files)


@pytest.mark.parametrize("kind", [DMP, RhythmicDMP, QuaternionDMP, ProMP])
def test_unfitted_and_foreign_files(kind: type, tmp_path) -> None:
    assert_refused((lambda: kind().save(tmp_path / "a.npz"), "...must be fitted before..."), error=NotFittedError)
    (tmp_path / "b.npz").write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match=f"not a file of {kind.__name__}.save: no archive of plain arrays"):
        kind.load(tmp_path / "b.npz")
    other = MADE["ProMP" if kind is DMP else "DMP"]()
    other.save(tmp_path / "c.npz")
    with pytest.raises(FileFormatError, match=f"not a file of {kind.__name__}.save: thunder_.* missing") as error:
        kind.load(tmp_path / "c.npz")
    assert str(tmp_path / "c.npz") in str(error.value)


def test_damaged_files(tmp_path) -> None:
    path = tmp_path / "a.npz"

    def load(name, changes):
        one = MADE[name]()
        one.save(path)
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files} | changes
        np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
        return type(one).load(path)

    cases = (
        ("DMP", {"thunder_dmp": np.array(2)}, "version 2 of DMP.save, this package reads 1"),
        ("DMP", {"weights_": None}, "weights_ missing"),
        ("DMP", {"weights_": np.zeros((3, 3))}, "weights must have shape"),
        ("DMP", {"weights_": np.full((15, 3), np.nan)}, "weights must be finite"),
        ("DMP", {"basis": np.array("'gausian'")}, "basis must be one of"),
        ("DMP", {"K": np.array("import os")}, "could not convert"),
        ("DMP", {"duration_": np.zeros(3)}, "duration_ must"),
        ("DMP", {"rotodilatation_": np.array("yes")}, "rotodilatation_ must be True or False"),
        ("DMP, not turned", {"rotodilatation_": np.array(True)}, "rotodilatation_ must agree with rotodilatation"),
        ("RhythmicDMP", {"period_": np.array(-1.0)}, "duration must be a positive number"),
        ("RhythmicDMP", {"goal_": np.zeros(2)}, "goal must have shape (1,)"),
        ("QuaternionDMP", {"start_": np.zeros((3, 3))}, "start must hold an orthonormal rotation matrix"),
        ("ProMP", {"covariance_": np.zeros((3, 3))}, "covariance_ must have shape"),
        ("ProMP", {"covariance_": np.diag(-np.ones(21))}, "covariance_ must be symmetric, and not negative"),
        ("ProMP", {"dofs": np.array(["x"])}, "dofs must name 3 coordinates"),
        ("ProMP", {"dofs": np.zeros(3)}, "dofs must be texts"),
    )
    refused = ((partial(load, name, changes), f"...{message}...") for name, changes, message in cases)
    assert_refused(*refused, error=FileFormatError)
