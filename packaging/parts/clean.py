"""Systems to try packages on: a fresh Debian in a chroot, or this system with an empty home and environment."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from . import PackagingError

#: A user of the chroot, and the one that replaces root on this system: PostgreSQL does not run as root.
USER, UNPRIVILEGED = 1000, 65534
FORBIDDEN = ("cargo", "rustc", "cc", "gcc", "postgres", "pg_ctl", "docker", "lukasa")


def enable_loopback() -> None:
    """A new network namespace has only 127.0.0.1, and that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running


class System(ABC):
    """A place where commands run with a given, otherwise empty environment."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self.packages = packages
        self.environment: dict[str, str] = {}

    def __enter__(self) -> System:
        for name in FORBIDDEN:
            if self.is_program(name):
                raise PackagingError(f"{name} is on the PATH, so the system is not a clean one")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    @abstractmethod
    def home(self) -> Path:
        """The home as this process sees it."""

    @abstractmethod
    def command(self, script: str, root: bool) -> list[str]:
        """The command that runs a shell script there."""

    @property
    @abstractmethod
    def package_folder(self) -> str:
        """The folder of the packages as commands see it."""

    def is_program(self, name: str) -> bool:
        return self.popen(f"command -v {name} >/dev/null").wait() == 0

    def popen(self, script: str, root: bool = False, **options: object) -> subprocess.Popen:
        command = self.command(script, root)
        return subprocess.Popen(command, start_new_session=True, text=True, **options)  # type: ignore[call-overload]

    def run(self, script: str, root: bool = False) -> str:
        """Runs a script and returns what it printed. It has to succeed."""
        process = self.popen(script, root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        printed, _ = process.communicate(timeout=300)
        if process.returncode != 0:
            raise PackagingError(f"`{script}` failed with {process.returncode}: {printed.strip()[-2000:]}")
        return printed

    def assignments(self, home: str, path: str) -> list[str]:
        values = {"HOME": home, "PATH": path, "LANG": "C.UTF-8", "TMPDIR": "/tmp", **self.environment}
        return ["env", "-i", *(f"{name}={value}" for name, value in values.items())]


class Here(System):
    """This system. It may have a compiler or PostgreSQL, but not on the PATH of the commands."""

    def __enter__(self) -> System:
        self.home.mkdir()
        if os.geteuid() == 0:
            os.chown(self.home, UNPRIVILEGED, UNPRIVILEGED)
        tools = self.folder / "tools"
        tools.mkdir()
        # Only what an installation needs, so that nothing else of this system is found.
        commands = "sh env tar xz unzip find mkdir rm rmdir dirname cat sed id readlink cp mv chmod uname getconf ps"
        for name in commands.split():
            for place in ("/usr/bin", "/bin"):
                if os.path.exists(f"{place}/{name}") and not (tools / name).exists():
                    (tools / name).symlink_to(f"{place}/{name}")
        return super().__enter__()

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def package_folder(self) -> str:
        return str(self.packages)

    def command(self, script: str, root: bool) -> list[str]:
        if root:
            raise PackagingError("root would change this system; use a clean Debian")
        path = f"{self.home}/.local/bin:{self.folder}/tools"
        account = [f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
        lowered = ["setpriv", *account] if os.geteuid() == 0 else []
        return [*lowered, *self.assignments(str(self.home), path), "sh", "-c", f"cd && {script}"]


class Debian(System):
    """A Debian system in a chroot, unchanged for the next try: what is written goes to a layer above it."""

    def __init__(self, folder: Path, packages: Path, base: Path) -> None:
        super().__init__(folder, packages)
        self.base = base
        self.root = folder / "root"

    def __enter__(self) -> System:
        for name in ("root", "changes", "work"):
            (self.folder / name).mkdir()
        layers = f"lowerdir={self.base},upperdir={self.folder}/changes,workdir={self.folder}/work"
        mount("-t", "overlay", "overlay", "-o", layers, str(self.root))
        mount("-t", "proc", "proc", str(self.root / "proc"))
        mount("--rbind", "/dev", str(self.root / "dev"))
        (self.root / "packages").mkdir()
        mount("--bind", "-o", "ro", str(self.packages), str(self.root / "packages"))
        self.home.mkdir(parents=True)
        os.chown(self.home, USER, USER)
        with (self.root / "etc/passwd").open("a") as accounts:
            accounts.write(f"tester:x:{USER}:{USER}::/srv/tester:/bin/sh\n")
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        for name in ("packages", "dev", "proc", ""):
            subprocess.run(["umount", "--recursive", "--lazy", str(self.root / name)], check=True)

    @property
    def home(self) -> Path:
        return self.root / "srv/tester"

    @property
    def package_folder(self) -> str:
        return "/packages"

    def command(self, script: str, root: bool) -> list[str]:
        account = "0:0" if root else f"{USER}:{USER}"
        path = "/srv/tester/.local/bin:/usr/local/bin:/usr/bin:/bin" + (":/usr/sbin:/sbin" if root else "")
        chroot = ["chroot", f"--userspec={account}", str(self.root)]
        return [*chroot, *self.assignments("/srv/tester", path), "sh", "-c", f"cd && {script}"]


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)
