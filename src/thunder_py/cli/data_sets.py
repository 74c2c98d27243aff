"""Public logs of real arms for ``thunder identify --data``: addresses, hashes, and the options that read them."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..errors import ThunderError
from ..recordings.downloads import Download, retrieve

__all__ = ["DATA_SETS", "DataSet", "loaded", "take"]

_RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class DataSet:
    """Logs of a real arm, and how they are read.

    Parameters
    ----------
    robot : Download, str or None
        File of the robot, name of a bundled one, or None if no address of its file is known.
    logs : tuple of tuple of Download
        The files of each log: one, or those of a folder with a file for each signal.
    options : str
        Options of ``thunder identify`` that read and filter them.
    source, license : str
        Who published them, and on what terms.
    known : str
        Hash of another file of the robot, which is used where it is there.
    loaded : tuple of Download
        Logs with a payload, which the command leaves out.

    Examples
    --------
    >>> from thunder_py.cli.data_sets import DATA_SETS, DataSet
    >>> found = DATA_SETS["panda-gaz"]
    >>> isinstance(found, DataSet), found.robot, len(found.logs), found.options
    (True, 'panda', 1, '--resample 1000 --cutoff 10 --friction coulomb')
    """

    robot: Download | str | None
    logs: tuple[tuple[Download, ...], ...]
    options: str
    source: str
    license: str
    known: str = ""
    loaded: tuple[Download, ...] = ()


def _file(address: str, file: str, sha256: str | None) -> Download:
    return Download(f"{_RAW}/{address}", file, sha256, "", "")


_PANDA = (
    "marcocognetti/FrankaEmikaPandaDynModel/44f1ec8a615555eb3469ca9b0abd31ef863872b5/matlab/data/Exciting_Traj/"
    "Trajectory_1/rbt_log/exciting_traj_"
)
_UR10E = "shamilmamedov/dynamic_calibration"
_XMATE = "NKU-ZiXuan/xMate7p_dyn_ident/49850a47dffb35da34bb27630cf7107ae6ce093a/data/recdata"
#: gains [N m/A] by which the UR10e's controller computes its target currents from its target torques, columns 19 to 31
_GAINS = "11.92,11.95,9.84,10.76,11.11,10.88"
_TX40 = "thanhndv212/figaroh-examples/541a2ec01529eef2dfbdd65bb768d2cfe5af1962/examples/staubli_tx40/data"
#: reductions of the TX40, whose sixth joint the fifth motor turns too, and the zeros of its file, after its example
_TX40_DRIVES = (
    "q1=q1/32,q2=q2/32-pi/2,q3=q3/45+pi/2,q4=-q4/48,q5=q5/45,q6=q6/32-q5/45,"
    "tau1=32*tau1,tau2=32*tau2,tau3=45*tau3,tau4=-48*tau4,tau5=45*tau5+32*tau6,tau6=32*tau6"
)
_FRICTION = "--friction coulomb"

#: public logs of real arms; the files at these addresses were compared with those that were used, except where
#: `docs/real_arms.md` says so
DATA_SETS: Mapping[str, DataSet] = MappingProxyType(
    {
        "panda-gaz": DataSet(
            robot="panda",
            logs=(
                tuple(
                    _file(f"{_PANDA}{signal}.txt", f"exciting_traj_{signal}.txt", sha256)
                    for signal, sha256 in (
                        ("time", "031063612f297011dc005ab29830903e36f4bfeba77bce59c0fbde13620fb20d"),
                        ("positions", "50bf82a082c439aff8220e8142985c8dd783f7ddc1415987cd75c9efb88bcf69"),
                        ("velocity", "3340f299e926c501b66d540fa461ea0a7184b8dda32e505ebed062db57860d49"),
                        ("torques", "11fda32785bb29ce444e14e0f45f4893aab7142dc6ee29576d828ab154852f9c"),
                    )
                ),
            ),
            options=f"--resample 1000 --cutoff 10 {_FRICTION}",
            source="Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, IEEE RA-L 4(4), 2019",
            license="none stated by the repository",
        ),
        "ur10e": DataSet(
            robot=_file(
                f"{_UR10E}/b382f14bc40c84e1e0114121b3a697504d7aa6a0/URe/urdf/ur10e.urdf",
                "ur10e.urdf",
                "0d2abc6ebc70725c691a35aa6c2d03fd6e8158017a1b7da7a10a3ef52de7b821",
            ),
            logs=(
                (
                    _file(
                        f"{_UR10E}/ded626374e0aafe008758e8f5d1b4570c196c759/data_ur10/identification_data/"
                        "ur-20_02_19_14harm50sec.csv",
                        "ur-20_02_19_14harm50sec.csv",
                        "cd503afc985c41a6ad8fbe47d443c961eadbde4822a87ff3e17adcb2a24fa103",
                    ),
                ),
                (
                    _file(
                        f"{_UR10E}/ded626374e0aafe008758e8f5d1b4570c196c759/data_ur10/identification_data/"
                        "ur-20_02_05-20sec_8harm.csv",
                        "ur-20_02_05-20sec_8harm.csv",
                        "5456696773b5e3e12510640aab6049c65f4259c99880951bd71e1c74f8cb44e5",
                    ),
                ),
                (
                    _file(
                        f"{_UR10E}/3afa267a6dca8a91a6938e878a32ca086c5cc606/data_ur10/ur-20_02_12-40sec_12harm.csv",
                        "ur-20_02_12-40sec_12harm.csv",
                        "1355f739afecc5a9330f906e0c403be0080407f5ce2c26652556fac5748c6236",
                    ),
                ),
            ),
            options=f"--columns t=0,q=1:7,tau=13:19 --gain {_GAINS} --resample 100 --cutoff 5 {_FRICTION}",
            loaded=(
                _file(
                    f"{_UR10E}/3afa267a6dca8a91a6938e878a32ca086c5cc606/data_ur10/ur-20_02_19_14harm50secLoad.csv",
                    "ur-20_02_19_14harm50secLoad.csv",
                    "e689a99e5ff00ac38d03a2b9302e77688de0db8388b1d9c0e6aad3f77962758c",
                ),
            ),
            source="Mamedov, Mikhel, Frontiers in Robotics and AI 7, 2020, doi:10.3389/frobt.2020.571574",
            license="none stated by the repository",
        ),
        "xmate7p": DataSet(
            robot=None,
            logs=tuple(
                (_file(f"{_XMATE}/{folder}xMate7p_traj{k}_results.csv", f"xMate7p_traj{k}_results.csv", sha256),)
                for k, folder, sha256 in (
                    (
                        1,
                        "50Hz%201%E5%91%A8%E6%9C%9F/",
                        "84bcef00b1410b98f962d6edf354e3aa5f11c43c9645b8b7bdfb8b4dad87d67f",
                    ),
                    (2, "", "9fe697240cc64a06306c12aaa36c21f51619facccc92d0b0de51d07519806dfc"),
                    (3, "", "b8cf0a91bf58d4afafa7a65c9e69c7916ad63759248ef60e477c59db1d0af5e6"),
                )
            ),
            options=f"--columns q=0:7,tau=21:28 --rate 50 --cutoff 5 {_FRICTION}",
            source="repository NKU-ZiXuan/xMate7p_dyn_ident, with the method of Sousa, Cortesão, IJRR 33(6), 2014",
            license="CC BY-NC-SA 4.0",
            known="74a9e96215e683c1c950c7aae1ac2aa774c21b1beb1553c9723e2fe251c3ea41",
        ),
        "ur10": DataSet(
            robot=_file(
                "Gepetto/example-robot-data/058b923dc2e7fdde1049e00f2e2aa9b95a659a64/robots/ur_description/urdf/"
                "ur10_robot.urdf",
                "ur10_robot.urdf",
                "16e4d9c85f01d2533fa219d28e2e5a2ce93836be7afaf243b46be4ba76e0d4ea",
            ),
            logs=(
                (
                    _file(
                        "unisa-acg/inverse-dynamics-solver/73217267f30e3aaba229b63233c8fdb628ba156b/"
                        "inverse_dynamics_interface_ur10/bagfiles/ur10_exciting_trajectory.db3",
                        "ur10_exciting_trajectory.db3",
                        "14244fc39e9b42047039824f3c20ab984f9d1b28d5a67e9415cc1b3cc0ac3369",
                    ),
                ),
            ),
            options=f"--resample 125 --cutoff 5 {_FRICTION}",
            source="Petrone, Ferrentino, Chiacchio, IEEE Trans. Industrial Informatics, doi:10.1109/TII.2025.3534415",
            license="BSD, as the packages of the repository say",
            known="6393afbdcde9785b090b0052788efb3bb40b9f2d6325e33592c732a516fe3a6a",
        ),
        "tx40": DataSet(
            robot=None,
            logs=(
                (
                    _file(f"{_TX40}/pos_read_data.csv", "pos_read_data.csv", None),
                    _file(f"{_TX40}/curr_data.csv", "curr_data.csv", None),
                ),
            ),
            options=f"--columns q=6:12,tau=0:6 --rate 5000 --correct {_TX40_DRIVES} --cutoff 20 {_FRICTION}",
            source="FIGAROH, repository thanhndv212/figaroh-examples, examples/staubli_tx40",
            license="Apache-2.0, as its files say",
        ),
    }
)


def take(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Put robot, logs and options of the data set `arguments.data` where the command line gives none.

    `parser` is one of the command.

    Files in `arguments.folder` are recognized by their hashes, whatever they are called; others are downloaded, to that
    folder or to the user's cache.

    Raises
    ------
    ThunderError
        If the command line names logs too, if a file cannot be fetched, or if no file of the robot is known.

    Examples
    --------
    >>> import argparse
    >>> from thunder_py.cli.data_sets import take
    >>> arguments = argparse.Namespace(data="ur10", folder=None, robot=None, logs=["run.csv"])
    >>> try:
    ...     take(arguments, argparse.ArgumentParser())
    ... except ValueError as error:
    ...     print(error)
    --data ur10 must come without logs, got run.csv
    """
    chosen: DataSet = DATA_SETS[arguments.data]
    if arguments.logs:
        raise ThunderError(f"--data {arguments.data} must come without logs, got {', '.join(map(str, arguments.logs))}")
    there = _there(arguments.folder)
    robot = arguments.robot or there.get(chosen.known) or chosen.robot
    if robot is None:
        raise ThunderError(
            f"a robot must be given with --data {arguments.data}, whose file has no known address: "
            f"thunder identify ROBOT.urdf --data {arguments.data}"
        )
    arguments.robot = str(_path(robot, there, arguments)) if isinstance(robot, Download) else str(robot)
    logs = [[_path(file, there, arguments) for file in files] for files in chosen.logs]
    arguments.logs = [str(files[0] if len(files) == 1 else files[0].parent) for files in logs]
    for name, value in vars(parser.parse_args(chosen.options.split())).items():
        if getattr(arguments, name, None) == parser.get_default(name):
            setattr(arguments, name, value)


def _there(folder: Path | None) -> dict[str, Path]:
    """Return the files of a folder by their hashes."""
    if folder is None:
        return {}
    if not folder.is_dir():
        raise ThunderError(f"--folder must be a folder, got {str(folder)!r}")
    kinds = (".csv", ".txt", ".db3", ".urdf")
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in kinds and path.is_file())
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in files}


def loaded(arguments: argparse.Namespace) -> list[Path]:
    """Return the paths of the logs with a payload of the data set `arguments.data`; see `take`."""
    there = _there(arguments.folder)
    return [_path(entry, there, arguments) for entry in DATA_SETS[arguments.data].loaded]


def _path(entry: Download, there: Mapping[str, Path], arguments: argparse.Namespace) -> Path:
    """Return the path of a file that is there, or of its download."""
    named = (path for path in there.values() if path.name == entry.file)
    found = next(named, None) if entry.sha256 is None else there.get(entry.sha256)
    if found is not None:
        return found
    if entry.sha256 is None:
        raise ThunderError(
            f"{entry.file}, whose hash is unknown, must be in --folder: get it from {entry.url}, which was not tried"
        )
    folder = arguments.folder
    if folder is None:
        from ..optional import require

        folder = Path(require("pooch", "motion").os_cache("thunder_py"))
    return retrieve(entry, folder=Path(folder, arguments.data))
