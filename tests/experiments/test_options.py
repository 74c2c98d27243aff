"""Options of experiments: all take seeds and processes and give results as JSON, which do not depend on processes."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import cli
from thunder_py.papers import registry
from thunder_py.papers.elastic_wrist.run import run_elastic_wrist
from thunder_py.papers.human_like import real
from thunder_py.papers.human_like.scenarios import scenarios
from thunder_py.papers.lissajous.run import run_lissajous_panda
from thunder_py.papers.picking.run import run as run_picking
from thunder_py.papers.results import Draws, spread
from thunder_py.papers.scara.kinematics import inverse_kinematics
from thunder_py.papers.tables import markdown, plain, write_results
from thunder_py.parallel import Workers, shared_workers

from .inventory import assert_shown
from .quick import quick


@dataclass(frozen=True)
class _Dice:
    """An experiment that keeps its options."""

    seeds: int
    workers: object
    quick: bool

    def table(self) -> str:
        return f"{self.seeds} seeds"

    def plot(self) -> Any:
        return import_module("matplotlib.figure").Figure()

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


def test_options_that_make_no_sense_are_refused() -> None:
    whole, run = "must be a whole number of at least 1...", registry.run_experiment
    assert_refused(
        (
            lambda: run("dice", data="here"),
            "data must be None for 'dice', unlike for human-like...",
        ),
        (lambda: run("dice", robot="ur5e"), "robot must be None for 'dice', unlike for throwing..."),
        (lambda: run("dice", seeds=0), f"seeds {whole}"),
        (lambda: run("dice", workers=1.5), f"workers {whole}"),
        (lambda: run("elbow", physics=True), "physics must be False for 'elbow', unlike picking..."),
        (lambda: run("softhands"), "no experiment is called 'softhands', only ...'softhand'..."),
        (lambda: run("human-like-arm", True, data="."), "...human-like-real..."),
        (lambda: run_picking(seeds=0), "seeds..."),
        (lambda: run_picking(seeds=True), "seeds..."),
        (lambda: run_elastic_wrist(sweep=-3), "sweep must be a whole number of at least 2, got -3"),
        *(
            (partial(run_lissajous_panda, T), f"duration must be at least 0.02 s, got {T:g}")
            for T in (0.0, -1.0, 0.001)
        ),
        (lambda: inverse_kinematics([0.8, 0.7, 0.2], 0.0), "p must be within 1 m of the axis..."),
        (lambda: scenarios(5, 1), "family must be one of 1, 2, 3, 4, got 5..."),
        (lambda: scenarios(1, -1), "count must be..."),
        (lambda: scenarios(1, 1, -2), "seed must be..."),
    )


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
        "robot": None,
        "clock": None,
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


#: "human-like" is its parts
@pytest.mark.release
@pytest.mark.parametrize("name", [n for n in registry.REGISTRY if n not in ("human-like", "grasping")])
def test_every_experiment_answers_to_its_options(name: str, workers: None) -> None:
    texts = []
    for found in (quick(name), registry.run_experiment(name, True, seeds=2, workers=2)):
        assert found.table().count("|") > 20
        numbers = plain(found.to_dict())
        texts.append(json.dumps(_without_times(numbers), allow_nan=False))
        assert json.loads(json.dumps(numbers)) == numbers
    assert_shown(name, found)
    figure = found.plot()
    assert texts[0] == texts[1]
    assert any(character.isdigit() for character in texts[0])
    assert any(panel.has_data() for panel in figure.axes)
    figure.clear()


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


def test_command_uses_all_processors_unless_it_is_quick() -> None:
    for arguments, workers in (("", -1), ("--quick", 1), ("--jobs 3", 3), ("--jobs -1 --quick", -1)):
        assert cli.main(["experiment", "dice", *arguments.split(), "--results", "dice.json", "--no-plot"]) == 0
        assert json.loads(Path("dice.json").read_text())["results"]["workers"] == workers


def test_command_runs_on_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    closed = []

    class Client:
        def __init__(self, address: str) -> None:
            self.address = address

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            closed.append(self.address)

        def __call__(self) -> None: ...

        def __str__(self) -> str:
            return f"client of {self.address}"

    assert cli.main(["experiment", "dice", "--cluster", "here", "--no-plot"]) == 2
    monkeypatch.setattr("distributed.Client", Client)
    arguments = ["experiment", "dice", "--cluster", "tcp://host:8786", "--results", "dice.json", "--no-plot"]
    assert cli.main(arguments) == 0
    assert json.loads(Path("dice.json").read_text())["results"]["workers"] == "client of tcp://host:8786"
    assert closed == ["tcp://host:8786"]


REFUSED = {
    "dice --results a.txt": "--results must end in .json",
    "dice --results none/a.json": "there is no folder 'none'",
    "dice --results /proc/a.json": "the folder '/proc' cannot be written",
    "dice --output /proc/a.png": "the folder '/proc' cannot be written",
    "dice --output dice.txt": "--output must end in .png or .pdf or .svg",
    "dice --output none/dice.png": "there is no folder 'none'",
    "dice --output dice.png --no-plot": "--output and --no-plot exclude each other",
    "dice --data none --no-plot": "must be a folder, got 'none'",
    "dice --data . --no-plot": "data must be None for 'dice'",
    "a/b --no-plot": "no experiment is called 'a/b'",
    "nothing --results a.json": "no experiment is called 'nothing'",
    "dice --jobs 2 --cluster tcp://a:1 --no-plot": "--jobs and --cluster exclude each other",
}


def test_command_refuses_before_it_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["thunder_py.papers.dice"], "run", _roll_never)
    for arguments, message in REFUSED.items():
        assert cli.main(["experiment", *arguments.split()]) == 2
        assert message in capsys.readouterr().err, arguments
        assert list(Path().iterdir()) == []
    for value in ("0", "-3", "two", "1.5"):
        with pytest.raises(SystemExit, match="2"):
            cli.main(["experiment", "dice", f"--seeds={value}"])
        assert f"must be a whole number of at least 1, got '{value}'" in capsys.readouterr().err


def _roll_never(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> _Dice:
    raise AssertionError("it ran")


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


def test_every_entry_is_a_module_that_runs_and_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.REGISTRY, "dice")
    for name, where in registry.REGISTRY.items():
        module = import_module(f"thunder_py.papers.{where}")
        assert callable(module.run)
        assert registry.summaries()[name] == (module.__doc__ or "").splitlines()[0]
        assert registry.summaries()[name].endswith(".")


@pytest.mark.release
def test_command_lists_prints_and_draws(capsys, tmp_path, monkeypatch):
    monkeypatch.delitem(registry.REGISTRY, "dice")
    assert cli.main(["experiment", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(registry.REGISTRY)
    assert cli.main(["experiment", "softhand", "--quick", "--output", "hand.png"]) == 0
    out = capsys.readouterr().out
    assert "1.5655" in out
    assert out.endswith("picture  hand.png\n")
    assert (tmp_path / "hand.png").stat().st_size > 10_000
    assert cli.main(["experiment", "lissajous", "--quick", "--no-plot"]) == 0
    assert "norm of e" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["hand.png"]


def test_markdown_aligns_columns_and_leaves_gaps_empty():
    text = markdown(["a", "value"], [["x", 0.12345], ["long", None], ["n", float("nan")], ["k", 3]])
    assert text.splitlines() == [
        "|    a | value |",
        "| ---: | ----: |",
        "|    x | 0.123 |",
        "| long |       |",
        "|    n |       |",
        "|    k |     3 |",
    ]
