"""The papers' experiments by name, and the command that runs them."""

from __future__ import annotations

from importlib import import_module

import pytest

import thunder_py as th
from thunder_py import cli, papers
from thunder_py.papers import registry
from thunder_py.papers.tables import markdown


@pytest.mark.parametrize("name", registry.REGISTRY)
def test_every_entry_is_a_module_that_runs_and_says_what_it_is(name):
    module = import_module(f"thunder_py.papers.{registry.REGISTRY[name]}")
    assert callable(module.run)
    assert registry.summaries()[name] == (module.__doc__ or "").splitlines()[0]
    assert registry.summaries()[name].endswith(".")


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(th.errors.UnknownNameError, match=r"no experiment is called 'softhands', only .*'softhand'"):
        papers.run_experiment("softhands")


def test_command_lists_prints_and_draws(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no experiment is called 'nothing'"),
        (["gains", "--output", "gains.txt"], "--output must end in .png or .pdf or .svg"),
        (["gains", "--output", "none/gains.png"], "there is no folder 'none'"),
        (["gains", "--output", "gains.png", "--no-plot"], "--output and --no-plot exclude each other"),
    ],
)
def test_command_refuses_before_it_runs(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["experiment", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_markdown_aligns_columns_and_leaves_what_is_unknown_empty():
    text = markdown(["a", "value"], [["x", 0.12345], ["long", None], ["n", float("nan")], ["k", 3]])
    assert text.splitlines() == [
        "|    a | value |",
        "| ---: | ----: |",
        "|    x | 0.123 |",
        "| long |       |",
        "|    n |       |",
        "|    k |     3 |",
    ]
