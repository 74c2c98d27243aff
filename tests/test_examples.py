import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from perception.pose_server import StandInServer, entry, packed, text

import thunder_py as th
from thunder_py.mujoco import MujocoPlant
from thunder_py.spatial import pose_from_rpy

pytestmark = pytest.mark.release  # seconds each
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


def test_elastic_identification(capsys):
    (row,) = load("elastic_identification").main(2, (2e-4,), ("white",))
    error, plain, inside = (float(value.removesuffix(" %")) for value in row[2:])
    assert error < 0.5 * plain
    assert inside > 85.0  # 95 expected
    assert "| noise | deviation [rad] |" in capsys.readouterr().out


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


def test_elastic_joints(capsys, tmp_path):
    """Every rigid law diverges beside springs, every elastic one follows the curve."""
    example = load("elastic_joints")
    runs, wrist = example.main(["2000", "--duration", "3", "--picture", str(tmp_path / "springs.png")])
    rigid = set(example.rigid_laws(example.elastic_panda(2000.0)))
    distances = {name: distance for (name, _), (_, distance, _) in runs.items()}
    ringing = {name: torque for (name, _), (_, _, torque) in runs.items()}
    assert all(np.isinf(distances[name]) for name in rigid)
    assert all(distances[name] < 5e-3 and ringing[name] < 0.15 for name in set(distances) - rigid)
    assert np.isinf(wrist["ComputedTorque"])
    assert wrist["ElasticSlotineLi"] < 2e-3
    assert "| ElasticSlotineLi | 0.0" in capsys.readouterr().out
    assert (tmp_path / "springs.png").stat().st_size > 1000


def test_sweep(capsys, tmp_path):
    """The second call simulates nothing: all runs are in the store."""
    example, arguments = load("sweep"), [str(tmp_path / "sweep"), "--seeds", "1", "--duration", "0.4", "--jobs", "1"]
    runs = example.main(arguments)
    assert len(runs) == 24
    assert not runs.failures
    again = example.main([*arguments, "--picture", str(tmp_path / "sweep.png")])
    assert again.columns() == runs.columns()
    assert capsys.readouterr().out.count("24 runs, 0 failed; 1 sessions") == 2
    assert (tmp_path / "sweep.png").stat().st_size > 1000


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


def test_swing_up(capsys, tmp_path):
    """A plan at the limits of torque takes MuJoCo's arm from one equilibrium to the other."""
    example = load("swing_up")
    plan = example.main(str(tmp_path / "swing_up.png"), (2.0,), 30)
    assert plan.duration == pytest.approx(1.197, abs=0.002)
    assert (np.abs(plan.tau) < example.LIMITS * (1.0 + 1e-7)).all()
    assert (np.abs(plan.tau) > 0.99 * example.LIMITS).mean() > 0.9
    assert (tmp_path / "swing_up.png").stat().st_size > 1000
    assert "% of the time; largest torques [10.  4.] N m" in capsys.readouterr().out
    law, robot, rest = example.Replay(plan), th.Robot.load("elbow"), th.reference.SetPoint([0.0, 0.0])
    assert np.abs(robot.gravity_vector(plan.states[[0, -1], :2])).max() < 1e-8
    begin, end = plan.states[0, :2], plan.states[-1, :2]
    run = th.simulate(MujocoPlant(robot), law, rest, plan.duration, law.period / 5, control_period=law.period, q0=begin)
    np.testing.assert_allclose(run.q[-1], end, atol=0.02)
    np.testing.assert_allclose(run.dq[-1], 0.0, atol=0.1)


@pytest.fixture
def reach(monkeypatch) -> ModuleType:
    """The example with the action model; its wheel of crocoddyl does not say which Pinocchio it is built for."""
    version = pytest.importorskip("crocoddyl").__version__
    if version == "3.2.1" and pytest.importorskip("pinocchio").__version__ > "4.1":
        pytest.skip("crocoddyl 3.2.1 is built for Pinocchio 4.0")
    monkeypatch.syspath_prepend(EXAMPLES)
    return load("reach_crocoddyl")


@pytest.fixture
def panda() -> th.Robot:
    return th.Robot.load("panda")


def evaluated(model: Any, *point: Any) -> dict[str, Any]:
    data = model.createData()
    model.calc(data, *point)
    model.calcDiff(data, *point)
    names = ("Lx", "Lxx") if len(point) == 1 else ("xout", "Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu")
    return {"cost": data.cost} | {name: np.array(getattr(data, name)) for name in names}


def test_reach_crocoddyl(reach, capsys):
    """The same optimum after the same iterations as crocoddyl's own model; exact Hessians need a third of them."""
    results = reach.main()
    assert capsys.readouterr().out.count("after") == len(results) == 3
    (cost, iterations), (exact_cost, exact_iterations), (own_cost, own_iterations) = results.values()
    assert exact_cost == pytest.approx(cost, rel=1e-11)
    assert own_cost == pytest.approx(cost, rel=1e-11)
    assert abs(own_iterations - iterations) <= 2
    assert exact_iterations < 0.5 * iterations


def test_action_model_is_crocoddyls_own(reach, panda):
    target, rng = np.array([0.3, -0.4, 0.6]), np.random.default_rng(0)
    for last in (False, True):
        ours, own = reach.Reach(panda, target), reach.own_model(panda, target, last)
        for _ in range(5):
            x, tau = rng.uniform(-2.0, 2.0, 14), rng.uniform(-40.0, 40.0, 7)
            point = (x,) if last else (x, tau)
            expected = evaluated(own, *point)
            for name, value in evaluated(ours, *point).items():
                np.testing.assert_allclose(value, expected[name], atol=1e-9 * max(1.0, np.abs(expected[name]).max()))


def test_action_model_against_differences(reach, panda):
    """First derivatives by crocoddyl's differences; exact Hessians by differences of the Lagrangian's gradients."""
    model, rng = reach.Reach(panda, np.array([0.3, -0.4, 0.6])), np.random.default_rng(1)
    x, tau = rng.uniform(-1.0, 1.0, 14), rng.uniform(-20.0, 20.0, 7)
    expected = evaluated(reach.crocoddyl.DifferentialActionModelNumDiff(model, True), x, tau)
    for name, value in evaluated(model, x, tau).items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5 * max(1.0, np.abs(expected[name]).max()))

    model.costate = rng.normal(size=7)

    def gradient(z):
        d = evaluated(model, z[:14], z[14:])
        return np.hstack([d["Lx"] + model.costate @ d["Fx"], d["Lu"] + model.costate @ d["Fu"]])

    z, h = np.hstack([x, tau]), 1e-5
    differences = np.array([(gradient(z + step) - gradient(z - step)) / (2 * h) for step in h * np.eye(21)])
    d = evaluated(model, x, tau)
    hessian = np.block([[d["Lxx"], d["Lxu"]], [d["Lxu"].T, d["Luu"]]])
    np.testing.assert_allclose(hessian, differences, atol=1e-7 * np.abs(hessian).max())


def test_feedback_of_exact_hessians_is_the_derivative_of_the_optimum(reach, panda):
    target = panda.forward_kinematics(reach.START)[:3, 3] + [0.3, 0.5, -0.3]
    models = [reach.Reach(panda, target) for _ in range(reach.NODES + 1)]
    problem = reach.problem(panda, models[:-1], models[-1])
    solver, change = reach.crocoddyl.SolverFDDP(problem), np.random.default_rng(2).normal(size=14)
    solver.reg_min = 1e-14
    x0, gains, torques, h = problem.x0.copy(), {}, [], 1e-4
    for order, callbacks in (("first", []), ("second", [reach.SecondOrder()])):
        solver.setCallbacks(callbacks)
        reach.solved(solver, panda)
        solver.solve(list(solver.xs), list(solver.us), 1, False)  # regularized less than the last iterations
        gains[order] = solver.K[0] @ change
    for sign in (1.0, -1.0):
        problem.x0 = x0 + sign * h * change
        solver.solve(list(solver.xs), list(solver.us), 20, False)
        torques.append(np.array(solver.us[0]))
    derivative = (torques[0] - torques[1]) / (2 * h)
    size = np.linalg.norm(derivative)
    assert np.linalg.norm(gains["second"] + derivative) < 1e-6 * size
    assert np.linalg.norm(gains["first"] + derivative) > 0.1 * size


def test_predictive_control(reach, capsys, tmp_path):
    """The loop is the same with crocoddyl's own model, and holds the arm at its target against a push."""
    runs = load("predictive_control").main(str(tmp_path / "run.png"), 0.4)
    ours, own = runs.values()
    np.testing.assert_allclose(ours.q, own.q, atol=1e-8)
    assert ours.q.shape == (401, 7)
    assert re.fullmatch(r"(.+ 41 solutions, median [\d.]+ ms, 99 % [\d.]+ ms\n){2}", capsys.readouterr().out)
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_time_optimal(capsys):
    load("time_optimal").main()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    ours = [row for row in rows if "`time_optimal`" in row]
    assert len(ours) == 4
    assert {row[-1] for row in ours} == {"1.0000"}
    durations = {row[0]: float(row[1]) for row in rows if len(row) == 3 and row[1].startswith("0.")}
    assert len(durations) == 7
    assert durations["velocity, torque"] < durations["the same, 2 kg payload"] < 1.1 * durations["velocity, torque"]


def test_identification_workflow(capsys, tmp_path):
    """From CSV files to a URDF; the tool alone explains the logs as well as all links."""
    load("identification_workflow").main(tmp_path, 3, 4.0)
    printed = capsys.readouterr().out
    inside = re.search(r"least squares: (\d+) %", printed)
    after = re.search(r"data sheet, ([\d.]+) % identified", printed)
    assert inside is not None
    assert int(inside[1]) >= 85  # 95 expected
    assert after is not None
    assert float(after[1]) < 15.0
    assert "the URDF has the identified torques: True" in printed
    assert (tmp_path / "report.html").stat().st_size > 100_000
