"""Write the Thunder 0.8 files of this folder, always the same: ``python tests/data/thunder/make.py``.

Arms of 3 to 30 joints whose inertial parameters are run-time arguments and whose other numbers are baked; links are
boxes along the line from joint to joint, lighter towards the tip, so that every body can exist. ``sea3.yaml`` beside
them, an arm with springs, was written by hand.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
JOINTS = (3, 5, 7, 9, 15, 30)
#: twists in quarter turns and lengths [m], repeated along the arm; no two parallel axes in a row for long
TWISTS = (0, -1, 1, 1, -1, 1, 0, -1)
A = (0.0, 0.0, 0.05, 0.12, -0.08, 0.0, 0.1)
D = (0.3, 0.0, 0.25, 0.0, 0.2)
THETA = (0.0, 0.0, 0.3, 0.0)
ANCHORS = {-1: "*PI_2_neg", 0: "0", 1: "*PI_2"}


def number(value: float) -> str:
    """Write six digits, always as YAML 1.1 reads a number."""
    return f"{value:.6g}"


def row(joint: int) -> str:
    a, d, theta = (values[joint % len(values)] for values in (A, D, THETA))
    return f"{number(a)}, {ANCHORS[TWISTS[joint % len(TWISTS)]]}, {number(d)}, {number(theta)}"


def body(joint: int, joints: int) -> dict[str, float]:
    """Mass, centre and tensor of a box with a small product of inertia, about its centre."""
    mass = 4.0 * (1.0 - 0.8 * joint / joints) + 0.1 * (joint % 3)
    x, y, z = 0.06 + 0.01 * (joint % 2), 0.07, 0.25 - 0.01 * (joint % 5)
    xx, yy, zz = (mass / 12.0 * (u * u + v * v) for u, v in ((y, z), (x, z), (x, y)))
    centre = (0.01 * (joint % 4) - 0.01, 0.005 * (joint % 3), 0.04 - 0.02 * (joint % 4))
    return {
        "mass": mass, "CoM_x": centre[0], "CoM_y": centre[1], "CoM_z": centre[2],
        "Ixx": xx, "Iyy": yy, "Izz": zz, "Ixy": 0.02 * zz, "Ixz": -0.03 * zz, "Iyz": 0.01 * zz,
    }  # fmt: skip


def link(joint: int, joints: int) -> list[str]:
    lines = [f"  link{joint + 1}:", "    inertial:", f"      symb: [{', '.join('1' * 10)}]"]
    lines += [f"      {key}: {number(value)}" for key, value in body(joint, joints).items()]
    friction = (0.8 / (1 + joint % 3), 0.05 * (1 + joint % 2))
    return [*lines, "    friction:", "      symb: [0, 0]", f"      Dl: [{', '.join(map(number, friction))}]"]


def arm(joints: int) -> str:
    """Text of a file."""
    lines = [
        f"# {joints} revolute joints, written by make.py",
        "version: 0.8",
        "PI_2: &PI_2 1.5707963267948966",
        "PI_2_neg: &PI_2_neg -1.5707963267948966",
        f"num_joints: {joints}",
        f"type_joints: [{', '.join('R' * joints)}]",
        "Dl_order: 2",
        "ELASTIC_MODEL: false",
        "kinematics:",
        f"  symb: [{', '.join('0' * 4 * joints)}]",
        f"  DH: [{(',' + chr(10) + ' ' * 7).join(row(joint) for joint in range(joints))}]",
        "gravity: {symb: [0, 0, 0], value: [0, 0, -9.81]}",
        "Base_to_L0: {symb: [0, 0, 0, 0, 0, 0], tr: [0, 0, 0], ypr: [0, 0, 0]}",
        "Ln_to_EE: {symb: [0, 0, 0, 0, 0, 0], tr: [0, 0, 0.1], ypr: [0, 0, 0]}",
        "dynamics:",
        *(line for joint in range(joints) for line in link(joint, joints)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for count in JOINTS:
        (FOLDER / f"arm{count}.yaml").write_text(arm(count))
