"""Two small arms as URDF text, to be edited into right and wrong ones."""

import re
from pathlib import Path

from thunder_py.io import load_description
from thunder_py.model.description import RobotDescription

DATA = Path(__file__).parent / "data" / "urdf"
PENDULUM = (DATA / "pendulum.urdf").read_text()
WORKBENCH = (DATA / "workbench.urdf").read_text()
FINGERS = {"finger_slide": 0.03, "thumb_slide": 0.01}


def workbench(**options: object) -> RobotDescription:
    return load_description(DATA / "workbench.urdf", **{"tip_link": "tool", "fix_joints": FINGERS, **options})


def edited(old: str, new: str, text: str = PENDULUM) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def without(element: str, text: str = PENDULUM) -> str:
    shorter = re.sub(rf"<{element}>.*?</{element}>|<{element} [^>]*/>", "", text, count=1, flags=re.DOTALL)
    assert shorter != text
    return shorter
