import pytest

from tests.dynamics.quantities import INSTRUCTION_SETS

from .process import run

PROGRAM = """
import threading
from tests.dynamics.quantities import INPUTS, kernel, size
from tests.dynamics.random_chains import random_robot
from thunder_py import _core

_core.use_instruction_set({instruction_set!r})
robot = random_robot(3, 64, joints="RP", friction=True, rotors=True, armature=True, elastic=True)
rng = np.random.default_rng(0)
short = random_robot(3, 16, joints="RP", friction=True, rotors=True, armature=True)  # frames do not depend on n
heavy = {{"coriolis_blocks"}}  # a construction for study: 1.3 GB of output for one state
done = []

def work():
    for name, vectors in INPUTS.items():
        if name in heavy:
            continue
        arm = short if name == "forward_dynamics_second_derivatives" else robot
        for batch in ((), (2,)):
            kernel(arm, name)(*(rng.uniform(-1, 1, (*batch, size(arm, v))) for v in vectors))
        done.append(name)

threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(len(done) == len(INPUTS.keys() - heavy))
"""


@pytest.mark.release
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_every_quantity_of_64_joints(instruction_set: str) -> None:
    assert run(PROGRAM.format(instruction_set=instruction_set)) == "True"
