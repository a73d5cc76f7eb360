"""The platforms that packages are built for, and how each packager names them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from . import PackagingError
from .pe import pe_machine


@dataclass(frozen=True)
class Target:
    name: str
    #: The platform of wheels; for Linux only its last part, because the C library's version precedes it.
    wheel: str
    #: `os` and `cpu` of package.json.
    npm: tuple[str, str]
    #: The architecture of a Debian package, if there is one.
    deb: str | None = None

    @property
    def is_linux(self) -> bool:
        return self.name.startswith("linux-")

    @property
    def is_windows(self) -> bool:
        return self.name.startswith("windows-")

    @property
    def program(self) -> str:
        """Where the program is in the tree."""
        return "bin/lukasa.exe" if self.is_windows else "bin/lukasa"

    @property
    def npm_package(self) -> str:
        return f"lukasa-{self.npm[0]}-{self.npm[1]}"


TARGETS = {
    target.name: target
    for target in (
        Target("linux-x86_64", "x86_64", ("linux", "x64"), "amd64"),
        Target("linux-aarch64", "aarch64", ("linux", "arm64"), "arm64"),
        Target("macos-arm64", "macosx_11_0_arm64", ("darwin", "arm64")),
        Target("macos-x86_64", "macosx_11_0_x86_64", ("darwin", "x64")),
        Target("windows-x86_64", "win_amd64", ("win32", "x64")),
    )
}

ELF_MACHINES = {62: "linux-x86_64", 183: "linux-aarch64"}
MACH_O_MACHINES = {0x01000007: "macos-x86_64", 0x0100000C: "macos-arm64"}
PE_MACHINES = {0x8664: "windows-x86_64"}


def target_of(binary: Path) -> Target:
    """The platform that a program was built for, read from its header."""
    with binary.open("rb") as file:
        head = file.read(4096)
    name = None
    if head[:6] == b"\x7fELF\x02\x01":
        name = ELF_MACHINES.get(struct.unpack_from("<H", head, 18)[0])
    elif head[:4] == b"\xcf\xfa\xed\xfe":
        name = MACH_O_MACHINES.get(struct.unpack_from("<I", head, 4)[0])
    elif head[:2] == b"MZ" and (machine := pe_machine(head)) is not None:
        name = PE_MACHINES.get(machine)
    if name is None:
        raise PackagingError(f"{binary} is not a program for one of: {', '.join(TARGETS)}")
    return TARGETS[name]
