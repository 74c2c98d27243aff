"""A payload from logs with it: by a trusted robot, or by logs without it where the robot is wrong."""

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.dynamics.random_chains import random_robot
from tests.identification.test_identify_sensors import TIMES, motion
from tests.refusals import assert_refused
from thunder_py.identification import Log, identify
from thunder_py.model import inertia

NOISE = 0.05


def box(link=None):
    about_com = [[0.012, 0.002, 0.001], [0.002, 0.015, -0.001], [0.001, -0.001, 0.01]]
    return th.Payload(1.5, com=(0.03, -0.02, 0.1), inertia=about_com, link=link)


def log_of(robot, seed, noise=NOISE, every=1):
    q, dq, ddq = (x[::every] for x in motion(robot.n, seed))
    tau = robot.inverse_dynamics(q, dq, ddq) + noise * np.random.default_rng(seed).normal(size=q.shape)
    return Log(t=TIMES[::every], q=q, dq=dq, ddq=ddq, tau=tau)


@pytest.mark.parametrize("robot", [panda(), random_robot(2, 4)], ids=["panda", "chain"])
@pytest.mark.parametrize("consistent", [False, True])
def test_a_trusted_robot(robot, consistent):
    for link in (None, robot.n - 1):
        log = log_of(box(link).added_to(robot), 3, noise=1e-7)
        found = identify(robot, loaded=log, link=link, consistent=consistent)
        shown = np.isfinite(found.extra_deviations)
        values = inertia.dyn_from_reg(box(link).parameters)
        np.testing.assert_allclose(found.extra[shown], values[shown], atol=1e-5)
        assert shown[:4].all()
    assert found.link == robot.n - 1


def test_logs_without_the_payload_replace_trust_in_the_robot():
    robot = panda()
    factors = np.exp(np.random.default_rng(1).normal(scale=0.3, size=(7, 1)))
    wrong = robot.replace(inertial=robot.inertial * factors)
    loaded, unloaded = [log_of(box().added_to(robot), seed, every=4) for seed in (3, 4)], log_of(robot, 5, every=4)
    found = identify(wrong, unloaded, loaded=loaded, consistent="payload")
    error = np.abs(found.extra - [1.5, 0.03, -0.02, 0.1, *np.asarray(box().inertia)[np.triu_indices(3)]])
    assert (error < 4.0 * found.extra_deviations + 1e-3).all()
    assert error[0] < 0.02
    trusting = identify(wrong, loaded=loaded, consistent=True)
    assert abs(trusting.extra[0] - 1.5) > 0.1
    assert found.payload.link == 7


def test_intervals_hold_the_truth_as_often_as_they_say():
    robot, truth = elbow(), th.Payload(1.5, com=(0.2, -0.05, 0.0), inertia=np.diag([0.01, 0.01, 0.02]))
    mine = [4, 5, 6, 7, 8]  # moments that this arm does not excite
    held = []
    for seed in range(30):
        found = identify(robot, loaded=log_of(truth.added_to(robot), seed, every=10))
        low, high = found.intervals(0.9).T
        values = inertia.dyn_from_reg(truth.parameters)
        held.append((low < values) & (values < high))
    share = np.mean(held, axis=0)
    assert np.isinf(found.extra_deviations[mine]).all()
    assert (share[[0, 1, 2, 9]] > 0.8).all()
    assert (share[[0, 1, 2, 9]] < 1.0).any()


def test_noise_does_not_make_a_body_that_cannot_exist():
    robot, rod = panda(), th.Payload(0.3, com=(0.0, 0.0, 0.1), inertia=np.diag([1e-3, 1e-3, 1e-6]))
    logs = [log_of(rod.added_to(robot), seed, every=10) for seed in range(4)]
    plain, consistent = ([identify(robot, loaded=log, consistent=kind) for log in logs] for kind in (False, True))
    assert not all(inertia.is_physical(found.payload_parameters) for found in plain)
    assert all(inertia.is_physical(found.payload_parameters) for found in consistent)
    assert all(abs(found.payload.mass - 0.3) < 0.02 for found in consistent)


def test_positions_that_are_filtered_and_elastic_joints():
    """Filtered positions, and motors in between; the noise of the encoder does not lighten the payload."""
    robot, truth = elbow(), th.Payload(1.0, com=(0.2, 0.0, 0.0))
    law, goal = th.PassivityBased(robot, 4.0, [2.0, 1.0]), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    for arm in (robot, robot.replace(elastic=(th.robot.Elastic(joint=2, K=(300.0,), D=(1.0,), Dm=(0.2,), Mm=0.1),))):
        run = th.simulate(truth.added_to(arm), law, goal, 5.0)
        log = Log(t=run.t[:-1], q=run.q[:-1], tau=run.tau[:-1], x=run.x[:-1] if arm.e else None)
        found = identify(arm, loaded=log, cutoff=20.0, hold=1e-3, consistent=True)
        assert found.payload.mass == pytest.approx(1.0, abs=0.01)
        assert found.payload.com[0] == pytest.approx(0.2, abs=0.01)


def test_bad_payloads_are_refused():
    lighter = elbow().with_parameters(0.5 * elbow().parameters)

    def given(**options):
        log = log_of(lighter, 0) if not options else log_of(box().added_to(elbow()), 0)
        return identify(elbow(), loaded=log, **{"consistent": True, **options})

    assert_refused(
        (lambda: given(link=3), "payload link (or its name) must be a whole number from 1 to 2, got 3"),
        (lambda: given(regularization=0.0), "regularization must be positive, got 0"),
        (lambda: given(weights=[1.0, -1.0]), "weights must be positive..."),
        (
            lambda: given(),
            "payload_prior must be given, because the logs must show a positive mass of the payload, and ...",
        ),
    )
