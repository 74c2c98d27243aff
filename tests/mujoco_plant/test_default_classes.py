import mujoco
import numpy as np
import pytest

import thunder_py as th
from tests.mujoco_plant.arms import assert_equals_mujoco
from thunder_py.errors import FileFormatError
from thunder_py.io.mjcf import parse_mjcf

#: a tetrahedron
CORNERS = [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.2, 0.0, 0.02, 0.03, 0.3]
MESH = f'<asset><mesh name="plate" vertex="{" ".join(map(str, CORNERS))}"/></asset>'


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its warnings about deprecated settings to a file in the current folder."""
    monkeypatch.chdir(tmp_path)


def document(upper: str, lower: str, before: str = "", after: str = "", outer: str = "") -> str:
    return (
        f'<mujoco model="m">{before}<worldbody>{outer}<body name="a"><joint name="hip" axis="0 1 0"/>{upper}'
        f'<body name="b" pos="0.02 0 0.3"><joint name="knee" axis="1 0 0.2" pos="0 0.01 0"/>{lower}</body></body>'
        f"{'</body>' if outer else ''}</worldbody>{after}</mujoco>"
    )


def check(text: str) -> None:
    """Compare with MuJoCo's model of the whole text, meshes included."""
    robot = th.Robot(parse_mjcf(text, "b"))
    assert_equals_mujoco(robot, mujoco.MjModel.from_xml_string(text), "b")


BOX = '<geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0.1" euler="20 0 10"/>'
SOLID = '<inertial pos="0 0.02 0.1" mass="1.4" diaginertia="0.015 0.014 0.006"/>'
DRAWN = '<default><default class="drawn"><geom type="mesh" mesh="plate" {}/></default></default>'
READ = {
    "mass 0 from a class": document(BOX + '<geom class="drawn"/>', BOX, MESH + DRAWN.format('mass="0"')),
    "density 0 from a class": document(
        BOX + '<frame childclass="drawn"><geom/></frame>', BOX, MESH + DRAWN.format('density="0"')
    ),
    "outside of the groups": document(
        BOX + '<geom class="drawn"/>', BOX, '<compiler inertiagrouprange="0 1"/>' + MESH + DRAWN.format('group="2"')
    ),
    "a class that another one overrides": document(
        '<geom class="drawn" type="sphere" size="0.1" mass="2"/>', BOX, DRAWN.format("").replace('mesh="plate"', "")
    ),
    "a body with an inertia": document(SOLID + '<geom class="drawn"/>', SOLID, MESH + DRAWN.format("")),
    "the total mass": document(BOX, BOX, '<compiler settotalmass="7"/>', outer='<body><geom size="0.2"/>'),
    "a joint in a frame": document(
        f'<frame euler="10 0 0">{BOX}</frame>', BOX.replace("<geom", '<geom class="main" density="70"')
    ).replace('<joint name="hip" axis="0 1 0"/>', '<frame euler="0 20 0"><joint name="hip" axis="0 1 0"/></frame>'),
    "the last of several settings": document(
        SOLID + BOX, SOLID + BOX, '<compiler inertiafromgeom="true"/><compiler inertiafromgeom="auto"/>'
    ),
    "shapes in place of inertias": document(SOLID + BOX, SOLID + BOX, '<compiler inertiafromgeom="true"/>'),
    "ends and shells from classes": document(
        "<geom/>",
        '<geom fromto="0 0 0 0.3 0.1 0"/>',
        '<default><geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0.3" shellinertia="true"/></default>',
    ),
    "bounds of inertias": document(BOX, BOX, '<compiler boundmass="3" boundinertia="0.1" balanceinertia="true"/>'),
    "joints from classes": document(BOX, BOX, '<default><joint armature="0.3" damping="0.2" ref="20"/></default>'),
    "a mass from a class": document('<geom class="drawn"/>', BOX, MESH + DRAWN.format('mass="1.4" size="0.05"')),
    "a primitive fitted to a mesh": document(BOX, '<geom type="box" mesh="plate"/>', MESH),
    "a class above": document(
        '<frame childclass="c"><geom/></frame>',
        BOX,
        MESH + '<default><geom size="0.1" mesh="plate"/><default class="c"><geom type="mesh"/></default></default>',
    ),
    "the total mass with a mesh": document(
        BOX, BOX, '<compiler settotalmass="7"/>' + MESH, outer='<body><geom type="mesh" mesh="plate"/>'
    ),
    "a mesh below the second <worldbody>": document(
        BOX, '<geom type="mesh" mesh="plate"/>', MESH + '<worldbody><geom size="0.1"/></worldbody>'
    ),
    "in place of the inertia": document(
        SOLID + '<geom type="mesh" mesh="plate"/>', BOX, '<compiler inertiafromgeom="true"/>' + MESH
    ),
}


@pytest.mark.parametrize("case", READ)
def test_classes_and_settings(case):
    check(READ[case])


def test_bodies_of_missing_meshes_are_massless_on_the_arm_only():
    missing = '<asset><mesh name="plate" file="none.stl"/></asset>'
    drawn = '<geom type="mesh" mesh="plate"/>'
    with pytest.warns(th.errors.ThunderWarning, match="1 massless link.*none.stl.*without inertia.*'b'"):
        assert not parse_mjcf(document(BOX, drawn, missing), "b").inertial[1].any()
    with pytest.raises(FileFormatError, match="defines the inertia of its body by a mesh"):
        parse_mjcf(document(BOX, drawn, missing), "b", missing_inertia="error")
    beside = document(BOX, BOX, missing).replace(
        "</worldbody>", f'<body name="c"><joint name="lid"/>{drawn}</body></worldbody>'
    )
    assert parse_mjcf(beside, "b") == parse_mjcf(document(BOX, BOX), "b")


ON = '<joint joint="hip" coef="1"/>'


@pytest.mark.skipif(int(mujoco.__version__.split(".")[0]) < 4, reason="actuators have an armature since MuJoCo 4")
def test_armature_and_damping_of_actuators():
    default = "<default><motor armature='0.01' damping='0.02'/></default>"
    for actuators in (
        '<motor joint="hip" gear="50" armature="1e-3" damping="0.01"/>',
        '<muscle joint="knee" gear="5" lengthrange="0 1" armature="0.1"/><position joint="hip" kp="0" gear="3"/>',
        '<dcmotor jointinparent="knee" gear="7" motorconst="0.1 0.1" resistance="1"/>',
        '<pid joint="hip" kp="3"/><cylinder joint="hip" gear="2"/>',
    ):
        text = document(BOX, BOX, default, f"<actuator>{actuators}</actuator>")
        assert parse_mjcf(text).armature is not None
        check(text)
    tendon = f'<tendon><fixed name="t">{ON}</fixed></tendon><actuator><motor tendon="t" armature="0.1"/></actuator>'
    for after in (tendon, '<actuator><motor joint="hip" damping="1 2"/></actuator>'):
        with pytest.raises(FileFormatError, match="armature and damping of actuators are read as one number"):
            parse_mjcf(document(BOX, BOX, after=after))


def test_a_rotor_with_an_infinite_carrier_is_refused():
    """An infinite number in the note of a rotor is no number of a link."""
    tendon = f'<tendon><fixed name="r" armature="0.1">{ON}</fixed></tendon>'
    for note in ("1 50 inf", "inf 50 0", "1 50 0.5", "1 50 9"):
        text = document(BOX, BOX, after=tendon + f'<custom><numeric name="r" data="{note}"/></custom>')
        with pytest.raises(FileFormatError, match="inertia of tendons is read from files of this package only"):
            parse_mjcf(text)


SOLID_BOX = BOX.replace("<geom", '<geom mass="1.1" group="0"')


def _random_document(seed: int) -> str:
    """Return a file with nested classes, frames and shapes with random attributes at any level."""
    rng = np.random.default_rng(seed)
    names = ["main"]

    def attributes() -> str:
        kinds = ("box", "sphere", "capsule", "ellipsoid", "cylinder", "mesh")
        values = {
            "type": rng.choice(kinds, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.1]),
            "size": " ".join(f"{x:.3f}" for x in rng.uniform(0.05, 0.2, 3)),
            "mass": rng.choice([0.0, 1.3, 2.5]),
            "density": rng.choice([0.0, 300.0, 900.0]),
            "group": rng.integers(4),
            "mesh": "plate",
            "pos": "0.05 0.02 0.1",
        }
        odds = {"type": 0.4, "size": 0.5, "mesh": 0.1}
        return " ".join(f'{key}="{value}"' for key, value in values.items() if rng.random() < odds.get(key, 0.3))

    def section(depth: int) -> str:
        inside = [f"<geom {attributes()}/>"]
        if depth < 3:
            for _ in range(rng.integers(3)):
                names.append(f"c{len(names)}")
                inside.append(f'<default class="{names[-1]}">{section(depth + 1)}</default>')
        return "".join(rng.permutation(inside))

    def shapes() -> str:
        lines = [f"<geom {_of_class(rng, names)} {attributes()}/>" for _ in range(rng.integers(1, 4))]
        return SOLID_BOX + "".join(
            f'<frame childclass="{rng.choice(names)}">{line}</frame>' if rng.random() < 0.4 else line for line in lines
        )

    settings = rng.choice(["", '<compiler inertiagrouprange="0 2"/>', '<compiler boundmass="2"/>'])
    return document(shapes(), shapes(), f"{settings}<default>{section(0)}</default>{MESH}")


def _of_class(rng: np.random.Generator, names: list[str]) -> str:
    return f'class="{rng.choice(names)}"' if rng.random() < 0.6 else ""


@pytest.mark.release
def test_random_classes():
    read = 0
    for seed in range(150):
        text = _random_document(seed)
        try:
            model = mujoco.MjModel.from_xml_string(text)
        except ValueError:
            continue
        assert_equals_mujoco(th.Robot(parse_mjcf(text)), model, "b")
        read += 1
    assert read > 30
