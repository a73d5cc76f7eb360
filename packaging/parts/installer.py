"""What install.sh must do, tried on a small tree, and changes of it that these tries must notice."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

#: An account that neither installs nor exists on most systems.
FOREIGN = 61234
RUNS = "#!/bin/sh\necho lukasa {version}\n"
POSTGRES = "lib/lukasa/postgres"


class Place:
    """An unpacked archive and a prefix in a folder of their own."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder, self.script = folder, script
        self.prefix = folder / "prefix"
        folder.mkdir()

    def unpack(self, version: str = "1", program: str = RUNS) -> Path:
        base = self.folder / f"lukasa-{version}"
        for place, text in (
            ("bin/lukasa", program.format(version=version)),
            (f"{POSTGRES}/bin/postgres", version),
            (f"{POSTGRES}/only-in-{version}", version),
            ("share/lukasa/models/potion/config.json", version),
        ):
            path = base / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if "/bin/" in f"/{place}" else 0o644)
        (base / "install.sh").write_text(self.script)
        return base

    def install(self, base: Path | str, *more: str, **settings: str) -> subprocess.CompletedProcess:
        command = ["sh", f"{base}/install.sh", "--prefix", str(self.prefix), *more]
        return subprocess.run(
            command, cwd=self.folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=60
        )

    def installed(self) -> dict[str, str]:
        paths = [path for path in self.prefix.rglob("*") if path.is_file()]
        return {path.relative_to(self.prefix).as_posix(): path.read_text() for path in paths}


def existing_modes(place: Place) -> Iterator[str]:
    """A private folder of the user stays private."""
    base = place.unpack()
    for folder in ("share", "bin"):
        (place.prefix / folder).mkdir(parents=True)
        (place.prefix / folder).chmod(0o700)
    done = place.install(base)
    if done.returncode != 0:
        yield done.stderr
    for folder in ("share", "bin"):
        mode = (place.prefix / folder).stat().st_mode & 0o777
        if mode != 0o700:
            yield f"{folder} had mode 700 and has {mode:o}"


def owners(place: Place) -> Iterator[str]:
    """New files belong to the account that installs and not to the one that unpacked. Needs root."""
    base = place.unpack()
    for path in [base, *base.rglob("*")]:
        os.chown(path, FOREIGN, FOREIGN)
        # Unpacked with umask 077.
        path.chmod(path.stat().st_mode & 0o700)
    (place.prefix / "share").mkdir(parents=True)
    os.chown(place.prefix / "share", FOREIGN + 1, FOREIGN + 1)
    done = place.install(base)
    if done.returncode != 0:
        yield done.stderr
    for path in [place.prefix, *place.prefix.rglob("*")]:
        name = path.relative_to(place.prefix).as_posix()
        wanted = FOREIGN + 1 if name == "share" else 0
        if path.stat().st_uid != wanted:
            yield f"{name} belongs to {path.stat().st_uid}, not to {wanted}"
        if path.stat().st_mode & 0o044 != 0o044:
            yield f"{name} has mode {path.stat().st_mode & 0o777:o}: only root can read it"


def search_path(place: Place) -> Iterator[str]:
    """CDPATH does not lead to another folder of the same name."""
    base = place.unpack()
    shutil.copytree(base, place.folder / "other" / base.name)
    (place.folder / "other" / base.name / "bin/lukasa").write_text(RUNS.format(version="other"))
    done = place.install(base.name, CDPATH=str(place.folder / "other"))
    if done.returncode != 0 or "lukasa 1\n" not in done.stdout:
        yield f"with CDPATH: {done.returncode} {done.stdout}{done.stderr}"


def unusable_program(place: Place) -> Iterator[str]:
    """A program that cannot run here replaces nothing, and the message names processor and C library."""
    place.install(place.unpack("1"))
    before = place.installed()
    # No interpreter of that name, as on a system with another C library; then a program of another processor.
    for version, program in (("2", "#!/lib64/no-such-libc.so\n"), ("3", "\x7fELF\x02\x01")):
        done = place.install(place.unpack(version, program))
        if done.returncode == 0:
            yield f"version {version} cannot run and was installed"
        for word in ("nothing was changed", "This archive is for ", os.uname().machine, "C library: "):
            if word not in done.stderr:
                yield f"version {version}: `{word}` is not in the message: {done.stderr}"
    if place.installed() != before:
        yield "the working version was changed"


def incomplete_archive(place: Place) -> Iterator[str]:
    """An archive without a part replaces nothing."""
    place.install(place.unpack("1"))
    before = place.installed()
    for number, part in enumerate(("bin", "lib", "share")):
        base = place.unpack(f"{number + 2}")
        shutil.rmtree(base / part)
        done = place.install(base)
        if done.returncode == 0 or f"has no {part}" not in done.stderr:
            yield f"without {part}: {done.returncode} {done.stderr}"
    if place.installed() != before:
        yield "the working version was changed"


def upgrade(place: Place) -> Iterator[str]:
    """All files are the new version's, none of the old PostgreSQL remain, and no copy is left."""
    for version in ("1", "2"):
        done = place.install(place.unpack(version))
        if done.returncode != 0:
            yield done.stderr
    found = place.installed()
    if set(found.values()) - {"2", RUNS.format(version="2")}:
        yield f"files of the old version: {found}"
    wanted = {f"{POSTGRES}/bin/postgres", f"{POSTGRES}/only-in-2", "share/lukasa/models/potion/config.json"}
    wanted.add("bin/lukasa")
    if set(found) != wanted:
        yield f"there are {sorted(found)}"
    if left := [path.name for path in place.prefix.glob(".*")]:
        yield f"left: {left}"


def failed_copy(place: Place) -> Iterator[str]:
    """If the copy fails, the old version is complete and no part of the new one is there."""
    place.install(place.unpack("1"))
    before = place.installed()
    tools = place.folder / "tools"
    tools.mkdir()
    for tool in ("cp", "tar"):
        (tools / tool).write_text("#!/bin/sh\necho no space >&2\nexit 1\n")
        (tools / tool).chmod(0o755)
    done = place.install(place.unpack("2"), PATH=f"{tools}:{os.environ['PATH']}")
    if done.returncode == 0:
        yield "the copy failed, and the installer did not"
    if place.installed() != before:
        yield f"after a copy that failed: {sorted(place.installed())}"


def running_server(place: Place) -> Iterator[str]:
    """A server that runs from the prefix is named, and one that runs elsewhere is not."""
    place.install(place.unpack("1"))
    program = place.prefix / POSTGRES / "bin/postgres"
    other = place.folder / "postgres"
    for path in (program, other):
        path.unlink(missing_ok=True)
        shutil.copy(shutil.which("sleep"), path)
    for path, expected in ((other, False), (program, True)):
        process = subprocess.Popen([str(path), "60"])
        try:
            done = place.install(place.unpack("2"))
            uninstalled = place.install(place.unpack("2"), "--uninstall") if expected else done
        finally:
            process.kill()
            process.wait()
        for run in (done, uninstalled):
            if (f"processes: {process.pid})" in run.stderr) != expected:
                yield f"{path} runs as {process.pid}, and the message is: {run.stderr or run.stdout}"
        # The next round begins with a program again.
        place.install(place.unpack("1"))
        program.unlink()
        shutil.copy(shutil.which("sleep"), program)


Attempt = Callable[[Place], Iterator[str]]
#: Each attempt, with a line of install.sh and what it is replaced by for the fault that the attempt must notice.
TAR = '(cd "$here" && tar -cf - bin lib share) | (cd "$prefix" && tar -xf -)'
ATTEMPTS: list[tuple[Attempt, list[tuple[str, str]]]] = [
    (existing_modes, [('cp -R "$here/bin"', f'{TAR}; cp -R "$here/bin"')]),
    (owners, [
        ('cp -R "$here/bin"', f'{TAR}; cp -R "$here/bin"'), ("cp -R ", "cp -Rp "), ("go+rX,go-w", "go-w"),
    ]),
    (search_path, [("CDPATH='' cd -- \"$(dirname", 'cd -- "$(dirname')]),
    (unusable_program, [('if ! shown="$("$here/bin/lukasa" --version 2>&1)"', 'shown=; if false')]),
    (incomplete_archive, [("for part in bin/lukasa lib/lukasa/postgres share", "for part in bin/lukasa")]),
    (upgrade, [('then mv "$prefix/$postgres" "$staged/replaced"', 'then cp -R "$prefix/$postgres" "$staged/"'),
               ("trap clean EXIT\n", ""), ('mv -f "$staged/$file" "$prefix/$file"', ':')]),
    (failed_copy, [('mkdir -m 700 "$staged"', 'rm -f "$prefix/bin/lukasa"; mkdir -m 700 "$staged"')]),
    (running_server, [
        ("processes: ", "p: "), ("*) return 1 ;;", "*) ;;"), (' | "$prefix/.lukasa-install-"*', ""),
    ]),
]  # fmt: skip


def attempt_faults(attempt: Attempt, folder: Path, script: str) -> list[str]:
    return list(attempt(Place(folder, script)))
