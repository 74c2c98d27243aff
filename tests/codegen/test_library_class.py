"""The generated class over Eigen: what it returns, its parameters and files, its refusals, the article's controller."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import yaml

import thunder_py as th
from thunder_py.codegen import generate
from thunder_py.model import inertia

from .class_driver import build, members, shown, vector
from .libraries import STRICT, eigen_include, run
from .reference import expected, pose_values, random_state, with_groups

pytestmark = [
    pytest.mark.release,  # Eigen takes seconds to compile
    pytest.mark.skipif(eigen_include() is None, reason="Eigen is not installed"),
]

ROOT = Path(__file__).parent.parent.parent
SETTERS = {"dq_r": "dqr", "ddq_r": "ddqr"}


def _set_state(robot: th.Robot, state: dict) -> str:
    """Statements that set everything the class has."""
    lines = []
    for key, value in state.items():
        if key == "w" and robot.description.dh is None:
            continue
        if np.ndim(value) == 0:
            lines.append(f"  robot.set_{key}({float(value)!r});")
        elif np.size(value):
            lines.append(f"  robot.set_{SETTERS.get(key, key)}({vector(value)});")
    return "\n".join(lines)


def _show(names: list[str], robot: str = "robot", prefix: str = "") -> str:
    return "\n".join(f'  show("{prefix}{name}", {robot}.{name}());' for name in names)


def _custom(model):
    """Functions of a user: an own symbol, several results, a scalar."""
    stiffness = model.symbol("stiffness", (2, 3))
    model.add_function("spring", stiffness @ model.jacobian()[:3, 0] + model.q[:2], description="An own argument")
    model.add_function("both", {"first": model.mass_matrix(), "second": model.gravity_vector()})
    model.add_function("energy", model.kinetic_energy() + model.potential_energy())
    return model.functions.values()


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """A spring-driven arm whose file has masks for single entries: its class, gone through once."""
    robot = th.Robot.load(ROOT / "tests/data/thunder/sea3.yaml").replace(reference='a "quoted"\\name é ??/')
    folder = generate(robot, tmp_path_factory.mktemp("class"), functions=_custom(robot.symbolic()))
    results, parameters, setters = members(folder, "sea3")
    state = random_state(robot, 3)
    rng = np.random.default_rng(3)
    groups = robot.symbolic().parameters.values()
    moved = {g.argument: g.values * rng.uniform(0.8, 1.2, g.values.size) for g in groups if g.mask.any()}
    body = f"""
  Robot robot;
  {_show(parameters, prefix="default.")}
  Eigen::internal::set_is_malloc_allowed(false);
{_set_state(robot, state)}
  robot.set_stiffness((Eigen::Matrix<double, 2, 3>() << 1, 2, 3, 4, 5, 6).finished());
{_show(results)}
  show("get_T_0(2)", robot.get_T_0(2)), show("get_J(2)", robot.get_J(2));
{"".join(f"  robot.set_{key}({vector(value)});" for key, value in moved.items())}
{_show(results, prefix="moved.")}
{_show(parameters, prefix="moved.")}
  Eigen::internal::set_is_malloc_allowed(true);
  const std::string folder = argv[1];
  robot.save_par(folder + "/all.yaml");
  robot.save_par_REG(folder + "/reg.yaml");
  robot.save_par_DYN(folder + "/dyn.yaml");
  Robot other;
  other.load_conf(folder + "/all.yaml");
{_show(parameters, "other", "loaded.")}
  Robot third;
  third.load_conf("{folder}/sea3_conf.yaml");
{_show(parameters, "third", "conf.")}
  return 0;
"""
    program = build(folder, "sea3", body)
    output = run([program, folder.parent])
    return robot, folder, state, moved, shown(output), setters


def test_getters_return_what_the_robot_does(partial):
    robot, folder, state, _, values, _ = partial
    for getter in members(folder, "sea3")[0]:
        name = getter.removeprefix("get_")
        if name in ("spring", "both", "energy"):
            continue
        right = np.ravel(expected(robot, name, state))
        np.testing.assert_allclose(
            values[getter], right, rtol=0, atol=1e-12 * max(1, np.abs(right).max()), err_msg=name
        )
    np.testing.assert_array_equal(values["get_T_0(2)"], values["get_T_0_2"])
    np.testing.assert_array_equal(values["get_J(2)"], values["get_J_2"])


def test_custom_functions_have_getters(partial):
    robot, _, state, _, values, _ = partial
    q, dq = state["q"], state["dq"]
    stiffness = np.array([[1.0, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(values["get_spring"], stiffness @ robot.jacobian(q)[:3, 0] + q[:2], rtol=1e-13)
    np.testing.assert_allclose(values["get_both.0"], robot.mass_matrix(q).ravel(), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(values["get_both.1"], robot.gravity_vector(q), rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(
        values["get_energy"], robot.kinetic_energy(q, dq) + robot.potential_energy(q), rtol=1e-13
    )


def test_setters_move_run_time_entries_and_no_others(partial):
    robot, _, state, moved, values, _ = partial
    model = robot.symbolic()
    names = {"par_DYN": "inertial_as_DYN", "par_REG": "inertial"}
    changed = {}
    for group in model.parameters.values():
        right = np.where(group.mask, moved.get(group.argument, group.values), group.values)
        np.testing.assert_array_equal(values[f"default.get_{group.argument}"], group.values)
        np.testing.assert_array_equal(values[f"moved.get_{group.argument}"], right)
        if group.mask.any() and not group.name.startswith("elastic"):
            changed[names.get(group.argument, group.name)] = right
    new = with_groups(robot, changed)
    for name in ("M", "C", "G", "J_ee", "T_0_ee", "dl", "inverse_dynamics"):
        right = np.ravel(expected(new, name, state))
        np.testing.assert_allclose(values[f"moved.get_{name}"], right, atol=1e-11 * np.abs(right).max(), err_msg=name)


def test_only_run_time_groups_have_setters(partial):
    robot, _, _, _, _, setters = partial
    groups = [g.argument for g in robot.symbolic().parameters.values() if g.mask.any()]
    both = {"set_par_REG", "set_par_DYN"}
    assert {*setters} | both == {f"set_{argument}" for argument in groups} | both
    assert both <= {*setters}


def test_parameter_files_read_back_exactly(partial):
    robot, folder, _, _, values, _ = partial
    again = th.Robot.load(folder.parent / "all.yaml")
    assert (again.name, again.description.reference) == ("sea3", robot.description.reference)
    np.testing.assert_allclose(again.inertial, inertia.reg_from_dyn(values["moved.get_par_DYN"].reshape(-1, 10)))
    np.testing.assert_array_equal(again.elastic_parameters["K"], values["moved.get_par_K"])
    names = [key.removeprefix("loaded.") for key in values if key.startswith("loaded.")]
    assert names
    for name in names:
        np.testing.assert_array_equal(values[f"loaded.{name}"], values[f"moved.{name}"], err_msg=name)
        np.testing.assert_array_equal(values[f"conf.{name}"], values[f"default.{name}"], err_msg=name)
    # and any reader of YAML takes them
    saved = yaml.safe_load((folder.parent / "all.yaml").read_text())
    for key, numbers in saved.items():
        if key.startswith("par_"):
            np.testing.assert_array_equal(np.array(numbers, dtype=float), values[f"moved.get_{key}"], err_msg=key)
    links = [yaml.safe_load((folder.parent / f"{form}.yaml").read_text())["dynamics"] for form in ("reg", "dyn")]
    reg, dyn = (np.array([list(link["inertial"].values()) for link in file.values()]) for file in links)
    np.testing.assert_allclose(inertia.dyn_from_reg(reg), dyn, rtol=1e-12, atol=1e-12)


def test_rounding_of_baked_numbers_is_no_change(tmp_path):
    """The robot keeps a pose as a matrix: a roll of 0.1 stands in the file as 0.09999999999999999."""
    folder = generate(th.Robot.load(ROOT / "tests/data/thunder/sea3.yaml"), tmp_path, select="M")
    conf = folder / "sea3_conf.yaml"
    text = conf.read_text()
    assert "0.09999999999999999" in text
    (tmp_path / "short.yaml").write_text(text.replace("0.09999999999999999", "0.1"))
    (tmp_path / "other.yaml").write_text(text.replace("0.09999999999999999", "0.1000001"))
    body = """
  Robot robot;
  const auto before = robot.get_par_world2L0();
  refused("short", [&] { robot.load_conf(argv[1]); });
  refused("other", [&] { robot.load_conf(argv[2]); });
  std::printf("unchanged %d\\n", before == robot.get_par_world2L0());
  const auto reg = robot.get_par_REG();
  robot.set_par_REG(2.0 * reg);
  refused("thunder", [&] { robot.load_conf(argv[3]); });
  std::printf("%g\\n", (robot.get_par_REG() - reg).cwiseAbs().maxCoeff());
  return 0;
"""
    files = [tmp_path / "short.yaml", tmp_path / "other.yaml", ROOT / "tests/data/thunder/sea3.yaml"]
    output = run([build(folder, "sea3", body), *files])
    short, other, unchanged, thunder, difference = output.splitlines()
    assert thunder == "thunder accepted"
    assert float(difference) < 1e-15
    assert short == "short accepted"
    assert other.startswith("other runtime_error")
    assert unchanged == "unchanged 1"


GOOD = (
    "robot: elbow\npar_DHtable: [{dh}]\npar_REG: [{reg}]\npar_gravity: [{g}]\npar_world2L0: [{b}]\npar_Ln2EE: [{t}]\n"
)
BAD_FILES = {
    "missing key": ("robot: elbow\n", "par_DHtable: is missing"),
    "other robot": ("robot: panda\n", ":1: robot: must be elbow"),
    "unknown key": ("{good}par_masses: [1]\n", ":7: par_masses: is an unknown key"),
    "twice": ("{good}robot: elbow\n", ":7: robot: is given twice"),
    "no number": ("{two}", ":4: par_gravity: 'two' is not a finite number"),
    "nan": ("{nan}", ":4: par_gravity: 'nan' is not a finite number"),
    "too large": ("{large}", ":4: par_gravity: '1e999' is not a finite number"),
    "not closed": ("{good}extra: [1, 2\n", ":7: extra: the list is not closed"),
    "after the list": ("{good}extra: [1] 2\n", ":7: extra: unexpected text after the list"),
    "no colon": ("{good}nonsense\n", ":7: nonsense: expected 'key: value'"),
    "empty": ("{empty}", ":4: par_gravity: must be a list of numbers"),
    "version 1.0": ("{link}pipeline: {{loaders: [kin_loader]}}\n", ":1: pipeline: has no dh_loader: Robot.load reads"),
    "something else": ("{link}key: 1\n", ":1: robot: is missing"),
    "a link short": ("{link}dynamics:\n{first}", ":1: dynamics: must hold 2 links, got 1"),
    "a mass short": (
        "{link}dynamics:\n{first}  link2: {{inertial: {{mass: 1}}}}\n",
        ":3: dynamics/link2/inertial/CoM_x: is missing",
    ),
    "short": ("{short}", ":3: par_REG: must hold 20 numbers, got 19"),
    "no list": ("{word}", ":3: par_REG: must be a list of numbers"),
    "baked": ("{baked}", ":4: par_gravity: entry 1 is a constant of this library; to change it, generate the library"),
}


_DYN = ("mass", "CoM_x", "CoM_y", "CoM_z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def _bad_files(robot: th.Robot, folder: Path) -> list[Path]:
    conf = {g.argument: list(map(float, g.values)) for g in robot.symbolic().parameters.values()}

    def text(**changes) -> str:
        return "robot: elbow\n" + "".join(f"{key}: {value}\n" for key, value in {**conf, **changes}.items())

    kinds = {
        "good": text(), "short": text(par_REG=conf["par_REG"][:-1]), "word": text(par_REG="many"),
        "baked": text(par_gravity=[0.0, -9.0, 0.0]), "empty": text(par_gravity=""), "link": "",
        "first": f"  link1: {{inertial: {{{', '.join(f'{key}: 1' for key in _DYN)}}}}}\n",
    }  # fmt: skip
    kinds |= {
        key: text(par_gravity=f"[0, {word}, 0]") for key, word in (("two", "two"), ("nan", "nan"), ("large", "1e999"))
    }
    paths = []
    for k, (content, _) in enumerate(BAD_FILES.values()):
        paths.append(folder / f"bad{k}.yaml")
        paths[-1].write_text(content.format(**kinds))
    return paths


def test_refusals(tmp_path):
    robot = th.Robot.load("elbow")
    folder = generate(robot, tmp_path, select="G,J_i,Yr")
    paths = _bad_files(robot, tmp_path)
    body = """
  Robot robot;
  robot.set_par_REG(2.0 * robot.get_par_REG());
  const auto before = robot.get_par_REG();
  refused("size", [&] { robot.set_q(Eigen::VectorXd::Zero(3)); });
  refused("row", [&] { robot.set_q(Eigen::RowVector2d::Zero()); });
  refused("parameters", [&] { robot.set_par_REG(Eigen::VectorXd::Zero(19)); });
  refused("frame", [&] { robot.get_J(3); });
  refused("nothing", [&] { robot.load_conf("/nowhere/at all.yaml"); });
  refused("folder", [&] { robot.save_par("/nowhere/at all.yaml"); });
  for (int k = 2; k < argc; ++k) refused("file", [&] { robot.load_conf(argv[k]); });
  std::printf("unchanged %d\\n", before == robot.get_par_REG());
  robot.load_par_REG(argv[1]);
  std::printf("flat %d\\n", before == robot.get_par_REG());
  Eigen::VectorXd massless = before;
  massless[0] = 0.0;
  robot.set_par_REG(massless);
  refused("massless", [&] { robot.get_par_DYN(); });
  return 0;
"""
    flat = tmp_path / "flat.yaml"  # as versions before wrote it
    flat.write_text(f"robot: elbow\npar_REG: {(2.0 * robot.inertial).ravel().tolist()}\n")
    lines = run([build(folder, "elbow", body), flat, *paths]).splitlines()
    starts = [
        "size invalid_argument thunder_elbow::set_q needs 2 x 1 numbers, got 3 x 1", "row invalid_argument",
        "parameters invalid_argument", "frame out_of_range",
        "nothing runtime_error /nowhere/at all.yaml: cannot be read",
        "folder runtime_error /nowhere/at all.yaml: cannot be written",
    ]  # fmt: skip
    assert [line for line, start in zip(lines, starts, strict=False) if not line.startswith(start)] == []
    files = lines[len(starts) : -3]
    assert len(files) == len(BAD_FILES)
    for line, path, (what, (_, message)) in zip(files, paths, BAD_FILES.items(), strict=True):
        assert line.startswith(f"file runtime_error {path}"), what
        assert message in line, what
    assert lines[-3:-1] == ["unchanged 1", "flat 1"]
    assert lines[-1].startswith("massless runtime_error link 1 has a first moment but no mass")


NEW = """\
pipeline: {loaders: [dh_loader, dyn_loader, soft_loader], builders: [kin_builder], generators: [robot_generator]}
PI_2: &PI_2 1.5707963267948966
dh_loader:
  joints_type: [R_SEA, P, R_SEA]
  DH: {link_names: body, symb: SYMB, value: DH}
  Base_to_L0: {xyz: [1, 2, 3], rpy: [0.4, -0.5, 0.6]}
  Ln_to_EE: {name: hand, symb: [1, 1, 1, 1, 1, 1], xyzrpy: [0, 0, 0.2, *PI_2, 0.7, 0.3]}
dyn_loader:
  Dl_order: 2
  gravity: {value: [0, 1, -9]}
  dynamics:
    body0: {friction: {symb: [1, 1], Dl: [0.4, 0.05, 9]}, inertial: {mass: 9, CoM: [0, 0, 0], I: [0, 0, 0, 0, 0, 0]}}
    body1: {inertial: {symb: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], mass: 3, CoM: [0.1, 0.2, 0], I: [1, 0.1, 0, 1.5, 0.3, 2]}}
    body3:
      friction: {Dl: [8, 8]}
      inertial: {symb: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], mass: 2, CoM_x: 0.1, CoM_y: 0, CoM_z: 0, I: [1, 0, 0, 1, 0, 1]}
    body2: {friction: {symb: [1, 0], Dl: [0.3, 0.02]}}
    hand: {inertial: {symb: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0], mass: 1, CoM: [0, 0, 0.1], I: [0.1, 0, 0, 0.1, 0, 0.1]}}
soft_loader:
  K_order: 1
  D_order: 0
  Dm_order: 1
  joints:
    body2: {K: [20], D: [], Dm: [0.2], Mm: 0.6, K_symb: [1]}
    body0: {K: [10], D: [], Dm: [0.1], Mm: 0.5, K_symb: [1], Dm_symb: [1]}
"""


@pytest.mark.parametrize("thunder", [False, True])
def test_files_of_thunder_1_0_are_read(thunder, tmp_path):
    """As `Robot.load` reads them: bodies and friction by nodes, a body on the end effector, turns about moving axes."""
    dh = [[0, 0, 0.3, 0], [0.1, np.pi / 2, 0.2, 0], [0.25, -np.pi / 2, 0.1, 0.4]]
    path = tmp_path / "new.yaml"
    path.write_text(NEW.replace("SYMB", str([1] * 12)).replace("DH}", f"{np.ravel(dh).tolist()}}}"))
    robot = th.Robot.load(path)
    d = robot.description
    masks = {"base": (1,) * 6, "gravity": (1,) * 3, "inertial": ((1,) * 10,) * 3, "friction": ((1, 0, 1),) * 3}
    terms = ("viscous", "coulomb", "quadratic")
    friction = dataclasses.replace(d.friction, terms=terms, coefficients=np.tile([0.0, 0.3, 0.0], (3, 1)))
    other = robot.replace(
        base=np.eye(4), tool=np.eye(4), inertial=robot.inertial[::-1], friction=friction, masks={**d.masks, **masks},
        elastic=[dataclasses.replace(drive, K=(1.0,)) for drive in d.elastic],
    )  # fmt: skip
    folder = generate(other, tmp_path, name="arm", thunder=thunder, select="M,T_0_ee,k,dl")
    keys = ["DHtable", "gravity", "world2L0", "Ln2EE", "DYN", "Dl", "K", "Mm"]
    body = "  Robot robot;\n  robot.load_conf(argv[1]);\n" + _show([f"get_par_{key}" for key in keys])
    files = [tmp_path / f"arm_par_{form}.yaml" for form in ("REG", "DYN")]
    for k, file in enumerate(files):
        robot.replace(inertial=(k + 2) * d.inertial).save(file, thunder="1.0")
        body += f"  robot.load_par_REG(argv[{k + 2}]);\n" + _show(["get_par_REG"], prefix=f"{k + 2}.")
    values = shown(run([build(folder, "arm", body + "  return 0;\n"), path, *files]))
    for k in (2, 3):
        np.testing.assert_allclose(values[f"{k}.get_par_REG"], k * d.inertial.ravel(), rtol=1e-12, atol=1e-12)
    right = {"DHtable": d.dh, "gravity": d.gravity, "world2L0": pose_values(d.base), "Ln2EE": pose_values(d.tool)}
    right |= {"DYN": inertia.dyn_from_reg(d.inertial), "Dl": d.friction.coefficients}
    if not thunder:  # the constant of Coulomb friction, which Thunder does not have
        right["Dl"] = np.insert(d.friction.coefficients, 1, 0.3, axis=1)
    right |= {key: robot.elastic_parameters[key] for key in ("K", "Mm")}
    for key, numbers in right.items():
        np.testing.assert_allclose(values[f"get_par_{key}"], np.ravel(numbers), rtol=1e-12, atol=1e-12, err_msg=key)


def test_article_controller_converges_and_the_printed_sign_does_not(tmp_path):
    """Appendix C with its signs put right (errata T-1, T-2, T-3); with the printed sign the error grows."""
    folder = generate(th.Robot.load("elbow"), tmp_path)
    example = ROOT / "examples/generated/appendix_c.cpp"
    printed = tmp_path / "printed.cpp"
    text = example.read_text()
    assert "pi + dt / Gamma *" in text
    printed.write_text(text.replace("pi + dt / Gamma *", "pi - dt / Gamma *"))
    library = tmp_path / "library.o"
    flags = ["g++", "-std=c++17", "-O1", *STRICT, f"-I{folder}", "-isystem", eigen_include()]
    run([*flags, "-r", folder / "thunder_elbow.cpp", folder / "elbow_gen.cpp", "-o", library])
    run([*flags, example, library, "-o", tmp_path / "right"])
    run([*flags, printed, library, "-o", tmp_path / "wrong"])
    assert "mrad in the last 2 s" in run([tmp_path / "right"])
    with pytest.raises(AssertionError):
        run([tmp_path / "wrong"])
