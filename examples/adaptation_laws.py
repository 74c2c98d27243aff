"""One controller, three adaptation laws: the estimates of a payload with noise on the sensors.

The gradient law tracks well and believes in a link that cannot exist; with a dead zone it stops where the noise begins;
the natural law only ever believes in bodies.
"""

import numpy as np

import thunder_py as th
from thunder_py.control import GradientAdaptation, NaturalAdaptation
from thunder_py.model.inertia import is_physical

robot = th.Robot.load("panda")
motion = th.reference.Sinusoid([0.3] * 7, np.linspace(0.1, 0.5, 7), center=[0, -0.3, 0, -2, 0, 1.8, 0.7])
hand = th.Payload(1.0, (0.05, 0.0, 0.05), inertia=np.diag([1e-3, 1e-3, 1e-3]))
sensors = th.Sensors(velocity_noise=0.01, seed=1)
truth = robot.parameters[60] + hand.mass

laws = {
    "gradient": GradientAdaptation(1.0, unknown="link7"),
    "gradient, dead zone": GradientAdaptation(1.0, unknown="link7", dead_zone=0.03),
    "natural": NaturalAdaptation(0.05, unknown="link7"),
}
for name, law in laws.items():
    controller = th.SlotineLi(robot, 5.0, [20] * 4 + [2] * 3, adaptation=law)
    run = th.simulate(robot, controller, motion, 20.0, payloads=[hand], sensors=sensors, log_every=10)
    bodies = is_physical(run.parameters[:, 60:70]).mean()
    print(
        f"{name:20} error {1e3 * run.steady_state_error():4.1f} mrad, "
        f"mass {run.parameters[-1, 60]:.2f} of {truth:.2f} kg, a body in {100 * bodies:3.0f} % of the run"
    )
