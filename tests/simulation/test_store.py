"""Stores of sweeps: what was simulated once stays, whatever happens, and equals what one call gives."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import samples
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.simulation import Runs, RunSpec, Sensors, simulate_many, store
from thunder_py.simulation.fingerprint import fingerprint

from ..control.arms import elbow, elbow_motion

pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[2]
METRICS = {"rmse": th.SimulationResult.rmse, "estimate": lambda run: run.parameters[-1], "status": lambda run: "ok"}
SETS = samples.latin_hypercube(6, 0, K_d=(4.0, 8.0), noise=(0.0, 1e-4))


def make(K_d: float, noise: float, seed: int = 0) -> RunSpec:
    law = th.SlotineLi(elbow(), 5.0, K_d, adaptation=2.0)
    sensors = Sensors(position_noise=noise, velocity_noise=1e-3, seed=seed)
    return RunSpec(elbow(), law, elbow_motion(), 0.05, sensors=sensors, q0=[0.5, 0.5])


def contents(runs: Runs) -> list[list[bytes]]:
    return [[np.asarray(value).tobytes() for value in row] for row in zip(*runs.columns().values(), strict=True)]


@pytest.fixture(scope="module")
def expected() -> list[list[bytes]]:
    return contents(simulate_many(make, SETS, workers=1, metrics=METRICS))


class Killed(BaseException):
    pass


def stop_at(fraction: float) -> Callable[[float], None]:
    def report(done: float) -> None:
        if done >= fraction:
            raise Killed

    return report


def test_a_sweep_goes_on_where_it_was(tmp_path: Path, expected: list[list[bytes]]) -> None:
    with pytest.raises(Killed):
        simulate_many(make, SETS, workers=1, metrics=METRICS, store=tmp_path, progress=stop_at(0.5))
    half = Runs.load(tmp_path)
    assert half.pending == (3, 4, 5)
    assert repr(half) == "<Runs: 6, 0 failed, 3 pending>"
    assert half.table(["status"]).to_dict()[half.labels[4]] == {"status": None, "failure": "not simulated yet"}
    with pytest.raises(ThunderError, match=r"^run 3 \(.*\) was not simulated yet$"):
        _ = half[3]
    parts: list[float] = []
    runs = simulate_many(make, SETS, metrics=METRICS, store=tmp_path, progress=parts.append)
    assert parts == pytest.approx([4 / 6, 5 / 6, 1.0])
    assert contents(runs) == contents(Runs.load(tmp_path)) == expected
    assert [one["thunder_py"] for one in runs.provenance] == [th.__version__] * 2
    made_before = len(list(tmp_path.rglob("*")))
    again = simulate_many(make, SETS, metrics=METRICS, store=tmp_path)  # nothing to do
    assert (contents(again), len(again.provenance)) == (expected, 2)
    assert len(list(tmp_path.rglob("*"))) == made_before == 5


def test_a_kill_at_any_instant_leaves_a_store(
    tmp_path: Path, expected: list[list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th renaming is the last thing that happens: no file is written or deleted any more."""
    monkeypatch.setattr(store, "_SECONDS", 0.0)
    monkeypatch.setattr(store, "_PARTS", 3)
    replace, unlink = os.replace, Path.unlink
    for last in range(14):
        folder, left = tmp_path / str(last), [last]

        def rename(old: Any, new: Any, left: list[int] = left) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            replace(old, new)

        def delete(self: Path, missing_ok: bool = False, left: list[int] = left) -> None:
            if left[0]:
                unlink(self, missing_ok)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", rename)
            patch.setattr(Path, "unlink", delete)
            try:
                simulate_many(make, SETS, workers=1, metrics=METRICS, store=folder)
            except Killed:
                assert left == [0]
            else:
                assert last > 8
        if (folder / "sweep.json").exists():
            done = [row for row in contents(Runs.load(folder)) if row[0] != np.asarray(None).tobytes()]
            assert done == expected[: len(done)]
        assert contents(simulate_many(make, SETS, metrics=METRICS, store=folder)) == expected
        assert not list(folder.rglob(".*"))


SCRIPT = """
import sys, time
from tests.simulation import test_store
test_store.store._SECONDS = 0.0
sweep = test_store.simulate_many
sweep(test_store.make, test_store.SETS, workers=1, metrics=test_store.METRICS, store=sys.argv[1],
      progress=lambda done: time.sleep(60.0 * (done > 0.6)))
"""


def test_a_killed_process_leaves_no_lock(tmp_path: Path, expected: list[list[bytes]]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "123"}
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=ROOT, env=environment) as process:
        try:
            while len(list(tmp_path.glob("parts/part-*"))) < 4:
                assert process.poll() is None
                time.sleep(0.01)
            with pytest.raises(ThunderError, match=rf"^store .* is in use by process {process.pid} on "):
                simulate_many(make, SETS, metrics=METRICS, store=tmp_path)
            assert len(Runs.load(tmp_path).pending) == 2
        finally:
            process.send_signal(signal.SIGKILL)
    runs = simulate_many(make, SETS, metrics=METRICS, store=tmp_path)
    assert contents(runs) == expected
    assert runs.provenance[0]["command"] == ["-c", str(tmp_path)]


def test_whole_results(tmp_path: Path) -> None:
    runs = simulate_many([make(**values) for values in SETS[:2]], store=tmp_path)
    assert list(runs) == [make(**values)() for values in SETS[:2]]
    assert th.SimulationResult.load(tmp_path / "results" / "run-000001.npz") == runs[1]
    loaded = Runs.load(tmp_path)
    assert (list(loaded), loaded.labels) == (list(runs), ("0", "1"))
    # the controllers have learned in the meantime; they are reset before each run
    specs = [make(**values) for values in SETS[:2]]
    simulate_many(specs)
    assert list(simulate_many(specs, store=tmp_path)) == list(runs)


def test_another_sweep_is_refused(tmp_path: Path) -> None:
    simulate_many(make, SETS[:2], metrics=["rmse"], store=tmp_path)

    def another(K_d: float, noise: float) -> RunSpec:
        return make(K_d, 2.0 * noise)

    cases: list[tuple[Any, Any, Any, str]] = [
        (make, SETS[:3], ["rmse"], "parameters differ"),
        (another, SETS[:2], ["rmse"], "runs differ"),
        (make, SETS[:3], ["peak"], "parameters and metrics differ"),
        (make, SETS[:2], None, "metrics differ"),
    ]
    for function, sets, metrics, difference in cases:
        message = f"store {tmp_path} holds another sweep, of 2 runs of make: {difference}; choose another folder"
        with pytest.raises(ThunderError, match=f"^{re.escape(message)}"):
            simulate_many(function, sets, metrics=metrics, store=tmp_path)


def test_folders_that_are_no_stores(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"not a store of simulate_many: sweep.json missing$"):
        Runs.load(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ThunderError, match=r"must be a new folder or a store, got one with 'notes.txt'$"):
        simulate_many(make, SETS, store=tmp_path)
    (tmp_path / "sweep.json").write_text('{"schema": "thunder_py sweep/9"}')
    with pytest.raises(FileFormatError, match=r"schema must be 'thunder_py sweep/1', got 'thunder_py sweep/9'$"):
        Runs.load(tmp_path)
    simulate_many(make, SETS[:1], store=tmp_path / "new", metrics=["rmse"])
    (tmp_path / "new" / "parts" / "part-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileFormatError, match=r"part-000000.parquet: not a part of a store: "):
        Runs.load(tmp_path / "new")


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_failed_runs_are_kept_and_tried_again_on_request(tmp_path: Path) -> None:
    flag = tmp_path / "mended"

    def sometimes(K_d: float, seed: int) -> RunSpec:
        if seed == 1 and not flag.exists():
            raise KeyError("no such gain")
        return make(K_d, 1e-4, seed)

    sets = samples.grid(K_d=[4.0, 8.0], seed=range(2))
    options: dict[str, Any] = {"metrics": ["rmse"], "store": tmp_path / "sweep", "retries": 2}
    for runs in (simulate_many(sometimes, sets, **options), simulate_many(sometimes, sets, **options)):
        frame = runs.to_pandas()
        assert frame["failure"].dropna().to_dict() == dict.fromkeys((1, 3), "KeyError: 'no such gain'")
        assert frame.loc[3, ["K_d", "seed", "attempts"]].tolist() == [8.0, 1, 3]
        assert len(runs.provenance) == 1
    (row,) = store._read(tmp_path / "sweep" / "parts" / "part-000000.parquet")[1:2]
    assert 'raise KeyError("no such gain")' in row["traceback"]
    flag.touch()
    runs = simulate_many(sometimes, sets, retry_failed=True, **options)
    assert not runs.failures
    assert runs.columns()["rmse"][3] == make(8.0, 1e-4, 1)().rmse()


def test_parameters_of_any_kind_are_read_again(tmp_path: Path) -> None:
    values = {"K": 0.1 + 0.2, "name": "a", "limits": None, "q": [1.0, 2.0], "robot": elbow()}
    sets = [{**values, "flag": flag} for flag in (True, False)]
    simulate_many(lambda **_: make(4.0, 0.0), sets, metrics=["rmse"], store=tmp_path)
    found = Runs.load(tmp_path).parameters
    assert [one["flag"] for one in found] == [True, False]
    assert {name: found[0][name] for name in ("K", "name", "limits")} == {"K": 0.1 + 0.2, "name": "a", "limits": None}
    assert found[0]["q"].tolist() == [1.0, 2.0]
    assert found[0]["robot"] == str(elbow())


def test_other_versions_are_told(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        simulate_many(make, SETS, workers=1, metrics=["rmse"], store=tmp_path, progress=stop_at(0.5))
    index = json.loads((tmp_path / "sweep.json").read_text())
    index["sessions"][0]["numpy"] = "1.0"
    (tmp_path / "sweep.json").write_text(json.dumps(index))
    message = rf"was begun with other versions \(numpy 1.0 -> {np.__version__}\): the last bits of results may differ$"
    with pytest.warns(ThunderWarning, match=message):
        simulate_many(make, SETS, metrics=["rmse"], store=tmp_path)


GAIN = 4.0


def used() -> float:
    return GAIN


def test_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: float) -> float:
        return x * used()

    before = fingerprint(function)
    law = th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0)
    same = [
        (law, th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0)),
        ({"a": 1, "b": {2, 3}}, {"b": {3, 2}, "a": 1}),
        (np.float64(2.0), 2.0),
        (eval("lambda x: x + 1"), eval("lambda x: x + 1")),
    ]
    different: list[tuple[Any, Any]] = [
        (law, th.SlotineLi(elbow(), 5.0, 8.5, adaptation=2.0)),
        (0.3, 0.1 + 0.2),
        (1, 1.0),
        (1, True),
        ([1, 2], [2, 1]),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (elbow(), th.Robot.load("panda")),
        (eval("lambda x: x + 1"), eval("lambda x: x + 2")),
        (lambda x: x, lambda x: -x),
    ]
    assert all(fingerprint(a) == fingerprint(b) for a, b in same)
    assert [k for k, (a, b) in enumerate(different) if fingerprint(a) == fingerprint(b)] == []
    law.step(0.0, [0.1, 0.2], [0.0, 0.0], elbow_motion()(0.0))
    assert fingerprint(law) == fingerprint(same[0][1])  # reset before each run
    loop: list[Any] = [1]
    loop.append(loop)
    assert fingerprint(loop) == fingerprint(loop)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 5.0)  # of a function that is called by this one
    assert fingerprint(function) != before
