"""Signatures of the published packages that the adapters use, as read from their documentation strings.

`PUBLISHED` was read from pylibfranka 0.21.3, panda-python 1.1.1, franky-control 2.0.0 and ur_rtde 1.6.5 by `python
tests/realtime/signatures.py MODULE`; a test compares it with installed packages. An argument is its name, with ``=`` if
it has a default; ``/`` follows arguments without a name. An attribute that is no function is "attribute".
"""

import importlib
import inspect
import json
import sys

FRANKA_STATE = {f"RobotState.{name}": "attribute" for name in ("dq", "q", "time")}
#: not in franky, where an object without errors is true
FRANKA_ERRORS = {"RobotState.current_errors": "attribute", "Errors.__bool__": "self"}
FRANKA_TIME = {"Duration.to_sec": "self"}
PUBLISHED = {
    "pylibfranka": {
        "Robot.__init__": "self, robot_ip_address, realtime_config=",
        "Robot.load_model": "self",
        "Robot.set_load": "self, arg0, arg1, arg2, /",
        "Robot.start_torque_control": "self",
        "Robot.stop": "self",
        "ActiveControlBase.readOnce": "self",
        "ActiveControlBase.writeOnce": "self, arg0, /",
        "Model.gravity": "self, arg0, /",
        "Torques.__init__": "self, arg0, /",
        "RealtimeConfig.kEnforce": "attribute",
        "RealtimeConfig.kIgnore": "attribute",
        **FRANKA_STATE,
        **FRANKA_TIME,
        **FRANKA_ERRORS,
    },
    "panda_py": {
        "Panda.__init__": "self, hostname, name=, realtime_config=",
        "Panda.create_context": "self, frequency, max_runtime=, max_iter=",
        "Panda.get_model": "self",
        "Panda.get_robot": "self",
        "Panda.get_state": "self",
        "Panda.is_moving": "self",
        "Panda.refresh_state": "self",
        "Panda.start_controller": "self, controller",
        "Panda.stop_controller": "self",
        "PandaContext.__enter__": "self",
        "PandaContext.ok": "self",
        "controllers.AppliedTorque.__init__": "self, damping=, filter_coeff=",
        "controllers.AppliedTorque.set_control": "self, torque",
        "libfranka.Robot.set_load": "self, load_mass, F_x_Cload, load_inertia",
        "libfranka.Model.gravity": "self, robot_state, gravity_earth=",
        "libfranka.RealtimeConfig.kEnforce": "attribute",
        "libfranka.RealtimeConfig.kIgnore": "attribute",
        **{f"libfranka.{name}": text for name, text in {**FRANKA_STATE, **FRANKA_TIME, **FRANKA_ERRORS}.items()},
    },
    "franky": {
        "Robot.__init__": "self, fci_hostname, relative_dynamics_factor=, default_torque_threshold=, "
        "default_force_threshold=, controller_mode=, realtime_config=, kalman_q_process_var=, kalman_dq_process_var=, "
        "kalman_ddq_process_var=, kalman_control_process_var=, kalman_q_obs_var=, kalman_dq_obs_var=, "
        "kalman_q_d_obs_var=, kalman_dq_d_obs_var=, kalman_ddq_d_obs_var=, kalman_control_adaptation_rate=",
        "Robot.has_errors": "attribute",
        "Robot.is_in_control": "attribute",
        "Robot.join_motion": "self, timeout=",
        "Robot.model": "attribute",
        "Robot.move": "self, motion, asynchronous=, limit_rate=, cutoff_frequency=",
        "Robot.poll_motion": "self",
        "Robot.set_load": "self, load_mass, F_x_Cload, load_inertia",
        "Robot.state": "attribute",
        "Robot.stop": "self",
        "Model.gravity": "self, state",
        "SimpleTorqueMotion.__init__": "self, initial_torque=, signal_timeout=, compensate_coriolis=, max_delta_tau=, "
        "lower_joint_limits=, upper_joint_limits=, joint_limit_activation_distance=, joint_limit_stiffness=, "
        "joint_limit_damping=, joint_limit_max_torque=, friction=",
        "SimpleTorqueMotion.set_torque": "self, torque",
        "TorqueStopMotion.__init__": "self, damping=, ramp_duration=, velocity_epsilon=, max_duration=, "
        "compensate_coriolis=, max_delta_tau=",
        "RealtimeConfig.Enforce": "attribute",
        "RealtimeConfig.Ignore": "attribute",
        **FRANKA_STATE,
        **FRANKA_TIME,
    },
    "rtde_control": {
        "RTDEControlInterface.__init__": "self, hostname, frequency=, flags=, ur_cap_port=, rt_priority=",
        "RTDEControlInterface.directTorque": "self, torque, viscous_scale=, coulomb_scale=",
        "RTDEControlInterface.isConnected": "self",
        "RTDEControlInterface.isProgramRunning": "self",
        "RTDEControlInterface.setPayload": "self, arg0, arg1, /",
        "RTDEControlInterface.setWatchdog": "self, min_frequency=",
        "RTDEControlInterface.stopScript": "self",
    },
    "rtde_receive": {
        "RTDEReceiveInterface.__init__": "self, hostname, frequency=, variables=, verbose=, "
        "use_upper_range_registers=, rt_priority=",
        "RTDEReceiveInterface.getActualQ": "self",
        "RTDEReceiveInterface.getActualQd": "self",
        "RTDEReceiveInterface.getTimestamp": "self",
        "RTDEReceiveInterface.initPeriod": "self",
        "RTDEReceiveInterface.isConnected": "self",
        "RTDEReceiveInterface.isEmergencyStopped": "self",
        "RTDEReceiveInterface.isProtectiveStopped": "self",
        "RTDEReceiveInterface.waitPeriod": "self, arg0, /",
    },
}


def arguments(line: str) -> str:
    """The arguments of a signature in a documentation string of pybind11."""
    text, depth, quoted, parts = line[line.index("(") + 1 :], 0, False, [""]
    for character in text:
        if character == '"':
            quoted = not quoted
        if not quoted:
            depth += (character in "([{<") - (character in ")]}>")
            if depth < 0:
                break
            if character == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += character
    names = [part.partition(":")[0].strip() + "=" * (" = " in part) for part in parts if part.strip()]
    return ", ".join(names + ["/"] * any(name.startswith("arg0") for name in names))


def written(function: object) -> str:
    """The arguments of a function in Python, in the same form."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name + "=" * (p.default is not p.empty) for p in parameters]
    only = any(p.kind is p.POSITIONAL_ONLY and p.name != "self" for p in parameters)
    return ", ".join(names + ["/"] * only)


def found(thing: object) -> set[str]:
    """Every form in which a member of a package may be called."""
    if inspect.isfunction(thing):
        return {written(thing)}
    if not callable(thing):
        return {"attribute"}
    lines = (thing.__doc__ or "").splitlines()
    return {arguments(line) for line in lines if "(self" in line} or {"self"}  # those of slots are not written


def member(module: object, name: str) -> object:
    """A member of a module by its dotted name."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


if __name__ == "__main__":
    package = importlib.import_module(sys.argv[1])
    if sys.argv[1] == "panda_py":
        importlib.import_module("panda_py.controllers")
    print(json.dumps({name: sorted(found(member(package, name))) for name in PUBLISHED[sys.argv[1]]}))
