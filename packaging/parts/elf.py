"""What a 64-bit ELF file needs from the system: libraries, the version of the C library, and its search path."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

DYNAMIC, VERNEED, RPATH, RUNPATH, NEEDED = 6, 0x6FFFFFFE, 15, 29, 1


@dataclass
class Elf:
    needed: list[str] = field(default_factory=list)
    glibc: tuple[int, int] = (0, 0)
    #: The search path and its offset in the file; None if it has none.
    runpath: tuple[str, int] | None = None


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6) == b"\x7fELF\x02\x01"


def text_at(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def read_elf(data: bytes) -> Elf:
    """Reads the section headers, which `strip` keeps."""
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * n) for n in range(count)]
    elf = Elf()
    for _, kind, _, _, offset, length, link, info, _, _ in sections:
        if kind == DYNAMIC:
            strings = sections[link][4]
            for at in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == NEEDED:
                    elf.needed.append(text_at(data, strings + value))
                elif tag in (RPATH, RUNPATH):
                    elf.runpath = (text_at(data, strings + value), strings + value)
        elif kind == VERNEED:
            strings, at = sections[link][4], offset
            for _ in range(info):
                _, entries, _, first, following = struct.unpack_from("<HHIII", data, at)
                entry = at + first
                for _ in range(entries):
                    _, _, _, name, after = struct.unpack_from("<IHHII", data, entry)
                    elf.glibc = max(elf.glibc, glibc_version(text_at(data, strings + name)))
                    entry += after
                at += following
    return elf


def glibc_version(symbol: str) -> tuple[int, int]:
    """(2, 34) of `GLIBC_2.34`; (0, 0) of a version of another library."""
    parts = symbol.removeprefix("GLIBC_").split(".")
    if not symbol.startswith("GLIBC_") or not all(part.isdigit() for part in parts) or len(parts) < 2:
        return (0, 0)
    return int(parts[0]), int(parts[1])


def set_runpath(path: Path, runpath: str) -> None:
    """Replaces the search path of a file in place. The new one must not be longer."""
    data = bytearray(path.read_bytes())
    elf = read_elf(bytes(data))
    if elf.runpath is None:
        return
    old, offset = elf.runpath
    if len(runpath) > len(old.encode()):
        raise ValueError(f"{path}: {runpath} is longer than {old}")
    data[offset : offset + len(old.encode())] = runpath.encode().ljust(len(old.encode()), b"\0")
    path.write_bytes(data)
