"""When to plan anew, and what the strategies choose (D4.2, eqs. 113 to 117)."""

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.manipulation.interception import (
    Belt,
    InterceptionOptions,
    TimeAugmentation,
    VariableStructure,
    arrival_time,
    misses_target,
    new_arrival,
)

BELT = Belt((0.5, 0.0, 0.25), (0.4, -0.3, 0.15), (0.6, 0.4, 0.35))
V = np.array([0.0, 0.26, 0.0])
P0 = np.array([0.5, -0.55, 0.25])
T_OA = 0.55 / 0.26


def test_arrival_is_an_absolute_time():
    for t in (0.0, 1.5):
        assert np.isclose(arrival_time(BELT, t, P0 + V * t, V), T_OA, rtol=1e-14)
    assert arrival_time(BELT, 0.0, P0, -V) == np.inf


def test_a_perfect_estimate_misses_by_the_printed_condition_only():
    """Errata D-26: (114) adds v t_OA to where the object is at t_k, as if no time had passed."""
    for t in np.linspace(0.0, 2.0, 9):
        assert not misses_target(BELT, t, P0 + V * t, V, BELT.reference, T_OA, threshold=1e-9)
    t = 1.5
    printed = np.abs(BELT.reference - (P0 + V * t + V * T_OA)).max()
    assert np.isclose(printed, 0.39)
    assert printed > InterceptionOptions().threshold


def test_misses_by_more_than_the_threshold():
    assert not misses_target(BELT, 1.0, P0 + V + [0.0099, 0, 0], V, BELT.reference, T_OA)
    assert misses_target(BELT, 1.0, P0 + V + [0.0101, 0, 0], V, BELT.reference, T_OA)


@pytest.mark.parametrize(
    ("late", "kept"), [(-0.031, False), (-0.029, True), (0.0, True), (0.079, True), (0.081, False)]
)
def test_variable_structure_keeps_the_time_inside_its_region(late, kept):
    """`late`: where the object will be at the planned time, past p_ref."""
    p = P0 + V + [0.0, late, 0.0]
    found = new_arrival(BELT, VariableStructure(0.03, 0.08), 1.0, p, V, T_OA, remaining=0.5, hand=BELT.reference)
    assert np.isclose(found, T_OA if kept else arrival_time(BELT, 1.0, p, V), rtol=1e-14)


def test_time_augmentation_is_eq_116():
    strategy = TimeAugmentation(alpha=0.7, p_o=0.03, lam=0.002, phi=0.2)
    p, hand = P0 + V + [0.01, 0.02, 0.0], np.array([0.5, -0.1, 0.4])
    found = new_arrival(BELT, strategy, 1.0, p, V, T_OA, remaining=0.6, hand=hand, frequency=14.0, old_frequency=11.0)
    expected = arrival_time(BELT, 1.0, p, V) + 0.7 * 0.6 * (0.03 + 0.002 * 3.0 + 0.2 * (p[1] - hand[1]))
    assert np.isclose(found, expected, rtol=1e-14)
    at_end = new_arrival(BELT, strategy, 1.0, p, V, T_OA, remaining=0.0, hand=hand)
    assert at_end == arrival_time(BELT, 1.0, p, V)


def test_directions_other_than_y():
    u = np.array([0.6, -0.8, 0.0])
    belt = Belt((0, 0, 0), (-1, -1, -1), (1, 1, 1), direction=u)
    assert np.isclose(arrival_time(belt, 2.0, -0.5 * u + [0.08, 0.06, 0.3], 0.2 * u), 2.0 + 0.5 / 0.2)
    assert np.allclose(belt.along([0.2 * u, -0.1 * u]), [0.2, -0.1])


def test_bad_options():
    assert_refused(
        (lambda: Belt((2.0, 0, 0), (0, 0, 0), (1, 1, 1)), "...reference..."),
        (lambda: Belt((0.5, 0.5, np.nan), (0, 0, 0), (1, 1, 1)), "...reference..."),
        (lambda: Belt((0.5, 0.5, 0.5), (0, 0, 0), (1, 1, 1), direction=(0, 2, 0)), "...direction..."),
        (lambda: VariableStructure(behind=-0.1), "...behind..."),
        (lambda: TimeAugmentation(alpha=-1.0), "...alpha..."),
        (lambda: TimeAugmentation(phi=np.nan), "...phi..."),
        (lambda: InterceptionOptions(strategy="fast"), "...strategy..."),
        (lambda: InterceptionOptions(threshold=0.0), "...threshold..."),
        (lambda: InterceptionOptions(continuity="jerk"), "...continuity..."),
        (lambda: InterceptionOptions(least_updates=1), "...least_updates..."),
        (lambda: InterceptionOptions(freeze_time=0.3), "...freeze_time..."),
        (lambda: InterceptionOptions(least_speed=0.7), "...least_speed..."),
        (lambda: InterceptionOptions(velocity_limit=np.inf), "...velocity_limit..."),
        (lambda: misses_target(BELT, 0.0, P0, V, P0, 1.0, threshold=-1.0), "...threshold..."),
    )
