import numpy as np
import pytest

import thunder_py as th
from thunder_py.identification import identify
from thunder_py.mujoco import to_mjcf

mujoco = pytest.importorskip("mujoco")
sysid = pytest.importorskip("mujoco.sysid")


@pytest.mark.release
@pytest.mark.skipif(not hasattr(sysid, "optimize"), reason='pip install "mujoco[sysid]"')
def test_both_find_the_same_armature_and_damping():
    friction = th.robot.Friction(terms=("viscous",), coefficients=[[0.8], [0.5]])
    real = th.Robot.load("elbow").replace(friction=friction, armature=[0.3, 0.2])
    spec = mujoco.MjSpec.from_string(to_mjcf(real))
    for joint in real.joint_names:
        spec.add_sensor(name=f"{joint}_position", type=mujoco.mjtSensor.mjSENS_JOINTPOS, objname=joint,
                        objtype=mujoco.mjtObj.mjOBJ_JOINT)  # fmt: skip
    model = spec.compile()
    data, h = mujoco.MjData(model), model.opt.timestep
    t = np.arange(round(0.4 / h)) * h
    tau = real.gravity_vector([0.0, 0.0]) + [6.0, 3.0] * np.sin(2.0 * np.pi * np.outer(t, [1.1, 1.7]))
    start, q = sysid.create_initial_state(model, data.qpos, data.qvel), np.zeros((t.size, 2))
    for k in range(t.size):
        q[k], data.ctrl[:] = data.qpos, tau[k]
        mujoco.mj_step(model, data)

    guess = real.replace(
        friction=th.robot.Friction(terms=("viscous",), coefficients=[[0.8], [0.1]]), armature=[0.3, 0.05]
    )
    ours = identify(guess, t, q, tau=tau, unknown=["joint2.armature", "joint2.viscous"], cutoff=30.0)
    estimates = dict(zip(ours.unknown.names, ours.robot.parameters[ours.unknown.indices], strict=True))

    parameters = sysid.ParameterDict()
    for name in estimates:
        joint, kind = name.split(".")

        def modify(spec, parameter, joint=joint, kind=kind):
            value = parameter.value[0]
            if kind == "armature":
                spec.joint(joint).armature = value
            else:
                spec.joint(joint).damping = [value, 0.0, 0.0]

        parameters.add(sysid.Parameter(name, 0.5, 1e-3, 2.0, modifier=modify))
        parameters[name].value[:] = 0.1
    measured = sysid.TimeSeries.from_names(t + h, q, model)  # its rollouts give sensors the time of the next instant
    sequences = sysid.ModelSequences("arm", spec, "log", start, sysid.TimeSeries(t, tau), measured)
    found, _ = sysid.optimize(parameters, sysid.build_residual_fn(models_sequences=[sequences]), verbose=False)
    for name, value in estimates.items():
        assert found[name].value[0] == pytest.approx(value, rel=0.02)
