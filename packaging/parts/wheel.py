"""The wheel `lukasa`: the tree in its data folder, and the program as a script, so that pip, uv and pipx install it.

On Windows it is a Python package with the tree inside and a script that starts the program: tools copy a script there
instead of linking to it, and a copy of the program would not find PostgreSQL and the model beside it.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from . import ROOT, SUMMARY, homepage, version
from .registry import registry_name
from .tree import Tree
from .zip import entry_of

#: The Python package with the tree in the wheel for Windows.
WINDOWS_PACKAGE = "lukasa_program"


def platform_tag(tree: Tree) -> str:
    if not tree.target.is_linux:
        return tree.target.wheel
    major, minor = tree.glibc
    return f"manylinux_{major}_{minor}_{tree.target.wheel}"


def metadata() -> str:
    lines = [
        "Metadata-Version: 2.4",
        "Name: lukasa",
        f"Version: {version()}",
        f"Summary: {SUMMARY}",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Requires-Python: >=3.10",
        # `from lukasa import Lukasa` works after `pip install lukasa`, too.
        f"Requires-Dist: lukasa-client=={version()}",
        "Description-Content-Type: text/markdown",
    ]
    if address := homepage():
        lines.append(f"Project-URL: Repository, {address}")
    # The MCP registry accepts a package only if it names its entry there.
    mark = f"\n<!-- mcp-name: {registry_name()} -->\n"
    return "\n".join(lines) + "\n\n" + (ROOT / "packaging/README.pypi.md").read_text("utf-8") + mark


def place_in_wheel(tree: Tree, place: str) -> str:
    if tree.target.is_windows:
        return f"{WINDOWS_PACKAGE}/{place}"
    # An installer makes scripts executable and puts them on the PATH.
    inside = "scripts/lukasa" if place == tree.target.program else f"data/{place}"
    return f"lukasa-{version()}.data/{inside}"


def build_wheel(tree: Tree, out: Path) -> Path:
    name = f"lukasa-{version()}"
    tag = f"py3-none-{platform_tag(tree)}"
    path = out / f"{name}-{tag}.whl"
    record: list[str] = []

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=tree.deflate_level) as archive:

        def add(place: str, data: bytes, mode: int = 0o644) -> None:
            archive.writestr(entry_of(place, mode), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{place},sha256={digest},{len(data)}")

        for place, file in tree.files():
            add(place_in_wheel(tree, place), file.read_bytes(), file.stat().st_mode & 0o777)
        info = f"{name}.dist-info"
        if tree.target.is_windows:
            add(f"{WINDOWS_PACKAGE}/__init__.py", (ROOT / "packaging/windows/launcher.py").read_bytes())
            add(f"{info}/entry_points.txt", f"[console_scripts]\nlukasa = {WINDOWS_PACKAGE}:main\n".encode())
        add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: lukasa\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        record.append(f"{info}/RECORD,,")
        archive.writestr(entry_of(f"{info}/RECORD"), "\n".join(record) + "\n")
    return path


def build_client_wheel(out: Path) -> Path:
    """The wheel `lukasa-client`, by the build tool that its pyproject.toml pins."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--wheel-dir", str(out), str(ROOT / "clients/python")], check=True)
    return out / f"lukasa_client-{version()}-py3-none-any.whl"
