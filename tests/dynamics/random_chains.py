"""Random serial arms from a seed: R and P joints, every way to place them, bodies that can exist, drives."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import thunder_py as th
from thunder_py.model.description import Elastic, Friction, RobotDescription, Rotor, describe_dh

Array = npt.NDArray[np.float64]

KINDS = ("modified", "standard", "placements")

#: of the property tests: enough examples to meet every kind of chain, few enough for the suite
few = settings(max_examples=25, deadline=None)


class Case(NamedTuple):
    """An arm and a state of it."""

    robot: th.Robot
    q: Array
    dq: Array
    ddq: Array
    dq_r: Array
    ddq_r: Array


def unit_vector(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_pose(rng: np.random.Generator, reach: float = 0.4) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    T[:3, 3] = rng.uniform(-reach, reach, 3)
    return T


def random_body(rng: np.random.Generator) -> Array:
    """REG parameters of eight point masses: a body that can exist."""
    masses = rng.uniform(0.1, 0.8, 8)
    points = rng.normal(scale=0.15, size=(8, 3)) + rng.uniform(-0.2, 0.2, 3)
    moments = (masses[:, None] * points).T @ points
    inertia = np.trace(moments) * np.eye(3) - moments
    return np.array([masses.sum(), *(masses @ points), *inertia[np.triu_indices(3)]])


def random_friction(rng: np.random.Generator, n: int) -> Friction:
    terms = tuple(term for term in Friction.TERMS if rng.random() < 0.5) or ("viscous", "coulomb")
    return Friction(terms=terms, coefficients=rng.uniform(0.0, 2.0, (n, len(terms))), delta=rng.uniform(0.01, 0.1))


def random_rotors(rng: np.random.Generator, n: int) -> tuple[Rotor, ...]:
    """Rotors of some joints, each on any link, about any axis or the joint's own."""
    joints = np.flatnonzero(rng.random(n) < 0.7) + 1
    return tuple(
        Rotor(
            joint=int(joint),
            inertia=rng.uniform(1e-3, 1e-2),
            gear_ratio=rng.uniform(-20.0, 20.0),
            carrier=[None, int(rng.integers(0, n + 1))][rng.integers(2)],
            axis=[None, unit_vector(rng)][rng.integers(2)],
        )
        for joint in (joints if len(joints) else [n])
    )


def random_elastic(rng: np.random.Generator, n: int) -> tuple[Elastic, ...]:
    """Drives of some joints, with up to three coefficients each."""
    joints = np.flatnonzero(rng.random(n) < 0.6) + 1
    orders = {"K": rng.integers(1, 4), "D": rng.integers(0, 4), "Dm": rng.integers(0, 4)}
    return tuple(
        Elastic(
            joint=int(joint),
            Mm=rng.uniform(0.1, 1.0),
            **{key: tuple(rng.uniform(0.1, 10.0, order)) for key, order in orders.items()},
        )
        for joint in (joints if len(joints) else [n])
    )


def random_robot(
    seed: int,
    n: int,
    kind: str = "placements",
    *,
    joints: str = "RP",
    friction: bool = False,
    rotors: bool = False,
    armature: bool = False,
    elastic: bool = False,
) -> th.Robot:
    """Make a random arm.

    Parameters
    ----------
    seed : int
        Of everything that is drawn.
    n : int
        Number of joints.
    kind : {"modified", "standard", "placements"}
        DH convention, or any placements, axes and offsets.
    joints : str
        Letters to draw joint types from.
    friction, rotors, armature, elastic : bool
        Whether to have them.
    """
    rng = np.random.default_rng(seed)
    common = {
        "name": "random",
        "joint_types": "".join(rng.choice(list(joints), n)),
        "gravity": rng.normal(scale=6.0, size=3),
        "base": random_pose(rng),
        "tool": random_pose(rng),
        "friction": random_friction(rng, n) if friction else None,
        "rotors": random_rotors(rng, n) if rotors else (),
        "armature": rng.uniform(0.01, 1.0, n) if armature else None,
        "frames": {"camera": (int(rng.integers(0, n + 1)), random_pose(rng))},
    }
    common["elastic"] = random_elastic(np.random.default_rng([seed, 2]), n) if elastic else ()
    bodies = np.array([random_body(rng) for _ in range(n)])
    if kind == "placements":
        description = RobotDescription(
            placements=np.array([random_pose(rng) for _ in range(n)]),
            axes=np.array([unit_vector(rng) for _ in range(n)]),
            offsets=np.array([random_pose(rng, reach=0.2) for _ in range(n)]),
            inertial=bodies,
            **common,
        )
    else:
        right_angles = rng.integers(-1, 3, n) * np.pi / 2
        alpha = np.where(rng.random(n) < 0.5, right_angles, rng.uniform(-np.pi, np.pi, n))
        a, d, theta = rng.uniform(-0.5, 0.5, (3, n))
        dh = np.column_stack([a, alpha, d, theta])
        description = describe_dh(dh, convention=kind, **common).replace(inertial=bodies)
    return th.Robot(description)


def random_case(seed: int, n: int, kind: str, **options: bool | str) -> Case:
    """Make a random arm and state."""
    rng = np.random.default_rng([seed, 1])
    q = rng.uniform(-np.pi, np.pi, n)
    return Case(random_robot(seed, n, kind, **options), q, *rng.normal(size=(4, n)))


def cases(max_joints: int = 8, **options: bool | str) -> st.SearchStrategy[Case]:
    """Arms with states; drives come and go unless `options` fix them."""
    drives = {name: st.booleans() for name in ("friction", "rotors", "armature") if name not in options}
    return st.builds(
        random_case,
        seed=st.integers(0, 2**32 - 1),
        n=st.integers(1, max_joints),
        kind=st.sampled_from(KINDS),
        **drives,
        **{name: st.just(value) for name, value in options.items()},
    )
