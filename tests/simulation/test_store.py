"""Stores of sweeps: what was simulated once stays, whatever happens, and equals what one call gives."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import samples
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.simulation import Runs, RunSpec, Sensors, simulate_many, store
from thunder_py.simulation.columns import MISSING, column
from thunder_py.simulation.fingerprint import fingerprint, fingerprints
from thunder_py.simulation.run_spec import RunRecord

from ..control.arms import elbow, elbow_motion
from ..damage import answers, in_time

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


@pytest.mark.release
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
        (another, SETS[:2], ["rmse"], f"runs (test_store.{another.__qualname__}) differ"),
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
    message = r"part-000000.parquet: not a part of a store: .*; without this file its runs are simulated again$"
    with pytest.raises(FileFormatError, match=message):
        Runs.load(tmp_path / "new")
    (tmp_path / "new" / "plan.parquet").unlink()
    with pytest.raises(FileFormatError, match=r"new: not a store of simulate_many: plan.parquet missing$"):
        Runs.load(tmp_path / "new")
    (tmp_path / "new" / "sweep.json").unlink()  # what was swept is not known any more
    with pytest.raises(ThunderError, match=r"has results but no sweep.json: put it back, or choose another folder$"):
        simulate_many(make, SETS[:1], store=tmp_path / "new", metrics=["rmse"])


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
    assert found[0]["q"] == [1.0, 2.0]
    assert found[0]["robot"] == str(elbow())


class NoText(Exception):
    def __str__(self) -> str:
        raise KeyError


VALUES = (
    *(1, 1.5, 0.1 + 0.2, float("nan"), float("-inf"), -0.0, True, None, "diverged", "\udc80", 2**70, 2**53 + 1),
    *(np.arange(3, dtype=np.int32), np.zeros((0, 3)), np.arange(4.0).reshape(2, 2) / 3, np.array([True, False])),
    *([[1, 2], [3]], (0, 3), {"a": (1, [2.0])}, [], np.float32(0.1), MISSING),
)


def bits(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    array = (value.dtype.str, value.shape) if isinstance(value, np.ndarray) else ()
    return type(value).__name__, repr(value), *array


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    """Of one kind, beside each other value, and all together."""
    for columns in ([VALUES], list(product(VALUES, VALUES))):
        store._write(tmp_path / "a.parquet", {f"{n}": column(values) for n, values in enumerate(columns)})
        rows = store._read(tmp_path / "a.parquet")
        for n, values in enumerate(columns):
            assert [bits(row.get(f"{n}", MISSING)) for row in rows] == [bits(value) for value in values]


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_errors_without_a_printable_text_end_nothing(tmp_path: Path) -> None:
    errors = [NoText(), ValueError("\udc80")]
    runs = simulate_many(
        lambda k: (_ for _ in ()).throw(errors[k]), samples.grid(k=range(2)), workers=1, store=tmp_path, retries=0
    )
    texts = ["NoText: <NoText, whose text raises KeyError>", "ValueError: \\udc80"]
    assert [str(runs.failures[k]) for k in range(2)] == texts
    assert [str(Runs.load(tmp_path).failures[k]) for k in range(2)] == texts


def test_a_record_is_written_while_the_next_run_takes_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_SECONDS", 0.01)
    write, fails, tried = store.RunStore._write_part, [False, True, False], []

    def write_part(self: store.RunStore, records: Any) -> None:
        tried.append(sorted(records))
        if fails[min(len(tried) - 1, 2)]:
            raise OSError(28, "No space left on device")
        write(self, records)

    def add(keeper: store.RunStore, run: int) -> None:
        keeper._written = time.monotonic()
        keeper.add(run, RunRecord(metrics={"a": float(run)}))
        end = time.monotonic() + 5.0
        while len(tried) <= run and time.monotonic() < end:
            time.sleep(0.001)
        with keeper._busy:  # written
            pass

    monkeypatch.setattr(store.RunStore, "_write_part", write_part)
    with store.opened(tmp_path, store.Sweep("make", [{}] * 3, ("a",), {})) as keeper:
        add(keeper, 0)
        assert Runs.load(tmp_path).pending == (1, 2)
        add(keeper, 1)
        with pytest.raises(OSError, match="No space left on device"):
            add(keeper, 2)
    assert tried == [[0], [1], [1], [0, 1]]
    assert Runs.load(tmp_path).columns() == {"a": [0.0, 1.0, None]}


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda file: file.write_bytes(b""), lambda file: file.write_bytes(b"PK")]
)
def test_a_lost_result_is_simulated_again(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    sets = [{"K_d": gain, "noise": 0.0} for gain in (4.0, 8.0)]
    runs = list(simulate_many(make, sets, store=tmp_path))
    damage(tmp_path / "results" / "run-000001.npz")
    assert Runs.load(tmp_path).pending == (1,)
    assert list(simulate_many(make, sets, store=tmp_path)) == runs


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_does_not_hold_the_lock(tmp_path: Path) -> None:
    (ready, into_ready), (end, into_end) = os.pipe(), os.pipe()
    with store._locked(tmp_path):
        child = os.fork()
        if not child:
            os.close(into_end)
            os.write(into_ready, b"1")
            os.read(end, 1)
            os._exit(0)
        os.read(ready, 1)
    try:
        with store._locked(tmp_path):  # while the child lives
            pass
    finally:
        for pipe in (ready, into_ready, end, into_end):
            os.close(pipe)
        os.waitpid(child, 0)


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_sync", full)
    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/plan.parquet'$"):
        simulate_many(make, SETS[:1], metrics=["rmse"], store=tmp_path)


def test_a_bar_begins_with_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Any] = []

    def bar(total: int, **options: Any) -> Any:
        bars.append((total, options["initial"]))
        return nullcontext(lambda done: None)

    with pytest.raises(Killed):
        simulate_many(make, SETS[:3], workers=1, metrics=["rmse"], store=tmp_path, progress=stop_at(0.5))
    monkeypatch.setattr("thunder_py.simulation.many.progress_bar", bar)
    simulate_many(make, SETS[:3], workers=1, metrics=["rmse"], store=tmp_path, progress=True)
    assert bars == [(3, 2)]


def test_a_finished_store_is_complete_at_once(tmp_path: Path) -> None:
    for expected in ([0.5, 1.0], [1.0]):
        seen: list[float] = []
        simulate_many(make, SETS[:2], workers=1, metrics=["rmse"], store=tmp_path, progress=seen.append)
        assert seen == expected


class Integrating:
    def __init__(self, gain: float) -> None:
        self.gain, self.sum = gain, 0.0
        self.signals = {"sum": np.zeros(1)}

    def reset(self) -> None:
        self.sum = 0.0

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        self.sum += 1.0
        self.signals["sum"][:] = self.sum
        return -self.gain * dq


def test_controllers_of_python_are_compared_as_they_begin(tmp_path: Path) -> None:
    laws = [Integrating(1.0), Integrating(2.0)]
    specs = [RunSpec(elbow(), law, elbow_motion(), 0.01) for law in laws]
    first = contents(simulate_many(specs, metrics=["rmse"], store=tmp_path))
    specs[0]()
    assert laws[0].sum > 0.0
    assert contents(simulate_many(specs, metrics=["rmse"], store=tmp_path)) == first
    laws[0].gain = 3.0
    with pytest.raises(ThunderError, match=r"of 2 runs of list: runs differ; choose"):
        simulate_many(specs, metrics=["rmse"], store=tmp_path)


def test_loaded_runs_are_called_and_ordered_as_live_ones(tmp_path: Path) -> None:
    sets: list[dict[str, Any]] = samples.grid(K=[float("nan"), 5.0], q=[[0, 0], [1.0, 1]], g=[None, 1])
    sets = [values if k else {"K": float("nan"), "q": [0, 0]} for k, values in enumerate(sets)]
    live = simulate_many(lambda **_: make(4.0, 0.0), sets, metrics=["rmse"], store=tmp_path)
    stored = Runs.load(tmp_path)
    assert stored.labels == live.labels
    assert [values.keys() for values in stored.parameters] == [values.keys() for values in live.parameters]
    assert stored.to_xarray().identical(live.to_xarray())
    assert dict(live.to_xarray().sizes) == {"K": 2, "q": 2, "g": 2}


def test_other_versions_are_told(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        simulate_many(make, SETS, workers=1, metrics=["rmse"], store=tmp_path, progress=stop_at(0.5))
    index = json.loads((tmp_path / "sweep.json").read_text())
    index["sessions"][0]["numpy"] = "1.0"
    (tmp_path / "sweep.json").write_text(json.dumps(index))
    message = rf"was begun with other versions \(numpy 1.0 -> {np.__version__}\): the last bits of results may differ$"
    with pytest.warns(ThunderWarning, match=message):
        simulate_many(make, SETS, metrics=["rmse"], store=tmp_path)


#: functions, and what "1.0" is in code that they use
USES = {
    "a class": "class C:\n    gain = 1.0\ndef make(k): return C.gain * k",
    "a property": "class C:\n    @property\n    def gain(self): return 1.0\ndef make(k): return C().gain * k",
    "a static method": "class C:\n    @staticmethod\n    def gain(): return 1.0\ndef make(k): return C.gain() * k",
    "a class method": "class C:\n    @classmethod\n    def gain(cls): return 1.0\ndef make(k): return C.gain() * k",
    "a dataclass": "import dataclasses as d\n@d.dataclass\nclass C:\n    k: float = 1.0\ndef make(): return C().k",
    "an enumeration": "import enum\nclass E(enum.Enum):\n    A = 1.0\ndef make(k): return E.A.value * k",
    "a base": "class A:\n    def g(self): return 1.0\nclass B(A): pass\ndef make(k): return B().g() * k",
    "a cached function": "import functools\n@functools.cache\ndef g(): return 1.0\ndef make(k): return g() * k",
    "a decorator": "import functools\ndef d(f):\n    @functools.wraps(f)\n    def g(k): return 1.0 * f(k)\n"
    "    return g\n@d\ndef make(k): return k",
    "a context": "import contextlib\n@contextlib.contextmanager\ndef c(): yield 1.0\n"
    "def make(k):\n    with c() as g: return g",
    "a default": "def make(k=1.0): return k",
    "a closure": "def outer(g):\n    return lambda k: g * k\nmake = outer(1.0)",
    "an attribute": "def make(k): return make.g\nmake.g = 1.0",
    "a variable in a class": "G = 1.0\ndef make(k):\n    class C:\n        g = G\n    return C.g",
    "a module": "import helper\ndef make(k): return helper.G",
    "a text": "import helper\ndef make(k): return getattr(helper, 'G')",
    "an import": "def make(k):\n    from helper import G\n    return G",
    "an imported function": "def make(k):\n    from helper import f\n    return f()",
    "a function of a module": "import helper\ndef make(k): return helper.f()",
    "a submodule": "import parts.laws\ndef make(k): return parts.laws.G",
    "a renamed submodule": "import parts.laws as laws\ndef make(k): return laws.G",
    "an imported submodule": "def make(k):\n    from parts.laws import G\n    return G",
    "an argument": "make = lambda a, b: 1.0 * a - b",
    "an order": "make = lambda a, b, c=1.0: a - b",
}
HELPER = "G = 1.0\ndef f(): return G\n"


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Return the fingerprints of `make` in a module whose text, and that of those it imports, is edited."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "parts").mkdir()

    def found(text: str, *edit: str) -> dict[str, str]:
        files = {"user_code": text, "helper": HELPER, "parts/laws": HELPER, "parts/__init__": ""}
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content.replace(*edit) if edit else content)
        for name in ("user_code", "helper", "parts", "parts.laws"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return fingerprints(importlib.import_module("user_code").make)

    return found


def test_a_change_of_any_code_that_is_used_is_seen(changed: Callable[..., dict[str, str]]) -> None:
    for what, text in USES.items():
        before = changed(text)
        assert changed(text, "1.0", "2.0") != before, what
        assert changed(text, "\ndef ", "\n# moved\n\ndef ") == before, what
    assert changed("make = lambda a, b: a - b") != changed("make = lambda b, a: a - b")


def test_code_that_refers_to_itself_has_one_digest(changed: Callable[..., dict[str, str]]) -> None:
    """From wherever it is entered: the order of a set must not matter."""
    text = "class A:\n    def law(self): return B(self)\nclass B:\n    def other(self): return A()\nmake = [A, B]"
    first, second = changed(text), changed(text.replace("[A, B]", "[B, A]"))
    assert {name: first[name] for name in first if name} == {name: second[name] for name in second if name}
    assert set(first) == {"", "user_code.A", "user_code.B", "user_code.A.law", "user_code.B.other"}


def test_a_refusal_names_the_code(changed: Callable[..., dict[str, str]]) -> None:
    before, after = changed(USES["an imported function"]), changed(USES["an imported function"], "1.0", "2.0")
    assert [name for name in before if before[name] != after[name]] == ["helper.G"]


def test_a_script_has_the_name_that_it_is_imported_with(
    changed: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import helper\nG = 2.0\nclass C: pass\ndef make(k): return helper.f() * G, C"
    before = changed(text)
    code, module = sys.modules["user_code"], types.ModuleType("__main__")
    module.__file__ = code.__file__
    monkeypatch.setitem(sys.modules, "__main__", module)
    exec(compile(text, str(code.__file__), "exec", dont_inherit=True), vars(module))
    assert fingerprints(vars(module)["make"]) == before


GAIN = 4.0


def used() -> float:
    return GAIN


class Opaque:
    def __init__(self, gain: float) -> None:
        self.gain = gain

    def __reduce__(self) -> Any:
        raise TypeError("no pickle")


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
        (Opaque(1.0), Opaque(2.0)),
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


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with numbers, texts, arrays and a failed run, in two parts."""
    path = tmp_path_factory.mktemp("store")
    metrics = {**METRICS, "end": lambda run: run.q[-1], "peak": th.SimulationResult.peak}

    def fails(K_d: float, noise: float) -> RunSpec:
        if noise == max(values["noise"] for values in SETS):
            raise OSError("no sensor")
        return make(K_d, noise)

    with pytest.warns(RuntimeWarning, match="1 of 6 runs failed"):
        simulate_many(fails, SETS, workers=1, metrics=metrics, store=path)
    return path


def test_damage_of_a_store_is_seen(sweep: Path) -> None:
    """Whatever byte of a file of columns is another: refused, or read as it was; also names, types and metadata."""
    before = repr(Runs.load(sweep).to_pandas())

    def read() -> None:
        assert repr(Runs.load(sweep).to_pandas()) == before

    for path in (sweep / "plan.parquet", sweep / "parts"):
        _, refused = answers(path, read, range(60))
        assert refused >= 45
    read()


def test_damage_of_the_index_is_an_error_of_ours(sweep: Path) -> None:
    _, refused = answers(sweep / "sweep.json", lambda: Runs.load(sweep), range(150))
    assert refused >= 40


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("runs", value) for value in (None, "6", -1, 10**15, 5, True)],
        *[("metrics", value) for value in ("rmse", {"rmse": 1}, [1])],
        *[("sessions", value) for value in (None, [1], {})],
        *[("digests", value) for value in (None, [], {"runs": 1})],
        ("function", 3),
    ],
)
def test_fields_of_the_index_are_checked(name: str, value: Any, sweep: Path) -> None:
    file = sweep / "sweep.json"
    before = file.read_text()
    try:
        for index in ({**json.loads(before), name: value}, {k: v for k, v in json.loads(before).items() if k != name}):
            file.write_text(json.dumps(index))
            with in_time(), pytest.raises(FileFormatError, match=name if value != 5 else "6 rows for 5 runs|runs"):
                Runs.load(sweep)
    finally:
        file.write_text(before)


@pytest.mark.parametrize("name", ["sweep.json", "plan.parquet", "parts/part-000099.parquet", "lock"])
@pytest.mark.parametrize("kind", ["pipe", "nothing", "loop", "zero"])
def test_links_and_pipes_in_a_store(name: str, kind: str, sweep: Path, tmp_path: Path) -> None:
    shutil.copytree(sweep, tmp_path / "store")
    file = tmp_path / "store" / name
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to({"nothing": tmp_path / "gone", "loop": file, "zero": Path("/dev/zero")}[kind])
    if name == "lock" and kind == "nothing":
        return
    use = partial(simulate_many, make, SETS, workers=1, store=tmp_path / "store") if name == "lock" else None
    with in_time(), pytest.raises(ThunderError, match=r"store"):
        Runs.load(tmp_path / "store") if use is None else use()


def test_a_part_that_goes_while_it_is_read_is_read_again(sweep: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """As by a writer that merges parts."""
    shutil.copytree(sweep, tmp_path / "store")
    first = tmp_path / "store" / "parts" / "part-000000.parquet"
    expected, reading = repr(Runs.load(sweep).to_pandas()), store._read

    def merged(path: Path, *options: Any) -> Any:
        if path == first and first.exists():
            first.rename(first.with_name("part-000007.parquet"))
        return reading(path, *options)

    monkeypatch.setattr(store, "_read", merged)
    with in_time():
        assert repr(Runs.load(tmp_path / "store").to_pandas()) == expected
    assert not first.exists()


def test_a_store_of_before_checksums_is_read(sweep: Path, tmp_path: Path, monkeypatch: Any) -> None:
    import pyarrow.parquet

    shutil.copytree(sweep, tmp_path / "store")
    expected = repr(Runs.load(sweep).to_pandas())
    for file in (tmp_path / "store").rglob("*.parquet"):
        table = pyarrow.parquet.read_table(file)
        assert table.schema.metadata is not None
        pyarrow.parquet.write_table(table.replace_schema_metadata(None), file)
    assert repr(Runs.load(tmp_path / "store").to_pandas()) == expected
