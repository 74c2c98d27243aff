"""What results know of the plant: energy balance, condition numbers, Lyapunov functions; comparisons and files."""

from __future__ import annotations

import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import ACT, MACT, GradientAdaptation, NaturalAdaptation
from thunder_py.errors import FileFormatError, ThunderError
from thunder_py.reference import SetPoint
from thunder_py.simulation import Actuators, ExternalTorque, ExternalWrench, Payload, Sensors

from ..control.arms import Q0, backstepping, elbow, elbow_motion, lissajous, panda, wrong_panda
from ..truth import FOLDER


def friction() -> th.Robot:
    terms = th.model.description.Friction(terms=("viscous", "coulomb"), coefficients=[[0.5, 0.3]] * 2, delta=0.05)
    return elbow().replace(friction=terms)


def slotine_li(robot: th.Robot | None = None, **options: object) -> th.SlotineLi:
    options = options or {"adaptation": 2.0}
    return th.SlotineLi(robot or elbow(), 5.0, 8.0, **options)  # type: ignore[arg-type]


def wrong_elbow() -> th.Robot:
    return elbow().with_parameters(0.7 * elbow().parameters)


def run(dt: float = 1e-3, plant: th.Robot | None = None, **options: object) -> th.SimulationResult:
    return th.simulate(plant or elbow(), slotine_li(plant), elbow_motion(), 0.5, dt, **{"q0": [1.0, 0.0], **options})  # type: ignore[arg-type]


PARTS = [
    ({}, 1e-10),  # torques are held, so their work is exact
    ({"plant": friction()}, 1e-3),
    ({"payloads": [Payload(0.5, time=0.1), Payload(0.2, com=[0.1, 0, 0], link=1, time=0.3)]}, 1e-10),
    ({"external": ExternalWrench([3.0, 1.0, 0, 0, 0, 0.5])}, 1e-3),
    ({"actuators": Actuators(lag=0.02)}, 1e-3),
    ({"log_every": 4, "q0": None, "dq0": elbow_motion()(0.0).dq}, 1e-2),
]


@pytest.mark.parametrize(("options", "bound"), PARTS, ids=["plain", "friction", "payloads", "external", "lag", "thin"])
def test_energy_balance_closes_with_the_step(options: dict, bound: float) -> None:
    coarse, fine = (np.abs(run(dt, **options).energy().residual).max() for dt in (1e-3, 2.5e-4))
    assert fine < bound
    if bound > 1e-9:
        assert coarse / fine > (3.0 if "log_every" in options else 12.0)  # of first or second order
        assert coarse > 1e-9


def test_energy_of_elastic_joints() -> None:
    robot = th.Robot.load(FOLDER.parent / "thunder" / "sea3.yaml")

    class Push:
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.array([3.0, 20.0, 0.5])

    residuals = []
    for dt in (1e-3, 2.5e-4):
        result = th.simulate(robot, Push(), SetPoint(np.zeros(3)), 0.5, dt, q0=[0.4, 0.1, -0.3], dx0=[1.0, -2.0])
        residuals.append(np.abs(result.energy().residual).max())
        assert result.energy().dissipated[-1] > 0.01
    assert residuals[1] < 1e-3
    assert residuals[0] / residuals[1] > 12.0


def test_energy_of_parts_by_hand() -> None:
    result = run(plant=friction(), external=ExternalTorque([1.0, -1.0]))
    energy = result.energy()
    np.testing.assert_allclose(energy.total, energy.kinetic + energy.potential)
    np.testing.assert_allclose(energy.external, (result.q - result.q[0]) @ [1.0, -1.0], atol=1e-12)
    assert (np.diff(energy.dissipated) >= 0.0).all()
    assert not energy.payload.any()
    loaded = run(payloads=Payload(0.5, time=0.25)).energy()
    assert np.unique(loaded.payload).size == 2
    assert loaded.payload[-1] != 0.0


def test_condition_numbers() -> None:
    result = run(payloads=Payload(3.0, time=0.25))
    numbers = result.condition_numbers()
    for k, robot in ((100, elbow()), (400, Payload(3.0).added_to(elbow()))):
        assert numbers.M[k] == pytest.approx(np.linalg.cond(robot.mass_matrix(result.q[k])))
        assert numbers.J[k] == pytest.approx(np.linalg.cond(elbow().jacobian(result.q[k])))
        guess = elbow().with_parameters(result.parameters[k])
        assert numbers.M_estimate is not None
        assert numbers.M_estimate[k] == pytest.approx(np.linalg.cond(guess.mass_matrix(result.q[k])))
    assert not np.allclose(result.condition_numbers(1).J, numbers.J)
    assert run(log=()).condition_numbers().M_estimate is None


def check_lyapunov(law: object, results: list[th.SimulationResult], tolerance: float) -> None:
    """V falls, and its differences are the analytic derivative, the better the finer the steps."""
    errors = []
    for result in results:
        lyapunov = result.lyapunov(law)
        assert lyapunov.analytic
        assert lyapunov.V[0] > 0.0
        assert (lyapunov.V_dot <= 0.0).all()
        assert np.diff(lyapunov.V).max() < 1e-4 * lyapunov.V[0]
        assert lyapunov.V[-1] < 0.999 * lyapunov.V[0]
        difference = np.gradient(lyapunov.V, lyapunov.t) - lyapunov.V_dot
        errors.append(np.abs(difference[1:-1]).max() / np.abs(lyapunov.V_dot).max())
    assert errors[1] < tolerance
    assert errors[0] / errors[1] > 3.0


LAWS = {
    "gradient": {"adaptation": 2.0},
    "matrix": {"adaptation": 2.0 * np.eye(20) + 0.1},
    "natural": {"adaptation": NaturalAdaptation([2.0, 3.0])},
    "fixed": {"adaptation": None},
}


@pytest.mark.parametrize("kind", list(LAWS))
def test_lyapunov_function_of_slotine_li(kind: str) -> None:
    plant = elbow_with_bodies()
    start = plant if kind == "fixed" else plant.with_parameters(0.7 * plant.parameters)
    law = slotine_li(start, **LAWS[kind])
    results = [th.simulate(plant, law, elbow_motion(), 1.0, dt, q0=[0.6, 0.9]) for dt in (1e-3, 1e-4)]
    check_lyapunov(law, results, 2e-2)


def elbow_with_bodies() -> th.Robot:
    """Links that are bodies of three dimensions, as the natural law needs them."""
    inertial = elbow().inertial.copy()
    inertial[:, 4:] += np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0]) * 0.05
    plant = elbow().with_parameters(np.concatenate([inertial.ravel(), elbow().parameters[20:]]))
    assert plant.inertial_is_physical().all()
    return plant


def test_lyapunov_function_of_backstepping() -> None:
    law = backstepping(wrong_panda())
    results = [th.simulate(panda(), law, lissajous(), 0.5, dt, q0=Q0) for dt in (1e-3, 1e-4)]
    check_lyapunov(law, results, 2e-2)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_lyapunov_function_of_mact(gamma: float) -> None:
    plant = elbow_with_bodies()
    law = MACT(plant.with_parameters(0.7 * plant.parameters), 20.0, 8.0, adaptation=2.0, gamma=gamma)
    results = [th.simulate(plant, law, elbow_motion(), 1.0, dt, q0=[0.6, 0.9]) for dt in (1e-3, 1e-4)]
    check_lyapunov(law, results, 2e-2)


def test_lyapunov_function_of_act() -> None:
    """The filter lags, so that V may rise a little; over the run it falls to a part of what it was."""
    plant = elbow_with_bodies()
    law = ACT(plant.with_parameters(0.85 * plant.parameters), 25.0, 10.0, adaptation=3.0)
    lyapunov = th.simulate(plant, law, elbow_motion(), 5.0, q0=elbow_motion()(0.0).q).lyapunov(law)
    assert not lyapunov.analytic
    assert np.diff(lyapunov.V).max() < 1e-3 * lyapunov.V[0]
    assert lyapunov.V[-1] < 0.9 * lyapunov.V[0]


def test_lyapunov_derivative_by_differences() -> None:
    law = slotine_li(wrong_elbow())
    for options in (
        {"payloads": Payload(1.0, time=0.05)},
        {"sensors": Sensors(position_noise=1e-4)},
        {"external": ExternalTorque([1.0, 0.0])},
    ):
        result = th.simulate(elbow(), law, elbow_motion(), 0.1, **options)  # type: ignore[arg-type]
        assert result.lyapunov(law).analytic == ("payloads" in options)  # the pieces between arrivals are as by the law
    bounded = slotine_li(wrong_elbow(), adaptation=GradientAdaptation(2.0, lower=-100.0, upper=100.0))
    assert not th.simulate(elbow(), bounded, elbow_motion(), 0.1).lyapunov(bounded).analytic
    known_wrongly = slotine_li(wrong_elbow(), adaptation=GradientAdaptation(2.0, unknown="link1"))
    assert not th.simulate(elbow(), known_wrongly, elbow_motion(), 0.1).lyapunov(known_wrongly).analytic


def test_lyapunov_function_of_ones_own() -> None:
    class Mine:
        def lyapunov(self, robot: th.Robot, result: th.SimulationResult) -> np.ndarray:
            return robot.kinetic_energy(result.q, result.dq)

    result = run()
    lyapunov = result.lyapunov(Mine())
    assert not lyapunov.analytic
    np.testing.assert_array_equal(lyapunov.V, elbow().kinetic_energy(result.q, result.dq))
    np.testing.assert_allclose(lyapunov.V_dot, np.gradient(lyapunov.V, result.t))
    with pytest.raises(ThunderError, match=r"controller must have a method lyapunov\(robot, result\), got object$"):
        result.lyapunov(object())


def test_what_needs_a_robot_says_so() -> None:
    class Plant:
        n = 2

        def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return tau

    result = th.simulate(Plant(), slotine_li(), elbow_motion(), 0.01)
    assert result.plant is None
    for method in (result.energy, result.condition_numbers):
        with pytest.raises(ThunderError, match=f"{method.__name__} needs a run whose plant is a Robot"):
            method()


def test_the_plant_goes_into_files_and_comes_back(tmp_path: Path) -> None:
    plant = friction()
    payloads = [Payload(0.2, com=[0.1, 0, 0], time=0.3), Payload(0.5, inertia=np.diag([1, 2, 3]), link=1)]
    result = run(plant=plant, payloads=payloads, actuators=Actuators(lag=0.1), sensors=Sensors(seed=3))
    assert result.plant is plant
    result.save(tmp_path / "run.npz")
    again = th.SimulationResult.load(tmp_path / "run.npz")
    assert again == result == pickle.loads(pickle.dumps(result))
    assert again.plant is not None
    assert again.plant.description == plant.description
    assert [payload.time for payload in again.payloads] == [0.0, 0.3]
    assert not again.held
    np.testing.assert_array_equal(again.energy().residual, result.energy().residual)
    assert again != dataclasses.replace(result, payloads=())


def test_files_of_before_are_read(tmp_path: Path) -> None:
    old = {name: getattr(run(), name) for name in ("t", "q", "dq", "tau", "status")}
    np.savez(tmp_path / "old.npz", **old)
    assert th.SimulationResult.load(tmp_path / "old.npz").plant is None
    np.savez(tmp_path / "bad.npz", **old, payloads=np.zeros((2, 3)))
    with pytest.raises(FileFormatError, match=re.escape("payloads must have shape (n, 15), got (2, 3)")):
        th.SimulationResult.load(tmp_path / "bad.npz")
    np.savez(tmp_path / "robot.npz", **old, robot=np.array("format: nothing"))
    with pytest.raises(FileFormatError):
        th.SimulationResult.load(tmp_path / "robot.npz")


def test_comparison() -> None:
    both = th.compare_results({"slow": run(), "light": run(plant=wrong_elbow())})
    table = both.table()
    errors = [f"{name} [rad]" for name in ("rmse", "steady_state_error", "peak")]
    assert table.header == ("", *errors, "rise_time", "torque_rms", "status")
    assert table.to_dict()["slow"]["rmse [rad]"] == both["slow"].rmse()
    assert table.to_dict()["light"]["status"] == "ok"
    text = str(table).splitlines()
    assert text[1].startswith("slow ")
    assert len({len(line) for line in text}) == 1
    markdown = both.table({"a | b": lambda r: r.torque_peak()}).to_markdown().splitlines()
    assert [cell.strip() for cell in markdown[0].split(" | ")] == ["|", "a \\| b |"]
    assert set(markdown[1]) == set("| -:")
    assert len(markdown[2].split("|")[2].split()) == 2
    assert list(both) == ["slow", "light"]
    bare = th.compare_results({"bare": run(log=())}).table(["rmse", "torque_rms"])
    assert np.isnan(bare.to_dict()["bare"]["rmse"])


def test_plots() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    result, law = run(plant=friction(), log=()), slotine_li()
    axes = th.compare_results({"a": run(), "b": result}).plot()
    assert [text.get_text() for text in axes["error"].get_legend().get_texts()] == ["a", "b (error not logged)"]
    with pytest.raises(ValueError, match=re.escape("axes must be named error, tau, got 'torque'")):
        th.compare_results({"a": run()}).plot(axes={"torque": axes["tau"]})
    drawn = result.energy().plot()
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == [
        "kinetic", "potential, change", "work", "dissipated", "residual",
    ]  # fmt: skip
    assert run().lyapunov(law).plot().get_ylabel() == "$V$"
    pyplot.close("all")


def test_refusals() -> None:
    assert_refused(
        ({}, "...at least one SimulationResult, got none"),
        ({"a": 1}, "...got 'a': int"),
        call=lambda **results: th.compare_results(results),
    )
    assert_refused(
        (["rmes"], "metrics must be among rmse, ..."),
        ("rmse", "metrics must be a sequence of names, got the text 'rmse'"),
        (["settling_time"], "...or functions; got 'settling_time'"),
        call=lambda metrics: th.compare_results({"a": run()}).table(metrics),
    )
