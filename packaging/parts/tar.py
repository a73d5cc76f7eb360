"""Tar archives with the same bytes for the same input."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from . import build_time

#: Name, content, mode.
Entry = tuple[str, bytes, int]


def write_tar(file: io.BufferedIOBase, entries: Iterable[Entry], folders: bool = False) -> None:
    """Writes files in order. With `folders`, every folder before the first file in it, as dpkg wants it."""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        written: set[str] = set()
        for name, data, mode in entries:
            for parent in reversed(PurePosixPath(name).parents) if folders else ():
                folder = parent.as_posix()
                if folder not in written and folder != "":
                    written.add(folder)
                    archive.addfile(header(f"{folder}/" if folder != "." else "./", 0o755, tarfile.DIRTYPE))
            entry = header(name, mode, tarfile.REGTYPE)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def header(name: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.type, entry.mtime = mode, kind, build_time()
    entry.uname = entry.gname = "root"
    return entry


def entry_of(name: str, path: Path) -> Entry:
    return name, path.read_bytes(), path.stat().st_mode & 0o777
