"""The files of Debian packages that the container images begin with.

The packages are downloaded by the machine's own apt, which checks Debian's signatures and hashes, into a cache; nothing
is installed, no script of a package runs, and no root is needed.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import PackagingError
from .target import Target

SUITE = "trixie"
KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
#: Downloaded packages are used for a day, then asked for again, because of security updates. A test uses them longer.
MAX_AGE_SECONDS, MAX_TEST_AGE_SECONDS = 86_400, 60 * 86_400
LICENCE = r"usr/share/doc/[^/]+(/copyright)?"


@dataclass(frozen=True)
class Package:
    name: str
    #: A regular expression of the files to keep, besides the licence.
    keep: str


#: What the server needs: the C library with name resolution, time zones, and the certificates that it trusts.
SERVER = (
    Package("base-files", r"(bin|sbin|lib|lib64|etc/os-release|usr/lib/os-release|usr/share/common-licenses/.+)"),
    Package("libc6", r"usr/lib(64|/[^/]+)?/(ld-linux-[^/]+|lib(c|m|dl|rt|pthread|resolv|nss_dns|nss_files)\.so\.\d)"),
    Package("libgcc-s1", r"usr/lib/[^/]+/libgcc_s\.so\.1"),
    Package("gcc-14-base", r"$"),
    Package("tzdata", r"usr/share/zoneinfo/(?!right/|posix/).+"),
    Package("ca-certificates", r"usr/share/ca-certificates/mozilla/.+\.crt"),
)
#: What PostgreSQL needs besides: initdb starts programs by `sh`, and the server looks for processes with `readlink`.
DATABASE = (
    Package("libc-bin", r"usr/lib/locale/C\.utf8/.+"),
    Package("zlib1g", r"usr/lib/[^/]+/libz\.so\.1(\.[\d.]+)?"),
    Package("dash", r"usr/bin/(dash|sh)"),
    Package("coreutils", r"usr/bin/readlink"),
)


def fetch(target: Target, cache: Path, mirror: str | None, max_age: int = MAX_AGE_SECONDS) -> dict[str, Path]:
    """The packages of both lists by name, from the cache or from the mirror."""
    names = [package.name for package in SERVER + DATABASE]
    folder = cache / f"debian-{SUITE}-{target.deb}"
    index = folder / "packages.json"
    if index.exists() and time.time() - index.stat().st_mtime < max_age:
        found = json.loads(index.read_text("utf-8"))
        if sorted(found) == sorted(names) and all((folder / file).exists() for file in found.values()):
            return {name: folder / file for name, file in found.items()}
    if not shutil.which("apt-get"):
        raise PackagingError("the images are built from Debian packages, which needs apt-get")
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources").write_text(sources(mirror or machine_mirror()), "utf-8")
    options = {
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Dir::Etc::SourceList": folder / "sources",
        "Dir::Etc::SourceParts": folder / "none",
        "APT::Architecture": target.deb,
        "APT::Architectures": target.deb,
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": 3,
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    command = ["apt-get", "-qq", *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]
    for step in (["update"], ["download", *names]):
        done = subprocess.run([*command, *step], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise PackagingError(f"apt-get {step[0]} of Debian {SUITE} failed: {done.stderr.strip()[-1000:]}")
    files = {path.name.split("_")[0]: path.name for path in folder.glob("*.deb")}
    shutil.rmtree(folder / "lists")
    index.write_text(json.dumps(files, indent=1, sort_keys=True) + "\n", "utf-8")
    return {name: folder / files[name] for name in names}


def machine_mirror() -> str:
    """Where this machine gets its own Debian packages."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"]
    shown = subprocess.run(command, capture_output=True, text=True).stdout
    found = re.search(r"(?m)^Debian Debian (\S+)$", shown)
    if not found:
        raise PackagingError("this machine has no package lists of Debian: name a mirror with --mirror URL")
    return found[1]


def sources(mirror: str) -> str:
    """The lines for apt. A mirror has the security updates beside it, in debian-security."""
    keyrings = [path for name in KEYRINGS if (path := Path("/usr/share/keyrings") / name).exists()]
    if not keyrings:
        raise PackagingError("Debian's keys are missing; install the package debian-archive-keyring")
    mirror = mirror.rstrip("/")
    signed = f"[signed-by={keyrings[0]}]"
    return (
        f"deb {signed} {mirror} {SUITE} main\n"
        f"deb {signed} {mirror}-security {SUITE}-security main\n"
    )  # fmt: skip


def unpack(packages: tuple[Package, ...], files: dict[str, Path], folder: Path) -> None:
    """Writes the kept files, and the description of every package where scanners of images look for it."""
    for package in packages:
        wanted = re.compile(f"{package.keep}|{LICENCE}")
        kept = 0
        with tarfile.open(fileobj=io.BytesIO(run("--fsys-tarfile", files[package.name]))) as archive:
            for entry in archive:
                name = entry.name.removeprefix("./")
                if entry.isdir() or not wanted.fullmatch(name):
                    continue
                kept += 1
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if entry.issym():
                    path.symlink_to(entry.linkname)
                    continue
                content = archive.extractfile(entry)
                if content is None:
                    raise PackagingError(f"{package.name}: {name} is not a file")
                path.write_bytes(content.read())
                path.chmod(entry.mode & 0o755)
        if not kept:
            raise PackagingError(f"the package {package.name} has none of the files {package.keep}")
        status = folder / "var/lib/dpkg/status.d" / package.name
        status.parent.mkdir(parents=True, exist_ok=True)
        status.write_bytes(run("--field", files[package.name]))


def run(option: str, file: Path) -> bytes:
    done = subprocess.run(["dpkg-deb", option, os.fspath(file)], capture_output=True)
    if done.returncode != 0:
        raise PackagingError(f"dpkg-deb {option} {file.name}: {done.stderr.decode().strip()}")
    return done.stdout


def versions(folder: Path) -> dict[str, str]:
    """The packages in an unpacked folder with their versions."""
    found = {}
    for status in sorted((folder / "var/lib/dpkg/status.d").glob("*")):
        match = re.search(r"(?m)^Version: (\S+)$", status.read_text("utf-8"))
        found[status.name] = match[1] if match else ""
    return found
