"""``thunder identify``: parameters of a robot from logs."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..checks import known_name
from ..errors import ThunderError
from .data_sets import DATA_SETS, take
from .robot_options import add_robot_options, load_robot
from .text import argument, check_target
from .worker_options import add_worker_options, chosen_workers, count

if TYPE_CHECKING:
    from ..identification import CrossValidation, Identification, LogFile, Prediction
    from ..robot import Payload, Robot

_Value = TypeVar("_Value")

HELP = "parameters of a robot from logs of its motion and torques"
DESCRIPTION = """\
Identify the parameters of a robot from logs of positions and torques: the parameters that torques determine, with
confidence intervals, the errors on logs that were held out, a report with figures, and the robot with the new numbers.
"""

EPILOG = """\
examples:
  thunder identify arm.yaml logs/*.csv --cutoff 20 --report report.html
  thunder identify arm.urdf logs/*.csv --cutoff 20 --consistent --output identified.urdf
  thunder identify panda tool.npz --cutoff 20 --unknown link7
  thunder identify ur5e logs/*.csv --cutoff 20 --friction coulomb
  thunder identify ur5e logs/*.csv --cutoff 20 --friction stribeck --sensors torque_delay,joint2.torque_gain
  thunder identify ur10e free.csv --loaded with_tool.csv --cutoff 10 --consistent-payload
  thunder identify ur10e free.csv --loaded with_2kg.csv --payload 2,0,0,0.05 --sensors torque_gain --cutoff 10
  thunder identify panda logs/*.parquet --cutoff 20 --folds 10 --jobs 2
  thunder identify arm.yaml fit/*.csv --held-out check/*.csv --cutoff 20 --robust
  thunder identify arm.yaml log.csv --cutoff 20 --unit deg --columns t=stamp q=a,b tau=i,j
  thunder identify --data panda-gaz --report report.html
  thunder identify --describe log.csv
  thunder identify arm.urdf --describe log.csv
  thunder identify arm.yaml log.csv --cutoff 20 --rate 125 --columns q=0:6,tau=12:18
  thunder identify arm.yaml log.csv --cutoff 20 --columns t=0,q=1:7,tau=13:19 --time-unit ms --gain 11,11,11,9,9,9

logs: .csv, .npz, .parquet, ROS bags, folders with a text table for each signal, and runs of SimulationResult.save. A
CSV file has a column of time, t [s], and for each joint its position and torque, q1, q2, ... [rad or m] and tau1, tau2,
... [N m or N]; others are described by options, which --describe proposes; docs/identification.md tells more. Logs of
any length are read piece by piece.

cutoff: accelerations come from filtered positions. Choose a few times the highest frequency of the motion, such as
5 to 20 Hz. hold: the control period, if the torque of a sampled controller was logged.

What to look at: a held-out error that is much larger than that of the fit means too many parameters, or a model that
lacks something, such as friction; parameters with standard deviations of 100 % need a more exciting motion
(thunder_py.identification.optimize_excitation). URDF and MJCF hold only bodies that exist: use --consistent.
"""


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _one_or_each(values: list[_Value]) -> _Value | list[_Value]:
    """Return one value alone."""
    return values[0] if len(values) == 1 else values


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _calibration(text: str) -> tuple[str, list[float]]:
    """Read ``torque_gain=1,1.1``."""
    name, _, numbers = text.partition("=")
    return name, _numbers(numbers)


_NUMBERS = argument(_numbers, "expected numbers, such as 11,11,9")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    robot = "name of a bundled robot, or path of a .yaml, .urdf, .xacro, .xml or .mjcf file"
    parser.add_argument("robot", nargs="?", help=robot)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="files or folders with logs")
    reading = parser.add_argument_group("logs")
    reading.add_argument(
        "--data",
        choices=tuple(DATA_SETS),
        metavar="NAME",
        help=f"public logs of a real arm, with its robot and options, downloaded and checked: {', '.join(DATA_SETS)}",
    )
    reading.add_argument(
        "--folder", type=Path, metavar="DIR", help="where files of --data are, whatever their names, or go"
    )
    reading.add_argument("--unit", choices=("rad", "deg"), default="rad", help="unit of angles whose columns name none")
    reading.add_argument(
        "--columns",
        nargs="+",
        default=[],
        type=argument(_columns, "expected SIGNAL=NAMES, such as q=a,b"),
        metavar="SIGNAL=NAMES",
        help="columns by names, such as t=stamp q=a,b tau=i,j, or by numbers from 0, such as t=0,q=1:7,tau=13:19; "
        "of a bag q=JOINTS, its names of the joints",
    )
    reading.add_argument(
        "--describe",
        nargs="+",
        metavar="LOG",
        help="print what logs hold and the command that reads them, and stop; with a robot, for its number of joints",
    )
    reading.add_argument("--time-unit", choices=("s", "ms", "us", "ns", "min"), default="s", help="default s")
    reading.add_argument(
        "--gain",
        type=argument(lambda text: _one_or_each(_numbers(text)), "expected numbers, such as 11,11,9"),
        metavar="NUMBERS",
        help="torque for each unit of the columns of tau, such as that of a current; one number, or one for each joint",
    )
    reading.add_argument(
        "--rate",
        type=float,
        metavar="HZ",
        help="rows per second of logs without a column of time; such a column is not read then",
    )
    reading.add_argument(
        "--correct",
        metavar="EQUATIONS",
        help="signals of joints that are reversed, exchanged, coupled or counted from another zero, such as "
        "'q3=q3-pi/2, tau4=tau5, tau5=tau4'",
    )
    reading.add_argument("--topic", metavar="NAME", help="topic of bags with several of sensor_msgs/JointState")
    fit = parser.add_argument_group("fit")
    fit.add_argument("--cutoff", type=float, metavar="HZ", help="cutoff frequency of the filters")
    fit.add_argument("--hold", type=float, default=0.0, metavar="S", help="time that a torque is held, default 0")
    fit.add_argument(
        "--unknown",
        type=_names,
        metavar="NAMES",
        help="parameters to identify, such as link7,rotors,elastic; default all of them; none trusts the robot",
    )
    fit.add_argument("--prior", metavar="ROBOT", help="robot with the prior parameters, default the robot itself")
    fit.add_argument(
        "--friction",
        type=lambda text: _one_or_each(_names(text)),
        metavar="KINDS",
        help="identified friction in place of that of the robot's file: none, viscous, coulomb (with viscous), "
        "asymmetric, stribeck, or terms such as viscous+quadratic; one kind, or one for each joint",
    )
    fit.add_argument("--delta", type=float, metavar="SPEED", help="width of the smooth sign of --friction")
    fit.add_argument(
        "--sensors",
        type=_names,
        metavar="NAMES",
        help="unknown values of sensors, such as torque_delay,joint2.torque_gain",
    )
    fit.add_argument(
        "--calibration",
        nargs="+",
        default=[],
        type=argument(_calibration, "expected QUANTITY=NUMBERS, such as torque_gain=1,1.1"),
        metavar="QUANTITY=NUMBERS",
        help="known or initial values of sensors, such as torque_gain=1,1.1 torque_delay=0.004",
    )
    fit.add_argument("--longest-delay", type=float, metavar="S", help="bound of estimated delays, default 0.05")
    fit.add_argument("--weights", type=_NUMBERS, metavar="NUMBERS", help="1 / standard deviation of each joint's noise")
    fit.add_argument("--consistent", action="store_true", help="allow only physically consistent parameters")
    fit.add_argument(
        "--regularization", type=float, metavar="GAMMA",
        help="weight of the prior with --consistent: 1 / s^2 for a prior with relative error s, default 1",
    )  # fmt: skip
    fit.add_argument(
        "--no-offsets", action="store_false", dest="offsets", help="springs of elastic joints are relaxed at x = q"
    )
    fit.add_argument("--robust", action="store_true", help="give outliers less weight")
    fit.add_argument("--resample", type=float, metavar="HZ", help="resample logs whose instants are uneven")
    fit.add_argument("--threads", type=count, metavar="N", help="threads of a fit, default one per core")
    load = parser.add_argument_group("payload")
    load.add_argument("--loaded", nargs="+", default=[], metavar="LOG", help="logs with a payload")
    load.add_argument(
        "--link",
        type=lambda text: int(text) if text.isdigit() else text,
        help="number or name of the link that carries it, default the last",
    )
    body = "MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]]"
    load.add_argument("--payload", type=_NUMBERS, metavar=body, help="the payload, if known; default found from logs")
    load.add_argument(
        "--payload-prior", type=_NUMBERS, metavar=body, help="prior of an unknown one with --consistent, default a ball"
    )
    load.add_argument("--consistent-payload", action="store_true", help="allow only a payload that can exist")
    check = parser.add_argument_group("validation")
    check.add_argument(
        "--folds", type=count, metavar="K", help="folds of cross-validation; default one per log, at most 5"
    )
    check.add_argument("--no-folds", action="store_true", help="no cross-validation")
    check.add_argument("--held-out", nargs="+", default=[], metavar="LOG", help="logs that only validate")
    check.add_argument("--held-out-loaded", nargs="+", default=[], metavar="LOG", help="the same, with the payload")
    add_worker_options(check, "1, of several threads")
    result = parser.add_argument_group("results")
    result.add_argument("--report", type=Path, metavar="FILE.html", help="write a report with figures")
    result.add_argument("--output", type=Path, metavar="FILE", help="write the robot: .yaml, .urdf, .xml or .mjcf")
    result.add_argument("--lossy", action="store_true", help="write the robot even if the format cannot hold all of it")
    result.add_argument("--json", action="store_true", help="print JSON instead of tables")
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Identify, validate, print, and write what was asked for."""
    try:
        _run(arguments)
    except ThunderError as error:
        raise ThunderError(_with_options(str(error))) from error


def _with_options(message: str) -> str:
    message = message.replace(" of LogFile", "").replace("LogFile.describe", "--describe")
    message = re.sub(r"\b(unit|correct)=", r"--\1 ", message)
    message = re.sub(r"\b(longest|payload)_(delay|prior)\b", r"--\1-\2", message)
    return re.sub(r"\b(columns|rate|resample|consistent|robust)=(True)?", r"--\1", message)


def _run(arguments: argparse.Namespace) -> None:
    from ..identification import cross_validate, identify, write_report
    from ..identification.report import findings

    if arguments.describe:
        joints = None if arguments.robot is None else load_robot(arguments.robot, arguments).n
        print("\n\n".join(str(log.describe(joints)) for log in _logs(arguments.describe, arguments)))
        return
    if arguments.data is not None:
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        take(arguments, parser)
    _check(arguments)
    robot = load_robot(arguments.robot, arguments)
    _check_losses(robot, arguments)
    logs, held_out = _logs(arguments.logs, arguments), _logs(arguments.held_out, arguments)
    options = _options(robot, arguments)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            identification = identify(robot, logs, **options)
    finally:  # also where an error follows
        notes = list(dict.fromkeys(str(warning.message) for warning in caught))
        for note in notes:
            warnings.warn(_with_options(note), stacklevel=1)
    validation = None
    if not arguments.no_folds and len(logs) > 1:
        with chosen_workers(arguments, 1) as workers, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of all logs are shown
            validation = cross_validate(robot, logs, folds=arguments.folds, workers=workers, progress=True, **options)
    for doubt in findings(identification, validation):
        warnings.warn(_with_options(doubt), stacklevel=1)
    errors = {str(log.path): identification.errors(log) for log in held_out}
    for log in _logs(arguments.held_out_loaded, arguments):
        errors[str(log.path)] = identification.errors(log, loaded=True)
    _print(identification, validation, errors, arguments.json)
    written = sys.stderr if arguments.json else sys.stdout
    if arguments.report is not None:
        write_report(identification, arguments.report, logs=held_out, validation=validation, notes=notes)
        print(f"\nreport  {arguments.report}", file=written)
    if arguments.output is not None:
        identification.save(arguments.output, lossy=arguments.lossy)
        print(f"\nrobot   {arguments.output}", file=written)


def _columns(text: str) -> list[tuple[str, list[str]]]:
    """Read ``t=0,q=a,b``."""
    found: list[tuple[str, list[str]]] = []
    for part in text.split(","):
        signal, equals, name = part.partition("=")
        if equals:
            found.append((signal, []))
        if not found or not found[-1][0] or not (name if equals else part):
            raise ValueError
        found[-1][1].append(name if equals else part)
    return found


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be done, or validates nothing."""
    from ..io import SUFFIXES

    logs = [*arguments.logs, *arguments.loaded]
    for needed, given in (("a robot", arguments.robot), ("a log", logs), ("--cutoff", arguments.cutoff)):
        if not given:
            raise ThunderError(f"{needed} must be given; thunder identify --help has examples")
    if arguments.report is not None:
        check_target(arguments.report, "--report", (".html", ".htm"))
    if arguments.output is not None:
        check_target(arguments.output, "--output", SUFFIXES)
    if arguments.no_folds and arguments.folds is not None:
        raise ThunderError("--folds and --no-folds exclude each other")
    if arguments.folds is not None and len(arguments.logs) == 1:
        raise ThunderError("--folds must have several logs, got 1")
    if arguments.regularization is not None and not (arguments.consistent or arguments.consistent_payload):
        raise ThunderError("--regularization must come with --consistent")
    if not arguments.loaded:
        for name in ("link", "payload", "payload_prior", "held_out_loaded", "consistent_payload"):
            if getattr(arguments, name):
                raise ThunderError(f"--{name.replace('_', '-')} must come with --loaded")
    known: set[Path] = set()
    for path in (*logs, *arguments.held_out, *arguments.held_out_loaded):
        if Path(path).resolve() in known:
            raise ThunderError(f"each log must be given once, to fit or with --held-out, got {path!r} again")
        known.add(Path(path).resolve())


def _check_losses(robot: Robot, arguments: argparse.Namespace) -> None:
    """Refuse now a format that cannot hold what will be identified."""
    import numpy as np

    from ..identification.equations import friction_kinds, kind_terms
    from ..io import conversion_losses
    from ..robot import Friction

    if arguments.output is None or arguments.lossy:
        return
    friction, kinds = robot.description.friction, arguments.friction
    if kinds is not None:
        terms = {term for kind in friction_kinds(kinds, robot.n) for term in kind_terms(kind)}
        if not terms <= set(Friction.TERMS):
            raise ThunderError("--output: no file holds friction with directions or a Stribeck effect; --lossy helps")
        held = tuple(sorted(terms, key=Friction.TERMS.index))
        friction = Friction(terms=held, coefficients=np.ones((robot.n, len(held)))) if held else None
    if friction is not None:
        friction = dataclasses.replace(friction, coefficients=np.ones_like(friction.coefficients))
    robot = robot.replace(friction=friction)
    losses = conversion_losses(robot.description, arguments.output)
    if losses:
        raise ThunderError(
            f"--output: {arguments.output.suffix} cannot hold all of this robot: {'; '.join(losses)}; "
            "--lossy writes the rest"
        )


def _logs(paths: Sequence[str], arguments: argparse.Namespace) -> list[LogFile]:
    """Return files of logs, read with the options of the command line."""
    from ..identification import LogFile

    columns = {signal: names if len(names) > 1 else names[0] for given in arguments.columns for signal, names in given}
    names = (field.name for field in dataclasses.fields(LogFile) if field.name not in ("path", "columns"))
    options = {name: getattr(arguments, name) for name in names}
    return [LogFile(Path(path), columns=columns or None, **options) for path in paths]


def _options(robot: Robot, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `identify`, which has those of the command by the same names."""
    from ..identification import SensorCalibration, identify

    names = [name for name in inspect.signature(identify).parameters if name not in ("robot", "columns")]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name, None) not in (None, [])}
    if arguments.consistent_payload and not arguments.consistent:
        given["consistent"] = "payload"
    if "prior" in given:
        given["prior"] = load_robot(given["prior"], arguments)
    if "loaded" in given:
        given["loaded"] = _logs(given["loaded"], arguments)
    given |= {name: _body(given[name], name) for name in ("payload", "payload_prior") if name in given}
    if "calibration" in given:
        values: dict[str, Any] = {name: _one_or_each(numbers) for name, numbers in given["calibration"]}
        for name in values:
            known_name(name, SensorCalibration.QUANTITIES, "--calibration must name quantities, got")
        given["calibration"] = SensorCalibration(robot.n, **values)
    return given


def _body(numbers: list[float], name: str) -> Payload:
    """Return a payload with this mass, and where they are given its center and inertia."""
    import numpy as np

    from ..robot import Payload

    if len(numbers) not in (1, 4, 10):
        option = name.replace("_", "-")
        raise ThunderError(
            f"--{option} must be a mass, with a center or center and inertia, got {len(numbers)} numbers"
        )
    inertia = np.zeros((3, 3))
    if len(numbers) == 10:
        inertia[np.triu_indices(3)] = numbers[4:]
    return Payload(numbers[0], numbers[1:4] or (0.0, 0.0, 0.0), inertia + np.triu(inertia, 1).T)


def _print(
    identification: Identification,
    validation: CrossValidation | None,
    held_out: Mapping[str, Prediction],
    as_json: bool,
) -> None:
    """Print the parameters, and the errors on held-out logs."""
    if as_json:
        import json

        print(json.dumps(_document(identification, validation, held_out), indent=1))
        return
    print(identification.table())
    if validation is not None:
        print(f"\ncross-validation, {len(validation.fits)} folds\n{validation.table()}")
    for path, errors in held_out.items():
        print(f"\nheld-out log {path}\n{errors.table()}")


def _document(
    identification: Identification, validation: CrossValidation | None, held_out: Mapping[str, Prediction]
) -> dict[str, Any]:
    """Return the printed numbers as a dictionary; numbers that do not exist are None."""
    import numpy as np

    def plain(values: Any) -> list[float | None]:
        return [float(value) if np.isfinite(value) else None for value in values]

    document: dict[str, Any] = {
        "robot": identification.robot.name,
        "names": list(identification.base.names),
        "base_parameters": plain(identification.base_parameters),
        "standard_deviations": plain(identification.standard_deviations),
        "extra_names": list(identification.extra_names),
        "extra": plain(identification.extra),
        "extra_deviations": plain(identification.extra_deviations),
        "condition": identification.condition if np.isfinite(identification.condition) else None,
        "parameters": dict(
            zip(identification.robot.parameter_names, plain(identification.robot.parameters), strict=True)
        ),
        "residual_rms": plain(identification.residual_rms),
        "held_out": {
            path: {"rms": plain(errors.rms), "relative": plain(errors.relative)} for path, errors in held_out.items()
        },
    }
    if validation is not None:
        document["cross_validation"] = {
            "folds": len(validation.fits),
            "rms": plain(validation.error),
            "relative": plain(validation.relative),
        }
    return document
