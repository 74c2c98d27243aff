"""D4.2, section 3.3: the order of its controllers, and why."""

from __future__ import annotations

import numpy as np
import pytest

from thunder_py.experiments import d42_cartesian, d42_estimation, d42_joint


@pytest.fixture(scope="module")
def joint() -> d42_joint.D42Joint:
    return d42_joint.run_d42_joint(seeds=2, duration=20.0, etas=(1.0, 10.0))


def test_adaptation_is_far_below_computed_torque(joint: d42_joint.D42Joint) -> None:
    for name in ("AIRC", "MACT"):
        assert (joint.rmse(name, 1.0) < 0.5 * joint.rmse("CT", 1.0)).all()


def test_fast_act_suffers_from_the_conditioning_of_its_mass_matrix(joint: d42_joint.D42Joint) -> None:
    assert (joint.rmse("ACT", 1.0) > 2.0 * joint.rmse("CT", 1.0)).all()
    assert joint.condition("ACT", 1.0)[1].max() > 3.0 * joint.condition("MACT", 1.0)[1].max()
    assert (joint.rmse("ACT", 10.0) < joint.rmse("CT", 10.0)).all()


def test_equivalent_gains_of_airc_move(joint: d42_joint.D42Joint) -> None:
    """Eq. 60: with them in the computed torque of eq. 53 the torque is AIRC's."""
    _, stiffness, damping = joint.equivalent_gains(1.0)
    assert np.ptp(stiffness[:, 1]) > 0.5
    assert np.ptp(damping[:, 0]) > 0.05


def test_tables_show_both(joint: d42_joint.D42Joint) -> None:
    lines = joint.table().splitlines()
    assert [line.split("|")[1].strip() for line in lines[4:]] == list(d42_joint.TABLE_7)
    assert all(f"{printed:.3g}" in line for line, printed in zip(lines[4:], d42_joint.TABLE_7.values(), strict=True))


def test_cartesian_order_and_size() -> None:
    found = d42_cartesian.run_d42_cartesian(seeds=1, duration=20.0)
    for plant, table in (("simulation", d42_cartesian.TABLE_8), ("hand", d42_cartesian.TABLE_9)):
        for curve in table:
            ours = {name: float(found.rmse(plant, curve, name)[0]) for name in table[curve]}  # type: ignore[arg-type]
            assert max(ours["AIRC"], ours["MACT"]) < 0.5 * ours["CT"], (plant, curve)
    for curve, row in d42_cartesian.TABLE_9.items():
        for name, printed in row.items():
            assert 0.5 < float(found.rmse("hand", curve, name)[0]) / printed < 2.0, (curve, name)


def test_the_hand_is_found() -> None:
    found = d42_estimation.run_d42_estimation(60.0)
    first, last = found.distances(0), found.distances(-1)
    assert last["mass"] < 0.1 * first["mass"]
    assert last["first moments"] < 0.4 * first["first moments"]
