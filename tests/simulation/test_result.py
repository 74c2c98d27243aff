"""Figures of merit, files and plots of a run."""

from __future__ import annotations

import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import Status
from thunder_py.errors import FileFormatError

from ..control.arms import elbow, elbow_motion
from ..damage import answers


def run() -> th.SimulationResult:
    return th.simulate(elbow(), th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0), elbow_motion(), 0.2, q0=[1.0, 0.0])


def with_error(t: np.ndarray, *errors: np.ndarray) -> th.SimulationResult:
    still = np.zeros((len(t), 2))
    signals, status = {"error": np.stack(errors, axis=1)}, np.zeros(len(t), dtype=np.int64)
    return th.SimulationResult(t=t, q=still, dq=still, tau=still + 2.0, status=status, signals=signals)


def test_figures_of_merit() -> None:
    t = np.linspace(0.0, 20.0, 20001)
    result = with_error(t, 0.1 + np.exp(-t), 0.0 * t)
    assert result.steady_state_error() == pytest.approx(0.1, abs=1e-6)
    assert result.rise_time() == pytest.approx(np.log(10.0), abs=2e-3)  # down to a tenth of the way
    assert result.rise_time(fraction=0.5) == pytest.approx(np.log(2.0), abs=2e-3)
    assert result.rmse() == pytest.approx(np.sqrt(np.mean(result.error[:, 0] ** 2)))
    assert result.rmse(slice(1, 2)) == 0.0
    assert result.error_norm([0]).shape == t.shape
    t = np.linspace(0.0, 10.0, 10001)
    result = with_error(t, np.exp(-t) * np.cos(np.pi * t), 0.5 * np.exp(-t), 0.0 * t)
    assert result.settling_time(1e-2, slice(1, 3)) == pytest.approx(np.log(50.0), abs=2e-3)
    assert result.settling_time(10.0) == 0.0
    assert with_error(t, 1.0 + t).settling_time(0.5) == np.inf
    turning = 1.0 - np.arctan(1.0 / np.pi) / np.pi  # where exp(-t) cos(pi t) is lowest
    expected = -np.exp(-turning) * np.cos(np.pi * turning)
    np.testing.assert_allclose(result.overshoot(), [expected, 0.0, np.nan], atol=1e-6)
    np.testing.assert_allclose(result.component_rmse()[1], 0.5 * np.sqrt((1 - np.exp(-20.0)) / 20.0), rtol=1e-3)
    assert result.component_rmse()[2] == 0.0
    assert result.peak() == pytest.approx(np.hypot(1.0, 0.5))
    assert result.peak([1]) == 0.5
    assert result.torque_rms() == pytest.approx(np.sqrt(8.0))
    np.testing.assert_array_equal(result.torque_peak(), [2.0, 2.0])


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
def test_a_diverged_run_has_infinite_errors() -> None:
    """It ends at once, where the error is still that of the start: zero."""
    start = elbow_motion()(0.0)
    law = th.SlotineLi(elbow(), 5.0, 1e9, adaptation=2.0)
    with pytest.warns(RuntimeWarning, match=r"K_d or Lambda of SlotineLi is too high for a control period of 0\.001 s"):
        wild = th.simulate(elbow(), law, elbow_motion(), 5.0, q0=start.q, dq0=start.dq)
    assert wild.diverged
    assert wild.t[-1] < 5.0
    assert wild.error_norm().max() < 1.0
    for name in ("rmse", "steady_state_error", "peak", "rise_time"):
        assert getattr(wild, name)() == np.inf, name
    assert wild.settling_time(10.0) == np.inf
    assert (wild.component_rmse() == np.inf).all()
    assert wild.component_rmse().shape == (2,)
    late = with_error(np.arange(3.0), np.array([1.0, 0.5, 0.1]), np.zeros(3))
    assert not late.diverged
    assert late.overshoot()[0] == 0.0
    late = dataclasses.replace(late, status=np.array([0, 0, int(Status.diverged)]))
    np.testing.assert_array_equal(late.overshoot(), [np.inf, np.nan])
    row = str(th.compare_results({"wild": wild, "tame": run()}).table()).splitlines()[1].split()
    assert row[:5] == ["wild", "inf", "inf", "inf", "inf"]
    assert row[-1] == "diverged"
    with pytest.raises(AttributeError, match="'error' was not logged"):
        dataclasses.replace(wild, signals={}).rmse()


def test_saves_and_loads(tmp_path: Path) -> None:
    result = run()
    path = tmp_path / "run.npz"
    path.write_text("something older")
    result.save(path)
    assert th.SimulationResult.load(path) == result
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]
    assert pickle.loads(pickle.dumps(result)) == result


def test_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.npz"
    path.write_text("something older")

    def full(*arguments: object, **options: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="disk full"):
        run().save(path)
    assert path.read_text() == "something older"
    assert len(list(tmp_path.iterdir())) == 1


def test_refusals(tmp_path: Path) -> None:
    result, values = run(), run().to_dict()
    assert set(values) == {"t", "q", "dq", "tau", "status", "error", "s", "parameters", "names"}
    (tmp_path / "text.npz").write_text("hello")
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", t=np.array([{}], dtype=object))
    names = ("text.npz", "pickled.npz", "array.npy")
    assert_refused(
        *((tmp_path / name, "...of SimulationResult.save: no archive of plain arrays") for name in names),
        (tmp_path / "other.npz", "...q, dq, tau, status missing"),
        (tmp_path / "nothing.npz", "...", FileNotFoundError),
        call=th.SimulationResult.load,
        error=FileFormatError,
    )
    assert_refused(
        (lambda: result.settling_time(-1.0), "tolerance must not be negative, got -1..."),
        (lambda: result.save("run.txt"), "path must end in .npz, got 'run.txt'"),
        (lambda: result.rise_time(fraction=1.0), "fraction must be at least 0 and less than 1, got 1"),
        *(
            (lambda x=x: result.steady_state_error(x), "window must be more than 0 and at most 1...")
            for x in (0.0, 1.5)
        ),
    )


def test_plots() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    axes = run().plot()
    assert [axis.get_ylabel() for axis in axes.values()] == [
        "error norm [rad]",
        "torque [N m, N]",
        "change of estimate",
    ]
    assert axes["parameters"].get_xlabel() == "time [s]"
    names = "error, tau, parameters, external_estimate, deflection"
    with pytest.raises(ValueError, match=re.escape(f"axes must be named {names}, got 'velocity'")):
        run().plot(axes={"velocity": axes["tau"]})
    assert run().plot(axes={"deflection": axes["tau"]}) == {}  # a panel without content in this run
    plt.close("all")


def test_damage_of_a_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    saved = run()
    saved.save(path)

    def read() -> None:
        assert th.SimulationResult.load(path) == saved

    _, refused = answers(path, read, range(60))
    assert refused >= 45
    with np.load(path) as file:
        arrays = dict(file)
    for name, value in (("labels:joints", np.array(3)), ("robot", np.array(1)), ("t", np.array(1.0))):
        np.savez(path, **{**arrays, name: value})
        with pytest.raises(FileFormatError, match=r"run\.npz"):
            th.SimulationResult.load(path)
