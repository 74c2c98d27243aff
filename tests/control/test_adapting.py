import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import GradientAdaptation, NaturalAdaptation
from thunder_py.reference import JointReference

from .arms import elbow, elbow_motion, panda

RNG = np.random.default_rng(7)


def wrong_elbow() -> th.Robot:
    return elbow().with_parameters(0.7 * elbow().parameters)


def run(law: th.SlotineLi, start: float, steps: int) -> None:
    """Steps with an error that does not go away."""
    motion = elbow_motion()
    for k in range(steps):
        r = motion(start + 1e-3 * k)
        law.step(start + 1e-3 * k, r.q - 0.1, r.dq - 0.2, JointReference(*r))


def test_all_unknown_parameters_move_at_first() -> None:
    law = th.SlotineLi(wrong_elbow(), 5.0, 8.0, adaptation=GradientAdaptation(1.0, unknown="link2"))
    np.testing.assert_array_equal(law.adapting, law.unknown.mask)
    assert not th.SlotineLi(wrong_elbow(), 5.0, 8.0, adaptation=None).adapting.any()


@pytest.mark.parametrize("kind", ["diagonal", "full", "natural"])
def test_what_stands_still_keeps_its_estimate_and_the_rest_moves(kind: str) -> None:
    robot = wrong_elbow()
    A = RNG.normal(size=(20, 20))
    laws = {
        "diagonal": GradientAdaptation(2.0),
        "full": GradientAdaptation(A @ A.T + 20 * np.eye(20)),
        "natural": NaturalAdaptation(5.0),
    }
    law = th.SlotineLi(robot, 5.0, 8.0, adaptation=laws[kind])
    run(law, 0.0, 50)
    before = law.parameters
    first = robot.unknown("link1").mask
    law.adapting = first
    np.testing.assert_array_equal(law.adapting, first)
    run(law, 0.05, 50)
    after = law.parameters
    np.testing.assert_array_equal(after[~first], before[~first])
    assert (after[first] != before[first]).any()
    law.adapting = np.zeros(20, dtype=bool)
    run(law, 0.1, 50)
    np.testing.assert_array_equal(law.parameters, after)
    law.adapting = np.ones(20, dtype=bool)
    run(law, 0.15, 50)
    assert (law.parameters[~first] != after[~first]).any()
    law.adapting = first
    law.reset()
    np.testing.assert_array_equal(law.adapting, first)
    np.testing.assert_array_equal(law.parameters, robot.parameters)


def test_a_moving_part_follows_the_gradient_law_of_its_block() -> None:
    """With G = Gamma^-1 the moving entries move as under the gain (G_mm)^-1."""
    robot, A = wrong_elbow(), RNG.normal(size=(20, 20))
    Gamma = A @ A.T + 20 * np.eye(20)
    whole = th.SlotineLi(robot, 5.0, 8.0, adaptation=Gamma)
    moving = robot.unknown("link2").mask
    whole.adapting = moving
    block = np.linalg.inv(np.linalg.inv(Gamma)[np.ix_(moving, moving)])
    part = th.SlotineLi(robot, 5.0, 8.0, adaptation=GradientAdaptation(block, unknown="link2"))
    for law in (whole, part):
        run(law, 0.0, 100)
    np.testing.assert_allclose(whole.parameters, part.parameters, rtol=1e-9)


def test_what_cannot_move_is_refused_and_changes_nothing() -> None:
    law = th.SlotineLi(panda(), 5.0, 8.0, adaptation=NaturalAdaptation(5.0, unknown="link7"))
    kept = law.adapting
    mass = panda().unknown("link7.m").mask
    for mask, word in (
        (np.ones(70, dtype=bool), "link1.m, which is not an unknown parameter"),
        (mass, "all parameters of a link or none"),
        (np.ones(3, dtype=bool), "one entry for each of the 70"),
    ):
        with pytest.raises(ValueError, match=word):
            law.adapting = mask
        np.testing.assert_array_equal(law.adapting, kept)
    fixed = th.SlotineLi(panda(), 5.0, 8.0, adaptation=None)
    with pytest.raises(ValueError, match="this one has none"):
        fixed.adapting = np.ones(70, dtype=bool)
    fixed.adapting = np.zeros(70, dtype=bool)


@pytest.mark.parametrize("value", [0.0, -1.0, [1.0, 2.0]])
def test_a_message_names_the_argument_of_the_short_form(value: object) -> None:
    with pytest.raises(ValueError, match=r"^adaptation must "):
        th.SlotineLi(panda(), 5.0, 8.0, adaptation=value)


@pytest.mark.parametrize("rest", [0.0, -3.0])
def test_gains_of_other_parameters_are_positive(rest: float) -> None:
    robot = panda().replace(armature=[0.1] * 7)
    with pytest.raises(ValueError, match="rest must be positive"):
        th.control.link_gains(robot, [1.0] * 7, rest=rest)
