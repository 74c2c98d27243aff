"""Public recordings: addresses, licenses, hashes and verified downloads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..optional import require

__all__ = ["REGISTRY", "Download", "fetch", "retrieve"]


@dataclass(frozen=True)
class Download:
    """A file available for download.

    Parameters
    ----------
    url : str
        Address.
    file : str
        Name on disk.
    sha256 : str or None
        Hash; None if unknown, and `fetch` then requires one.
    license, note : str
        Terms of use, and a description.

    Examples
    --------
    >>> from thunder_py.recordings.downloads import REGISTRY, Download
    >>> entry = REGISTRY["kinesis_rtg"]
    >>> entry.file, entry.license, isinstance(entry, Download)
    ('rtgData.txt', 'MIT (Carlo Campagnoli)', True)
    >>> [name for name, download in REGISTRY.items() if download.sha256 is None]
    ['culm', 'ulimb']
    """

    url: str
    file: str
    sha256: str | None
    license: str
    note: str


REGISTRY = MappingProxyType(
    {
        "culm": Download(
            url="https://physionet.org/content/culm/get-zip/1.0.0/",
            file="culm-1.0.0.zip",
            sha256=None,
            license="PhysioNet 'Database Open Access'; its page has the terms. Cite PhysioNet and Miranda et al., "
            "Sci Rep 8:12918 (2018), doi:10.1038/s41598-018-29470-y",
            note="Complex Upper-Limb Movements, 10 subjects, one marker on the hand, 120 Hz, meters; "
            "page https://physionet.org/content/culm/1.0.0/. The address of the archive is PhysioNet's usual form and "
            "was not tried",
        ),
        "kinesis_rtg": Download(
            url="https://raw.githubusercontent.com/ccamp83/kinesis/b01db2f/data/rtgData.txt",
            file="rtgData.txt",
            sha256="6d151dba1480a1e11a0c09fd0a71bd6485ea96cbcf8c8129393179b58aceb666",
            license="MIT (Carlo Campagnoli)",
            note="45 reach-to-grasp trials of one subject, index finger and thumb, 85 Hz nominal, millimeters",
        ),
        "ulimb": Download(
            url="https://dataverse.harvard.edu/api/access/dataset/:persistentId/?persistentId=doi:10.7910/DVN/FU3QZ9",
            file="ulimb.zip",
            sha256=None,
            license="see https://doi.org/10.7910/DVN/FU3QZ9. Cite Averta et al., GigaScience 10 (2021)",
            note="U-Limb, arm motions of 91 able-bodied and 65 post-stroke participants; page "
            "https://doi.org/10.7910/DVN/FU3QZ9, where single files can be chosen; all of it in one archive is large. "
            "The address is Dataverse's usual form and was not tried",
        ),
    }
)
_HASH = re.compile(r"(sha256:)?[0-9a-fA-F]{64}|sha1:[0-9a-fA-F]{40}|md5:[0-9a-fA-F]{32}")


def fetch(
    name: str, *, folder: str | Path | None = None, known_hash: str | None = None, progress: bool = False
) -> Path:
    """Download a file of `REGISTRY` unless it is on disk, check its hash, and return its path.

    Needs the package pooch (``pip install "thunder_py[motion]"``). The package downloads nothing without this call.

    Parameters
    ----------
    name : str
        A key of `REGISTRY`.
    folder : path-like, optional
        Target folder; by default the user's cache folder for thunder_py.
    known_hash : str, optional
        ``"sha256:..."``, ``"sha1:..."`` or ``"md5:..."``; required for entries without a hash. For entries with a hash
        it must be equal.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Path
        The file on disk.

    Raises
    ------
    UnknownNameError
        If `name` is not in `REGISTRY`.
    ThunderError
        If no hash is known, the hash differs, or the download fails.
    MissingExtraError
        Without pooch.

    Examples
    --------
    >>> from thunder_py.errors import UnknownNameError
    >>> from thunder_py.recordings.downloads import fetch
    >>> try:
    ...     fetch("kinesis")
    ... except UnknownNameError as error:
    ...     print(error)
    no download 'kinesis' among culm, kinesis_rtg, ulimb; did you mean 'kinesis_rtg'?
    """
    if not isinstance(name, str) or name not in REGISTRY:
        hint = nearest_hint(str(name), REGISTRY)
        raise UnknownNameError(f"no download {name!r} among {', '.join(REGISTRY)}{hint}")
    entry = REGISTRY[name]
    if known_hash is not None and not (isinstance(known_hash, str) and _HASH.fullmatch(known_hash)):
        text = "known_hash must be 'sha256:', 'sha1:' or 'md5:' and hexadecimal digits"
        raise ThunderError(f"{text}, got {known_hash!r}")
    given = (known_hash or "").lower().removeprefix("sha256:")
    if not given and entry.sha256 is None:
        text = (
            f"known_hash must be given for {name}, whose hash is unknown; pass known_hash='sha256:...' of the archive"
        )
        raise ThunderError(f"{text}. {entry.note}")
    if given and given != (entry.sha256 or given):
        raise ThunderError(f"known_hash of {name} must be sha256:{entry.sha256}, got {known_hash!r}")
    return retrieve(entry, folder=folder, known_hash=given or entry.sha256, progress=progress)


def retrieve(
    entry: Download, *, folder: str | Path | None = None, known_hash: str | None = None, progress: bool = False
) -> Path:
    """Download a file unless it is on disk, check its hash, and return its path; see `fetch`.

    Parameters
    ----------
    entry : Download
        The file.
    folder, progress
        As of `fetch`.
    known_hash : str, optional
        Its hash, by default that of `entry`.

    Raises
    ------
    ThunderError
        If the hash differs, or the download fails.
    MissingExtraError
        Without pooch.

    Examples
    --------
    >>> from thunder_py.recordings.downloads import REGISTRY, retrieve
    >>> path = retrieve(REGISTRY["kinesis_rtg"])  # doctest: +SKIP
    """
    pooch = require("pooch", "motion")
    target = pooch.os_cache("thunder_py") if folder is None else folder
    try:
        return Path(
            pooch.retrieve(entry.url, known_hash or entry.sha256, fname=entry.file, path=target, progressbar=progress)
        )
    except (OSError, ValueError) as error:
        raise ThunderError(f"{entry.file} could not be fetched from {entry.url}: {error}") from error
