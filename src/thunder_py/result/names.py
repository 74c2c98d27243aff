"""What runs log besides the controller's signals."""

ALWAYS_LOGGED = ("t", "q", "dq", "tau", "status")
#: of the motors of elastic joints, where there are any
MOTORS_LOGGED = ("x", "dx")
#: signals of sensors, actuators and what pushes the arm, where there are any
PARTS_LOGGED = ("q_measured", "dq_measured", "tau_commanded", "external")
