"""Write a robot as a C++ header: python write_robot.py ROBOT FILE."""

import sys
from pathlib import Path

import thunder_py as th

if __name__ == "__main__":
    path = Path(sys.argv[2])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(th.model_header(th.Robot.load(sys.argv[1])))
