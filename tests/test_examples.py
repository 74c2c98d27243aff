"""Every example runs, and shows what its first lines promise."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import matplotlib.image
import numpy as np
import pytest
from perception.pose_server import StandInServer, entry, packed, text

from thunder_py.spatial import pose_from_rpy

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    here = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert f'load("{path.stem}")' in here


def test_urdf_quickstart(capsys):
    load("urdf_quickstart").main()
    printed = capsys.readouterr().out
    assert "<Robot 'two_link': 2 joints (RR), 22 parameters>" in printed
    assert "round trip True" in printed


def test_regressor_identification(capsys):
    load("regressor_identification").main()
    printed = capsys.readouterr().out
    assert "ur5e: 60 parameters, 36 base parameters" in printed
    inside = re.search(r"of the truth: (\d+) %", printed)
    assert inside is not None
    assert int(inside[1]) >= 85  # 95 expected
    predicted = re.search(r"predicted to ([\d.]+) N m", printed)
    assert predicted is not None
    assert float(predicted[1]) < 0.02  # noise was 0.05


def test_null_space_drift(capsys):
    load("null_space_drift").main(1.0)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[1] for row in rows] == ["None"] * 6 + ["middle"] * 6
    assert {row[2] for row in rows} == {"no"}
    assert all(float(row[3]) < 50 and float(row[4]) < 15 for row in rows)


def test_adaptive_panda(capsys, tmp_path):
    results = load("adaptive_panda").main(str(tmp_path / "run.png"))
    assert results[True].steady_state_error() < 0.02 * results[False].steady_state_error()
    assert results[True].parameters[-1, 60] == pytest.approx(1.7355, abs=0.01)
    assert "truth" in capsys.readouterr().out
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_symbolic_model(capsys):
    load("symbolic_model").main()
    printed = capsys.readouterr().out
    assert "run-time parameters: par_REG" in printed
    assert "M as Robot has it True" in printed
    assert "a batch           (1000, 4)" in printed


def test_unknown_lengths(capsys):
    errors = load("unknown_lengths").main(0.1, ("panda",))
    assert len(capsys.readouterr().out.splitlines()) == len(errors) == 6
    assert errors["panda", "both, with gamma"] < errors["panda", "measured position"] < errors["panda", "wrong lengths"]


def test_adaptation_laws(capsys):
    """The natural law believes in bodies all along, the gradient law does not; both track better than a dead zone."""
    load("adaptation_laws")
    rows = {line[:20].strip(): line for line in capsys.readouterr().out.splitlines()}
    error = {name: float(re.search(r"error +([\d.]+)", line)[1]) for name, line in rows.items()}
    bodies = {name: float(re.search(r"in +(\d+) %", line)[1]) for name, line in rows.items()}
    assert bodies["natural"] == 100
    assert bodies["gradient"] < 50
    assert error["natural"] < error["gradient, dead zone"]


def test_hand_eye_accuracy(capsys):
    errors = load("hand_eye_accuracy").main(1)
    assert errors.shape == (1, 2, 5, 4)
    assert errors[:, :, -1, :2].max() < 2.0  # millimeters and degrees with 40 poses
    assert "| on the hand, 40 poses |" in capsys.readouterr().out


def test_inverse_kinematics_success(capsys):
    fractions = load("inverse_kinematics_success").main(50)
    assert set(fractions) >= {"panda", "ur5e", "puma560", "irb140", "stanford"}
    assert min(fractions.values()) >= 0.98
    assert " stanford |" in capsys.readouterr().out


def test_megapose_client(capsys, tmp_path):
    picture = tmp_path / "picture.png"
    matplotlib.image.imsave(picture, np.zeros((30, 40, 3)))
    pose = pose_from_rpy((0.1, -0.05, 0.6), (0.3, 0.2, 2.0))
    example = load("megapose_client")
    with StandInServer(lambda request: packed("RETP", text(json.dumps([entry(pose, 0.75)])))) as server:
        arguments = [str(picture), "cube", "1", "2", "30", "20", f"--port={server.port}", "--timeout=5"]
        np.testing.assert_allclose(example.main(arguments), pose, atol=1e-6)
    printed = capsys.readouterr().out
    assert "objects that the server knows: cube, pneumatic tool" in printed
    assert "cube: score 0.75, at [ 0.1  -0.05  0.6 ] m" in printed
    assert example.main(arguments) is None
    assert "no pose: no connection to a pose server" in capsys.readouterr().out


def test_movement_primitive_goals(capsys):
    ((angle, ratio, plain, turned),) = (rows.T for rows in load("movement_primitive_goals").main(quick=True))
    assert capsys.readouterr().out.startswith("synthetic (sigma-lognormal): 30 reaches of 3 subjects")
    assert turned.mean() < 0.85 * plain.mean()
    assert ratio.min() > 0.0
    assert 0.0 <= angle.min() < angle.max() <= 180.0


def test_time_optimal(capsys):
    load("time_optimal").main()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    ours = [row for row in rows if "`time_optimal`" in row]
    assert len(ours) == 4
    assert {row[-1] for row in ours} == {"1.0000"}
    durations = {row[0]: float(row[1]) for row in rows if len(row) == 3 and row[1].startswith("0.")}
    assert len(durations) == 7
    assert durations["velocity, torque"] < durations["the same, 2 kg payload"] < 1.1 * durations["velocity, torque"]
