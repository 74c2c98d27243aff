"""Stores of sweeps: what was simulated once stays, whatever happens, and equals what one call gives."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import samples
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.simulation import Runs, RunSpec, Sensors, simulate_many
from thunder_py.simulation.many import store
from thunder_py.simulation.many.encoding import as_json, decoded, encoded
from thunder_py.simulation.many.provenance import provenance

from ..control.arms import elbow, elbow_motion
from ..damage import answers, in_time
from ..parallel.functions import wait_until

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
    """Metrics of a loop over the runs."""
    results = [make(**values)() for values in SETS]
    return [[np.asarray(function(run)).tobytes() for function in METRICS.values()] for run in results]


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
    before = (tmp_path / "runs.jsonl").read_bytes()
    again = simulate_many(make, SETS, metrics=METRICS, store=tmp_path, progress=parts.append)  # nothing to do
    assert (contents(again), len(again.provenance), parts[3:]) == (expected, 2, [1.0])
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["lock", "runs.jsonl", "sessions.jsonl", "sweep.json"]


SCRIPT = """
import sys, time
from tests.simulation.test_store import METRICS, SETS, make, simulate_many
simulate_many(make, SETS, workers=int(sys.argv[2]), metrics=METRICS, store=sys.argv[1],
              progress=lambda done: time.sleep(60.0 * (done > 0.6)))
"""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.release)])
def test_a_killed_process_leaves_a_store_without_a_lock(
    workers: int, tmp_path: Path, expected: list[list[bytes]]
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), f"{workers}"]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "123"}) as process:
        try:
            file = tmp_path / "runs.jsonl"
            wait_until(lambda: file.exists() and file.read_bytes().count(b"\n") >= 4)
            with pytest.raises(ThunderError, match=r"^store .* is in use by another call of simulate_many$"):
                simulate_many(make, SETS, metrics=METRICS, store=tmp_path)
            assert len(Runs.load(tmp_path).pending) == 2
        finally:
            process.send_signal(signal.SIGKILL)
    runs = simulate_many(make, SETS, metrics=METRICS, store=tmp_path)
    assert contents(runs) == expected
    assert runs.provenance[0]["command"] == ["-c", str(tmp_path), f"{workers}"]


def test_lines_that_were_not_written_whole_are_simulated_again(tmp_path: Path, expected: list[list[bytes]]) -> None:
    simulate_many(make, SETS, workers=1, metrics=METRICS, store=tmp_path / "whole")
    whole = (tmp_path / "whole" / "runs.jsonl").read_bytes()
    for cut in (*range(0, len(whole), 97), len(whole) - 1):
        folder = tmp_path / str(cut)
        shutil.copytree(tmp_path / "whole", folder)
        (folder / "runs.jsonl").write_bytes(whole[:cut])
        done = whole[:cut].count(b"\n")
        assert Runs.load(folder).pending == tuple(range(done, 6))
    assert contents(simulate_many(make, SETS, metrics=METRICS, store=folder)) == expected


def test_whole_results(tmp_path: Path) -> None:
    specs = [make(**values) for values in SETS[:2]]
    runs = simulate_many(specs, store=tmp_path)
    assert list(runs) == [make(**values)() for values in SETS[:2]]
    assert th.SimulationResult.load(tmp_path / "results" / "run-000001.npz") == runs[1]
    loaded = Runs.load(tmp_path)
    assert (list(loaded), loaded.labels) == (list(runs), ("0", "1"))
    for damage in (Path.unlink, lambda file: file.write_bytes(b"PK")):
        damage(tmp_path / "results" / "run-000001.npz")
        assert Runs.load(tmp_path).pending == (1,)
        assert list(simulate_many(specs, store=tmp_path)) == list(runs)  # the given objects are as they were


def test_another_sweep_is_refused(tmp_path: Path) -> None:
    simulate_many(make, SETS[:2], metrics=["rmse"], store=tmp_path, label="a")

    def another(K_d: float, noise: float) -> RunSpec:
        return make(K_d, 2.0 * noise)

    cases: list[tuple[Any, Any, Any, str, str]] = [
        (make, SETS[:3], ["rmse"], "a", "parameters differ"),
        (another, SETS[:2], ["rmse"], "a", "function differ"),
        (make, SETS[:3], ["peak"], "a", "metrics and parameters differ"),
        (make, SETS[:2], None, "b", "label and metrics differ"),
        (make, [{**SETS[0], "seed": 0}, {**SETS[1], "seed": np.zeros(1)}], ["rmse"], "a", "parameters differ"),
    ]
    for function, sets, metrics, label, difference in cases:
        message = f"store {tmp_path} holds another sweep, of 2 runs of make: {difference}; choose another folder"
        with pytest.raises(ThunderError, match=f"^{re.escape(message)}"):
            simulate_many(function, sets, metrics=metrics, store=tmp_path, label=label)


def test_ready_made_runs_are_recognized_by_arguments_and_label(tmp_path: Path) -> None:
    def specs(K_d: float, label: str | None) -> list[RunSpec]:
        run = make(K_d, 0.0)
        run.label = label
        return [run]

    first = contents(simulate_many(specs(4.0, "a"), metrics=["rmse"], store=tmp_path / "one"))
    assert contents(simulate_many(specs(4.0, "a"), metrics=["rmse"], store=tmp_path / "one")) == first
    for K_d, label in ((4.5, "a"), (4.0, "b")):
        with pytest.raises(ThunderError, match=r"of 1 runs of list: runs differ; choose"):
            simulate_many(specs(K_d, label), metrics=["rmse"], store=tmp_path / "one")
    (run,) = specs(4.0, None)
    run.reference = lambda t: elbow_motion()(t)
    with pytest.raises(ThunderError, match=r"^run 0 must have a label to be kept in a store"):
        simulate_many([run], metrics=["rmse"], store=tmp_path / "two")
    run.label = "its name"
    assert simulate_many([run], metrics=["rmse"], store=tmp_path / "two").labels == ("its name",)


def test_parameters_that_cannot_be_told_apart_need_a_label(tmp_path: Path) -> None:
    sets = [{**SETS[0], "lock": threading.Lock()}]
    run = lambda K_d, noise, lock: make(K_d, noise)  # noqa: E731
    with pytest.raises(ThunderError, match=r"^parameter 'lock' of run 0 must be an object that can be pickled"):
        simulate_many(run, sets, metrics=["rmse"], store=tmp_path)
    assert len(simulate_many(run, sets, metrics=["rmse"], store=tmp_path, label="first")) == 1


def test_folders_that_are_no_stores(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"not a store of simulate_many: sweep.json missing$"):
        Runs.load(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileFormatError, match=r"notes.txt: must be a folder, that of a store of simulate_many, got a "):
        Runs.load(tmp_path / "notes.txt")
    with pytest.raises(ThunderError, match=r"must be a new folder or a store, got one with 'notes.txt'$"):
        simulate_many(make, SETS, store=tmp_path)
    # a store of an earlier version
    (tmp_path / "sweep.json").write_text(json.dumps({"schema": "thunder_py sweep/1", "runs": 6}, indent=1))
    message = (
        r"schema must be 'thunder_py sweep/2', got 'thunder_py sweep/1': only the version of thunder_py that wrote"
    )
    for use in (Runs.load, partial(simulate_many, make, SETS, store=tmp_path)):
        with pytest.raises(FileFormatError, match=message):
            use(*((tmp_path,) if use == Runs.load else ()))


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
        assert {k: store.describe(error) for k, error in runs.failures.items()} == dict.fromkeys(
            (1, 3), "KeyError: 'no such gain'"
        )
        assert [runs._records[k].attempts for k in range(4)] == [1, 3, 1, 3]
        assert 'raise KeyError("no such gain")' in runs._records[3].traceback
        assert len(runs.provenance) == 1
    flag.touch()
    runs = simulate_many(sometimes, sets, retry_failed=True, **options)
    assert not runs.failures
    assert runs.columns()["rmse [rad]"][3] == make(8.0, 1e-4, 1)().rmse()


VALUES = (
    *(1, 1.5, 0.1 + 0.2, float("nan"), float("-inf"), -0.0, True, None, "diverged", "\udc80", 2**70, 2**53 + 1),
    *(np.arange(3, dtype=np.int32), np.zeros((0, 3)), np.arange(4.0).reshape(2, 2) / 3, np.array([True, False])),
    *([[1, 2], [3]], (0, 3), {"a": (1, [2.0]), "text": 1}, [], np.float32(0.1), np.array(["a", "bc"]), {3, 1}),
)


class Opaque:
    """Object whose text has its address."""

    def __init__(self, gain: float) -> None:
        self.gain = gain


def bits(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    array = (value.dtype.str, value.shape) if isinstance(value, np.ndarray) else ()
    return type(value).__name__, repr(value), *array


def test_values_come_back_as_they_were() -> None:
    assert [bits(decoded(json.loads(as_json(encoded(value))))) for value in VALUES] == [bits(v) for v in VALUES]
    texts = [as_json(encoded(value)) for value in (*VALUES, elbow(), th.Robot.load("panda"), make, bits, Runs, 1.0)]
    assert len(set(texts)) == len(texts)
    assert decoded(encoded(elbow())) == str(elbow())
    assert encoded(lambda x: x) == encoded(lambda x: -x)  # by name
    command = f"from {__name__} import *; print(as_json(encoded([Opaque(1), partial(make, 1.0), {{'a', 'b', 'c'}}])))"
    run = partial(subprocess.run, [sys.executable, "-c", command], cwd=ROOT, capture_output=True)
    one, other = (run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2"))
    assert one == other
    assert b"Opaque" in one


def test_loaded_runs_are_called_and_ordered_as_live_ones(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    sets: list[dict[str, Any]] = samples.grid(K=[float("nan"), 5.0], q=[[0, 0], [1.0, 1]], g=[None, 1])
    sets = [values if k else {"K": float("nan"), "q": [0, 0]} for k, values in enumerate(sets)]
    live = simulate_many(lambda **_: make(4.0, 0.0), sets, metrics=["rmse"], store=tmp_path)
    stored = Runs.load(tmp_path)
    assert stored.labels == live.labels
    assert [values.keys() for values in stored.parameters] == [values.keys() for values in live.parameters]
    assert stored.to_xarray().identical(live.to_xarray())
    assert dict(live.to_xarray().sizes) == {"K": 2, "q": 2, "g": 2}


class NoText(Exception):
    def __str__(self) -> str:
        raise KeyError


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_errors_without_a_printable_text_end_nothing(tmp_path: Path) -> None:
    errors = [NoText(), ValueError("\udc80")]
    runs = simulate_many(
        lambda k: (_ for _ in ()).throw(errors[k]), samples.grid(k=range(2)), workers=1, store=tmp_path, retries=0
    )
    texts = ["NoText: <NoText, whose text raises KeyError>", "ValueError: \\udc80"]
    assert [str(runs.failures[k]) for k in range(2)] == texts
    assert [str(Runs.load(tmp_path).failures[k]) for k in range(2)] == texts


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_lock_is_that_of_one_call_not_of_forked_processes(tmp_path: Path) -> None:
    end, into_end = os.pipe()
    with store._locked(tmp_path):
        with pytest.raises(ThunderError, match="in use by another call"), store._locked(tmp_path):
            pass
        child = os.fork()
        if not child:
            os.read(end, 1)
            os._exit(0)
    try:
        with store._locked(tmp_path):  # while the child lives
            pass
    finally:
        os.write(into_end, b"1")
        os.waitpid(child, 0)
        os.close(end)
        os.close(into_end)


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/sessions.jsonl'$"):
        simulate_many(make, SETS[:1], metrics=["rmse"], store=tmp_path)


def test_other_versions_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store, "provenance", lambda: {**provenance(), "numpy": "1.0"})
        with pytest.raises(Killed):
            simulate_many(make, SETS, workers=1, metrics=["rmse"], store=tmp_path, progress=stop_at(0.5))
    message = rf"was begun with other versions \(numpy 1.0 -> {np.__version__}\): the last bits"
    with pytest.warns(ThunderWarning, match=message):
        simulate_many(make, SETS, metrics=["rmse"], store=tmp_path)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with numbers, texts, arrays and a failed run."""
    path = tmp_path_factory.mktemp("store")

    def fails(K_d: float, noise: float) -> RunSpec:
        if noise == max(values["noise"] for values in SETS):
            raise OSError("no sensor")
        return make(K_d, noise)

    with pytest.warns(RuntimeWarning, match="1 of 6 runs failed"):
        simulate_many(fails, SETS, workers=1, metrics={**METRICS, "end": lambda run: run.q[-1]}, store=path)
    return path


def test_damage_is_seen(sweep: Path) -> None:
    """Whatever byte is another: refused, or read as it was, without the last line."""
    before = repr(Runs.load(sweep).columns()), Runs.load(sweep).parameters

    def read() -> None:
        runs = Runs.load(sweep)
        assert runs.pending or (repr(runs.columns()), runs.parameters) == before

    for name, least in (("sweep.json", 80), ("runs.jsonl", 60), ("sessions.jsonl", 50)):
        assert answers(sweep / name, read, range(100))[1] >= least
    read()


@pytest.mark.parametrize("name", ["sweep.json", "runs.jsonl", "lock"])
@pytest.mark.parametrize("kind", ["pipe", "loop", "zero"])
def test_links_and_pipes_in_a_store(name: str, kind: str, sweep: Path, tmp_path: Path) -> None:
    shutil.copytree(sweep, tmp_path / "store")
    file = tmp_path / "store" / name
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to({"loop": file, "zero": Path("/dev/zero")}[kind])
    use = partial(simulate_many, make, SETS, workers=1, store=tmp_path / "store") if name == "lock" else None
    with in_time(), pytest.raises(ThunderError, match=r"store"):
        Runs.load(tmp_path / "store") if use is None else use()


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


def test_reading_executes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    simulate_many([make(4.0, 0.0)], store="sweep")
    result = tmp_path / "sweep" / "results" / "run-000000.npz"
    with np.load(result) as file:
        arrays = dict(file)
    np.savez(result, **{**arrays, "q": np.array([Bomb()], dtype=object)})
    with pytest.raises(ThunderError):
        _ = Runs.load("sweep")[0]
    for name in ("sweep.json", "runs.jsonl", "sessions.jsonl"):
        file = tmp_path / "sweep" / name
        whole = file.read_bytes()
        file.write_bytes(pickle.dumps(Bomb()) + b"\n")
        with pytest.raises(FileFormatError):
            Runs.load("sweep")
        file.write_bytes(whole)
    assert not (tmp_path / "exploded").exists()
