"""Make the package control_msgs for the tests of the action, from tests/ros/control_msgs.

No package index of this project has it: neither Debian for ROS 1 nor PyPI for ROS 2. The definitions are those parts of
the published package that the nodes use, in the notation of ROS 2.

python tools/control_msgs.py 1 FOLDER   Python modules of ROS 1 into FOLDER, by genpy
python tools/control_msgs.py 2 FOLDER   modules of ROS 2 into FOLDER, by rosidl and a C++ compiler
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

NAME = "control_msgs"
SOURCE = Path(__file__).parents[1] / "tests/ros" / NAME
#: from the notation and the names of ROS 2 to those of ROS 1
ROS1_WORDS = {
    "std_msgs/Header": "Header",
    "builtin_interfaces/Duration": "duration",
    "JointTrajectoryPoint reference": "JointTrajectoryPoint desired",
    "JointTrajectoryPoint feedback": "JointTrajectoryPoint actual",
    "trajectory_msgs/JointTrajectoryPoint output\n": "",
}
#: packages that the definitions refer to, directly or as parts of an action
USED = ("trajectory_msgs", "std_msgs", "builtin_interfaces", "action_msgs", "unique_identifier_msgs", "service_msgs")
PARTS = ("rosidl_generator_c", "rosidl_generator_py", "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c")
SUPPORT = ("rosidl_runtime_c", "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c", "rmw", "rcutils", "fastcdr")


def ros1_messages() -> dict[str, str]:
    """Return the definitions of all messages, those of the parts of the action included."""
    texts = {path.stem: path.read_text() for path in SOURCE.glob("msg/*.msg")}
    for path in SOURCE.glob("action/*.action"):
        name, stamped = path.stem, "Header header\nactionlib_msgs/GoalStatus status\n"
        for part, text in zip(("Goal", "Result", "Feedback"), path.read_text().split("---\n"), strict=True):
            head = "Header header\nactionlib_msgs/GoalID goal_id\n" if part == "Goal" else stamped
            texts[f"{name}{part}"] = text
            texts[f"{name}Action{part}"] = f"{head}{NAME}/{name}{part} {part.lower()}\n"
        parts = (f"{NAME}/{name}Action{part} action_{part.lower()}\n" for part in ("Goal", "Result", "Feedback"))
        texts[f"{name}Action"] = "".join(parts)
    for old, new in ROS1_WORDS.items():
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    return texts


def make_ros1(folder: Path) -> None:
    """Write the modules of ROS 1."""
    with tempfile.TemporaryDirectory() as definitions:
        for name, text in ros1_messages().items():
            Path(definitions, f"{name}.msg").write_text(text)
        files = sorted(str(path) for path in Path(definitions).iterdir())
        paths = [f"{name}:/usr/share/{name}/msg" for name in ("std_msgs", "trajectory_msgs", "actionlib_msgs")]
        options = [f"-I{path}" for path in (*paths, f"{NAME}:{definitions}")]
        target = folder / NAME / "msg"
        target.mkdir(parents=True, exist_ok=True)
        (folder / NAME / "__init__.py").touch()
        command = [sys.executable, "/usr/lib/genpy/genmsg_py.py"]
        subprocess.run([*command, *files, *options, "-p", NAME, "-o", str(target)], check=True)
        modules = [f"from ._{name} import *\n" for name in sorted(ros1_messages())]
        (target / "__init__.py").write_text("".join(modules))


def make_ros2(folder: Path) -> None:
    """Write and compile the modules of ROS 2."""
    from rosidl_cli.command.translate.api import translate
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport

    target = folder / NAME
    shares = [str(Path(sys.prefix, "share", name)) for name in USED]
    files = [f"{SOURCE}:{p.relative_to(SOURCE)}" for p in sorted((*SOURCE.glob("msg/*"), *SOURCE.glob("action/*")))]
    idls = translate(
        package_name=NAME, interface_files=files, include_paths=shares, output_format="idl", output_path=target
    )
    for generator in (
        GenerateC("c"),
        GenerateFastRTPSCTypesupport("fastrtps_c"),
        GenerateCTypesupport("c", typesupport_implementations=["rosidl_typesupport_fastrtps_c"]),
        GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]),
    ):
        generator.generate(NAME, idls, shares, target)
    compile_ros2(target)


def compile_ros2(target: Path) -> None:
    """Compile the generated sources as one module of Python."""
    numpy = importlib.util.find_spec("numpy")
    assert numpy is not None
    assert numpy.origin is not None
    headers = Path(sys.prefix, "include")
    arrays = Path(numpy.origin).parent / "_core/include"
    folders = (target.parent, sysconfig.get_path("include"), arrays, headers, *headers.iterdir())
    flags = ["-O0", "-w", "-fPIC", *(f"-I{path}" for path in folders)]
    sources = sorted((*target.rglob("*.c"), *target.rglob("*.cpp")))
    compilers = [
        subprocess.Popen(["g++" if path.suffix == ".cpp" else "gcc", *flags, "-c", path, "-o", f"{path}.o"])
        for path in sources
    ]
    if any([compiler.wait() for compiler in compilers]):
        sys.exit("the messages did not compile")
    names = [f"{package}__{part}" for package in USED for part in PARTS] + list(SUPPORT)
    libraries = [f"-L{Path(sys.prefix, 'lib')}", *(f"-l{name}" for name in names)]
    module = target / f"{NAME}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run(["g++", "-shared", *(f"{path}.o" for path in sources), *libraries, "-o", module], check=True)


if __name__ == "__main__":
    {"1": make_ros1, "2": make_ros2}[sys.argv[1]](Path(sys.argv[2]).resolve())
