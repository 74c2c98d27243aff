"""Ground-truth vectors: 50-digit Lagrange-Uicker results that share no code with the package."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import thunder_py as th

FOLDER = Path(__file__).parent / "data" / "truth"
CHAINS = ("rr_elbow_distal", "rr_elbow_craig", "scara_with_motors", "panda", "random6_standard")


def load(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text())


def robot_of(name: str) -> th.Robot:
    """The chain of a file, built from its numbers (not from the bundled robot)."""
    data = load(name)
    dh = [[row["a"], row["alpha"], row["d"], row["theta"]] for row in data["dh"]]
    rotors = [
        th.model.description.Rotor(joint=i + 1, inertia=motor["I_m"], gear_ratio=motor["k_r"])
        for i, motor in enumerate(data.get("motors") or [])
    ]
    robot = th.Robot.from_dh(
        dh,
        convention=data["convention"],
        joint_types="".join(row["type"] for row in data["dh"]),
        gravity=data["gravity"],
        base=data["T_base"],
        tool=data["T_ee"],
        rotors=tuple(rotors),
    )
    pi = np.concatenate([np.ravel(data["pi"]), [rotor.inertia for rotor in rotors]])
    return robot.with_parameters(pi)
