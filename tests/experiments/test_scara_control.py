import numpy as np
import pytest
from scipy.signal import cont2discrete

from thunder_py.papers.scara.control import CLAIMS, K_D, adaptive, run_control, sampled_error_dynamics, spectral_radius
from thunder_py.papers.scara.control import scara as arm

from .quick import quick


@pytest.fixture(scope="module")
def experiment():
    return quick("scara")


@pytest.fixture(scope="module")
def control(experiment):
    return experiment.control


@pytest.mark.release
@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.theory])
def test_what_is_left_along_z_carries_the_payload(control, name):
    assert control.runs[name].left() == pytest.approx(CLAIMS[name].theory, rel=0.02)


@pytest.mark.release
def test_steady_errors_along_z_are_ordered_as_the_report_says(control):
    """Robust keeps one, adaptation ends below 1e-5 after 5 s, the integral is on its way to zero."""
    left = {name: run.left() for name, run in control.runs.items()}
    assert left["robust"] > 1e-3
    assert left["robust, Q for z"] < 0.2 * left["robust"]
    assert control.runs["adaptive"].worst(5.0)[1] < 1e-5
    assert left["adaptive"] < 1e-3 * left["not adaptive"]
    assert left["integral, 15 times"] < left["integral"] < 0.05 * left["no integral"]


@pytest.mark.release
def test_printed_integral_is_slow(control):
    """S-7: it decays as exp(-t K_I / K_P), 5 s along z; that with 15 times the gain is done after 5 s."""
    printed, faster = (control.runs[name] for name in ("integral", "integral, 15 times"))
    t, z = printed.result.t, np.abs(printed.error[:, 2])
    at = [z[np.searchsorted(t, time)] for time in (7.5, 12.5)]
    assert at[1] / at[0] == pytest.approx(np.exp(-1.0), rel=0.05)
    assert faster.worst(5.0)[1] < 0.2 * printed.worst(5.0)[1]


@pytest.mark.release
def test_printed_unit_vector_needs_a_Q(control):
    """S-8: with Q = 1 the layer is never left, and w along z is a hundred-thousandth of K_P e."""
    runs = [control.runs[name] for name in ("robust", "computed torque")]
    assert np.linalg.norm(runs[0].result.signals["z"], axis=1).max() < 0.1 * 0.2
    assert runs[0].left() == pytest.approx(runs[1].left(), rel=1e-3)


def test_the_mass_with_the_payload_is_found_in_about_5_s():
    control = run_control(("robust", "adaptive"))
    mass = control.estimated_mass()
    assert mass[0] == 10.0
    assert mass[-1] == pytest.approx(15.0, abs=0.02)
    assert 2.0 < control.time_of_mass(0.01) < 6.0
    assert control.runs["adaptive"].worst(5.0)[1] < 1e-5
    assert control.runs["adaptive"].left() < 1e-3 < control.runs["robust"].left()


@pytest.mark.release
def test_printed_lambda_diverges_at_1_ms_and_below_2000_not(experiment):
    """S-6: spectral radius 9."""
    runs = experiment.sampling.runs
    assert spectral_radius(10000.0) == pytest.approx(9.0, abs=0.05)
    for value, result in runs.items():
        assert (spectral_radius(value) > 1.0) == (value > 2000.0)
        assert (result.status[-1] == 3) == (value > 2000.0)
    assert runs[10000.0].t[-1] < 0.01
    assert spectral_radius(10000.0, dt=1e-4) < 1.0


@pytest.mark.release
def test_geared_rotors_cannot_adapt_at_these_gains(experiment):
    """The columns of rotors hold squares of gear ratios, 2500 for joint 3."""
    assert experiment.sampling.with_rotors.status[-1] == 3
    assert experiment.sampling.with_rotors.t[-1] < 0.1


def test_sampled_error_dynamics_is_a_held_double_integrator():
    damping = K_D[2] / 22.5
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    held = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), 1e-3)
    feedback = np.array([[800.0 * damping, 800.0 + damping]])
    np.testing.assert_allclose(sampled_error_dynamics(800.0, damping), held[0] - held[1] @ feedback, atol=1e-15)


def test_third_gain_of_k_pi_belongs_to_the_mass_of_link_3():
    law = adaptive(arm())
    gains = dict(zip(law.unknown.names, np.asarray(law.adaptation.Gamma), strict=True))
    assert len(gains) == 12
    assert {name for name, gain in gains.items() if gain == 0.01} == {"link3.m"}
