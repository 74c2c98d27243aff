"""Options of experiments: all take seeds and processes and give results as JSON, which do not depend on processes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import cli
from thunder_py.papers import registry
from thunder_py.papers.draws import Draws, spread
from thunder_py.papers.human_like import real
from thunder_py.papers.tables import plain, write_results
from thunder_py.parallel import Workers, shared_workers

from .quick import one_time_of_each_kind, quick

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Dice:
    """An experiment that keeps its options."""

    seeds: int
    workers: object
    quick: bool

    def table(self) -> str:
        return f"{self.seeds} seeds"

    def plot(self) -> Figure:
        from matplotlib.figure import Figure

        return Figure()

    def to_dict(self) -> dict[str, Any]:
        return {"seeds": np.int64(self.seeds), "values": np.array([[0.5, np.nan]]), "workers": self.workers}


def _roll(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> _Dice:
    return _Dice(seeds or 6, workers if isinstance(workers, int) else str(workers), quick)


@pytest.fixture(autouse=True)
def _dice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = ModuleType("thunder_py.papers.dice", "Dice.")
    module.run = _roll  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.REGISTRY, "dice", "dice")
    monkeypatch.chdir(tmp_path)


def test_seeds_and_workers_reach_the_experiment() -> None:
    assert registry.run_experiment("dice") == _Dice(6, 1, False)
    assert registry.run_experiment("dice", True, seeds=3, workers=2) == _Dice(3, 2, True)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("dice", {"data": "here"}, "data must be None for 'dice', which uses no recordings, unlike human-like"),
        ("dice", {"seeds": 0}, "seeds must be a whole number of at least 1"),
        ("dice", {"workers": 1.5}, "workers must be a whole number of at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(th.errors.ThunderError, match=message):
        registry.run_experiment(name, **options)


def test_command_writes_results_whole(capsys: pytest.CaptureFixture[str]) -> None:
    Path("dice.json").write_text("what was there before")
    arguments = ["experiment", "dice", "--seeds", "4", "--jobs", "2", "--results", "dice.json", "--no-plot"]
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == "4 seeds\n\nresults  dice.json\n"
    assert json.loads(Path("dice.json").read_text()) == {
        "experiment": "dice",
        "thunder_py": th.__version__,
        "quick": False,
        "seeds": 4,
        "physics": False,
        "results": {"seeds": 4, "values": [[0.5, None]], "workers": 2},
    }
    assert [path.name for path in Path().iterdir()] == ["dice.json"]


#: measured computing times, which differ from run to run
_TIMES = ("seconds", "median_seconds", "steps_per_second", "control_step_s")


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(entry) for key, entry in value.items() if key not in _TIMES}
    return [_without_times(entry) for entry in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def workers() -> Iterator[None]:
    with shared_workers():
        yield


#: the shortest one; the others take seconds each
_ALWAYS = ("d42-joint",)


#: "human-like" is its parts
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in _ALWAYS else [pytest.mark.release])
        for name in registry.REGISTRY
        if name not in ("human-like", "grasping")  # test_grasping.py
    ],
)
def test_every_experiment_answers_to_its_options(name: str, workers: None) -> None:
    texts = []
    with one_time_of_each_kind():
        both = quick(name), registry.run_experiment(name, True, seeds=2, workers=2)
    for found in both:
        assert found.table().count("|") > 20
        numbers = plain(found.to_dict())
        texts.append(json.dumps(_without_times(numbers), allow_nan=False))
        assert json.loads(json.dumps(numbers)) == numbers
    assert texts[0] == texts[1]
    assert any(character.isdigit() for character in texts[0])


def test_draws_are_summarized_without_those_that_have_no_value() -> None:
    draws = Draws.of(
        "dice", [{"eyes": 1.0, "time [s]": None}, {"eyes": 4.0, "time [s]": 2.0}, {"eyes": 6.0, "time [s]": None}]
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in draws.table().splitlines()[4:]]
    assert rows == [["eyes", "3.67", "4", "1", "6", "3"], ["time [s]", "2", "2", "2", "2", "1"]]
    assert draws.table().startswith("3 draws: dice\n")
    assert plain(draws.to_dict()) == {"drawn": "dice", "seeds": 3, "eyes": [1, 4, 6], "time [s]": [None, 2, None]}
    assert spread(np.array([1.0, 3.0, np.inf])) == "3 (1 to diverged)"
    assert spread(np.array([2.0])) == "2"


@pytest.mark.filterwarnings("default")
def test_seeds_without_effect_are_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "reaches_of", lambda *_: [])
    Path("recordings").mkdir()
    arguments = ["experiment", "human-like-real", "--quick", "--no-plot", "--data", "recordings", "--seeds", "3"]
    assert cli.main(arguments) == 0
    line = "thunder experiment: human-like-real is deterministic with recordings: seeds has no effect\n"
    assert capsys.readouterr().err == line


@pytest.mark.release
def test_fewer_seeds_than_the_default_are_enough() -> None:
    """Random starts of the wrist's arm begin with those that lead to a throw."""
    assert registry.run_experiment("elastic-wrist", True, seeds=1).to_dict()["arm"][0]["found"] == 1


@pytest.mark.parametrize(
    ("arguments", "workers"), [([], -1), (["--quick"], 1), (["--jobs", "3"], 3), (["--jobs", "-1", "--quick"], -1)]
)
def test_command_uses_all_processors_unless_it_is_quick(arguments: list[str], workers: int) -> None:
    assert cli.main(["experiment", "dice", *arguments, "--results", "dice.json", "--no-plot"]) == 0
    assert json.loads(Path("dice.json").read_text())["results"]["workers"] == workers


def test_command_runs_on_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Client:
        def __init__(self, address: str) -> None:
            self.address = address

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *_: object) -> None:
            closed.append(self.address)

        def __call__(self) -> None: ...

        def __str__(self) -> str:
            return f"client of {self.address}"

    monkeypatch.setattr("distributed.Client", Client)
    arguments = ["experiment", "dice", "--cluster", "tcp://host:8786", "--results", "dice.json", "--no-plot"]
    assert cli.main(arguments) == 0
    assert json.loads(Path("dice.json").read_text())["results"]["workers"] == "client of tcp://host:8786"
    assert closed == ["tcp://host:8786"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dice", "--results", "a.txt"], "--results must end in .json"),
        (["dice", "--results", "none/a.json"], "there is no folder 'none'"),
        (["dice", "--results", "/proc/a.json"], "the folder '/proc' cannot be written"),
        (["dice", "--output", "/proc/a.png"], "the folder '/proc' cannot be written"),
        (["dice", "--data", "none", "--no-plot"], "must be a folder, got 'none'"),
        (["dice", "--data", ".", "--no-plot"], "data must be None for 'dice'"),
        (["a/b", "--no-plot"], "no experiment is called 'a/b'"),
        (["nothing", "--results", "a.json"], "no experiment is called 'nothing'"),
        (["dice", "--jobs", "2", "--cluster", "tcp://a:1", "--no-plot"], "--jobs and --cluster exclude each other"),
        (["dice", "--cluster", "here", "--no-plot"], "cluster must be the address of a Dask scheduler such as tcp"),
    ],
)
def test_command_refuses_before_it_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(sys.modules["thunder_py.papers.dice"], "run", _roll_never)
    assert cli.main(["experiment", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def _roll_never(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> _Dice:
    raise AssertionError("it ran")


@pytest.mark.parametrize("value", ["0", "-3", "two", "1.5"])
def test_command_takes_whole_numbers_only(capsys: pytest.CaptureFixture[str], value: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["experiment", "dice", f"--seeds={value}"])
    assert f"must be a whole number of at least 1, got '{value}'" in capsys.readouterr().err


def test_help_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["experiment", "--help"])
    out = capsys.readouterr().out
    names = out.split("experiments:\n")[1].split("\n\n")[0].replace("\n", " ").replace(",", " ").split()
    assert names == list(registry.REGISTRY)
    for option in ("--seeds", "--jobs", "--cluster", "--results", "--quick"):
        assert option in out


def test_plain_is_what_json_knows() -> None:
    value = {1: (np.float32(0.5), math.inf), "a": [np.bool_(True), None, Path("x")], "b": np.arange(3)}
    assert plain(value) == {"1": [0.5, None], "a": [True, None, "x"], "b": [0, 1, 2]}
    with pytest.raises(TypeError, match="set has no form in JSON"):
        plain({"a": {1, 2}})


def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    write_results(tmp_path / "a.json", {"x": 1})
    with pytest.raises(TypeError):
        write_results(tmp_path / "a.json", {"x": object()})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1}
    assert len(list(tmp_path.iterdir())) == 1
