"""Many runs at once: the same as one after the other, whatever fails."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.simulation import Payload, Runs, RunSpec, Sensors, simulate_many

from ..control.arms import elbow, elbow_motion


def make(K_d: float = 8.0, seed: int = 0, mass: float = 0.0, duration: float = 0.1) -> RunSpec:
    if K_d < 0.5:
        raise RuntimeError("too weak")
    law = th.SlotineLi(elbow(), 5.0, K_d, adaptation=2.0)
    sensors = Sensors(position_noise=1e-4, velocity_noise=1e-3, seed=seed)
    return RunSpec(elbow(), law, elbow_motion(), duration, sensors=sensors, payloads=Payload(mass), q0=[0.5, 0.5])


SETS = [{"K_d": gain, "seed": seed} for gain in (4.0, 8.0) for seed in range(3)]


@pytest.mark.parametrize("workers", [1, None, ThreadPoolExecutor(2), map])
def test_results_are_those_of_single_runs_in_their_order(workers: Any) -> None:
    runs = simulate_many(make, SETS, workers=workers)
    assert len(runs) == 6
    assert not runs.failures
    assert runs.parameters == tuple(SETS)
    assert runs.labels[4] == "K_d=8, seed=1"
    for k, values in enumerate(SETS):
        assert runs[k] == make(**values)()
    assert list(runs[1:3]) == [runs[1], runs[2]]
    assert runs[-1] == runs[5]
    with pytest.raises(IndexError):
        _ = runs[6]


def test_ready_made_runs() -> None:
    runs = simulate_many([make(), make(seed=1)])
    assert runs.labels == ("0", "1")
    named = [make(), make()]
    for run in named:
        run.label = "same"
    assert simulate_many(named).labels == ("same #0", "same #1")


def test_failures_are_told_and_the_others_kept() -> None:
    class Broken:
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            raise KeyError("no such gain")

    def sometimes(kind: str) -> RunSpec:
        if kind == "broken":
            return RunSpec(elbow(), Broken(), elbow_motion(), 0.1)
        return make(K_d=0.1 if kind == "weak" else 8.0)

    with pytest.warns(RuntimeWarning, match="2 of 4 runs failed; the first is run 1: too weak"):
        runs = simulate_many(sometimes, [{"kind": kind} for kind in ("good", "weak", "broken", "good")])
    assert set(runs.failures) == {1, 2}
    assert isinstance(runs.failures[2], KeyError)
    assert runs[0] == runs[3] == make()()
    with pytest.raises(th.errors.ThunderError, match=re.escape("run 1 (kind=weak) failed: too weak")):
        _ = runs[1]
    assert repr(runs) == "<Runs: 4, 2 failed>"
    table = runs.table(["rmse", "status"])
    assert table.to_dict()["kind=weak"] == {"rmse [rad]": None, "status": None, "failure": "RuntimeError: too weak"}
    assert len(str(table).splitlines()) == 5
    assert table.to_dict()["kind=good #0"]["rmse [rad]"] == pytest.approx(runs[0].rmse())


def test_progress() -> None:
    parts: list[float] = []
    simulate_many(make, SETS, progress=parts.append)
    assert parts == pytest.approx(np.arange(1, 7) / 6.0)


def test_an_error_of_the_progress_ends_everything() -> None:
    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_many(make, [{"duration": 0.1}, {"duration": 1e4}], workers=ThreadPoolExecutor(2), progress=stop)


def test_bad_arguments() -> None:
    class Stateful:
        n = 2

        def begin_step(self, t: float) -> None:
            self.t = t

        def forward_dynamics(self, q: object, dq: object, tau: object) -> np.ndarray:
            return np.zeros(2)

    def runs(plant: object, law: object = None) -> list[RunSpec]:
        laws = [law or th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0) for _ in range(2)]
        return [RunSpec(plant, law, elbow_motion(), 0.1) for law in laws]

    names = ("seconds", "host", "failure", "run")
    assert_refused(
        (
            (runs(elbow(), th.PDGravity(elbow(), 5.0, 8.0)),),
            "runs 0 and 1 share a controller, which has state: make...",
        ),
        ((runs(Stateful()),), "runs 0 and 1 share a plant, which has state: make one for each run"),
        (([1],), "runs must be a sequence of RunSpec or a function that makes them, got 1 in it"),
        ((make,), "parameters must hold a mapping for each run where runs is a function, got None"),
        (([make()], [{}]), "parameters must be None where runs is a sequence of RunSpec"),
        *(((make, [{name: 1.0}]), f"parameters must not be called {name}, the name of a column") for name in names),
        call=simulate_many,
    )
    assert_refused(
        ({"workers": 0}, "workers must be a whole number of at least 1, ..., got 0"),
        (
            {"metrics": {"K_d": len, "seed": len}},
            "metrics must not be called K_d, seed, the name of a column or a p...",
        ),
        *(({"metrics": {name: len}}, f"metrics must not be called {name}, the name of a column...") for name in names),
        ({"metrics": ["_or_infinite"]}, "metrics must be among ...; got '_or_infinite'"),
        call=lambda **options: simulate_many(make, SETS, **options),
    )
    assert isinstance(simulate_many([]), Runs)


@pytest.mark.parametrize("workers", [1, None, map])
def test_a_function_may_share_a_controller_and_change_its_arguments(workers: Any) -> None:
    """Each run simulates a copy: nothing goes on with what another one learned."""
    law, shared = th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0), np.array([0.1, 0.2])

    def doubles(q0: np.ndarray) -> RunSpec:
        q0 *= 2.0
        return RunSpec(elbow(), law, elbow_motion(), 0.05, q0=q0)

    runs = simulate_many(doubles, [{"q0": shared}] * 3, workers=workers)
    fresh = th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0)
    alone = RunSpec(elbow(), fresh, elbow_motion(), 0.05, q0=[0.2, 0.4])()
    assert all(run == alone for run in runs)
    assert shared.tolist() == [0.1, 0.2]


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_metrics_are_all_that_is_kept() -> None:
    metrics = {"rmse": th.SimulationResult.rmse, "end": lambda run: run.q[-1], "all": lambda run: run.q}
    whole, runs = simulate_many(make, SETS), simulate_many(make, SETS, metrics=metrics)
    assert runs.columns(["rmse"]) == {"rmse": [run.rmse() for run in whole]}
    assert [end.tobytes() for end in runs.columns()["end"]] == [run.q[-1].tobytes() for run in whole]
    assert runs.table(["rmse"]).to_dict() == whole.table({"rmse": th.SimulationResult.rmse}).to_dict()
    assert simulate_many(make, SETS, metrics=["rmse"]).table().to_dict() == whole.table(["rmse"]).to_dict()
    odd = simulate_many(make, SETS[:1], metrics={"itself": lambda run: run}, workers=1)
    assert (
        str(odd.failures[0]) == "metric 'itself' must be a number, a text or an array of numbers, got SimulationResult"
    )
    assert_refused(
        (lambda: runs[1], "run 1 (K_d=4, seed=1) has no result: simulate_many..."),
        (lambda: runs.columns(["peak"]), "metrics must be among rmse, end, all, got 'peak'...", UnknownNameError),
    )


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
def test_a_time_limit_ends_simulations_of_threads() -> None:
    runs = simulate_many(make, [{"duration": 0.1}, {"duration": 1e4}], timeout=1.0, retries=0)
    assert isinstance(runs.failures[1], TimeoutError)
    assert str(runs.failures[1]) == "the run took longer than 1 s"
    assert runs[0] == make()()


class Failing:
    """A law with memory and without reset, which fails in its first life after some steps."""

    def __init__(self, steps: int, fails: Callable[[], bool]) -> None:
        self.steps, self.fails, self.n, self.mean = steps, fails, 0, np.zeros(2)

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: Any) -> np.ndarray:
        self.n += 1
        self.mean = self.mean + (q - self.mean) / self.n
        if self.n == self.steps and self.fails():
            raise OSError("no sensor now")
        return 40.0 * (reference.q - q) - 6.0 * dq + 10.0 * self.mean


@pytest.mark.filterwarnings("ignore:.* runs failed:RuntimeWarning")
@pytest.mark.parametrize("kind", ["threads", "here", "processes", "map"])
def test_a_ready_made_run_is_repeated_from_its_start(kind: str, tmp_path: Path) -> None:
    """Compared with runs of laws that never fail, at several instants of the failure; what has no copy fails."""
    workers = {"threads": None, "here": 1, "processes": 2, "map": map}[kind]
    steps = (1, 13, 37, 50)

    def failing(k: int) -> Callable[[], bool]:
        def fails() -> bool:
            mark = tmp_path / f"{kind}{k}"
            first = not mark.exists()
            mark.touch()
            return first

        return fails

    def spec(law: Failing) -> RunSpec:
        return RunSpec(elbow(), law, elbow_motion(), 0.05, q0=[0.5, 0.5])

    laws = [Failing(k, failing(k)) for k in steps]
    runs = simulate_many([spec(law) for law in laws], workers=workers, retries=1)
    assert not runs.failures
    assert runs.to_pandas()["attempts"].tolist() == [2, 2, 2, 2]
    for run in runs:
        assert run == spec(Failing(0, lambda: False))()
    assert all(law.n == 0 for law in laws)
    if kind == "here":
        law = Failing(7, failing(7))
        law.lock = threading.Lock()
        assert isinstance(simulate_many([spec(law)], workers=1, retries=3).failures[0], OSError)
        assert law.n == 7
