"""The npm packages: `lukasa` with a small launcher, and one package per platform with the tree.

npm installs the platform package that fits as an optional dependency; there is no install script.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import ROOT, SUMMARY, homepage, version
from .registry import registry_name
from .tar import Entry, entry_of, write_tar
from .target import TARGETS
from .tree import Tree

#: Folders in clients/ with an npm package each; the others depend on the first.
CLIENTS = ("typescript", "ai-sdk", "elements")


def package_json(name: str, **more: object) -> bytes:
    content: dict[str, object] = {
        "name": name,
        "version": version(),
        "description": SUMMARY,
        "license": "Apache-2.0",
        **more,
    }
    content |= repository()
    return (json.dumps(content, indent=2) + "\n").encode()


def repository(folder: str | None = None) -> dict[str, object]:
    """The entry `repository`, without which `npm publish --provenance` refuses a package."""
    address = homepage()
    if not address:
        return {}
    return {"repository": {"type": "git", "url": f"git+{address}.git", **({"directory": folder} if folder else {})}}


def build_platform_package(tree: Tree, out: Path) -> Path:
    system, processor = tree.target.npm
    limits: dict[str, object] = {"os": [system], "cpu": [processor]}
    if tree.target.is_linux:
        limits["libc"] = ["glibc"]
    entries = [entry_of(f"package/{place}", file) for place, file in tree.files()]
    readme = f"The files of the package `lukasa` for {system} on {processor}. Install `lukasa` instead.\n"
    entries += [
        ("package/package.json", package_json(tree.target.npm_package, **limits), 0o644),
        ("package/README.md", readme.encode(), 0o644),
        entry_of("package/LICENSE", ROOT / "LICENSE"),
    ]
    return write_package(entries, out / f"{tree.target.npm_package}-{version()}.tgz", tree.deflate_level)


def build_main_package(out: Path) -> Path:
    more: dict[str, object] = {
        "bin": {"lukasa": "lukasa.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {target.npm_package: version() for target in TARGETS.values()},
    }
    # The MCP registry accepts a package only if it names its entry there.
    more["mcpName"] = registry_name()
    entries = [
        ("package/package.json", package_json("lukasa", **more), 0o644),
        ("package/lukasa.js", (ROOT / "packaging/npm/lukasa.js").read_bytes(), 0o755),
        ("package/README.md", (ROOT / "packaging/README.npm.md").read_bytes(), 0o644),
        entry_of("package/LICENSE", ROOT / "LICENSE"),
    ]
    return write_package(entries, out / f"lukasa-{version()}.tgz")


def build_client_packages(out: Path) -> list[Path]:
    """The packages of the clients, built in a copy of their folders."""
    written = []
    with tempfile.TemporaryDirectory() as scratch:
        clients = Path(scratch) / "clients"
        shutil.copytree(ROOT / "clients", clients, ignore=shutil.ignore_patterns("node_modules", "dist", "python"))
        # The AI SDK's client is compiled by the compiler of the first one.
        path = f"{clients}/typescript/node_modules/.bin{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path}
        for name in CLIENTS:
            run = {"cwd": clients / name, "check": True, "stdout": subprocess.DEVNULL, "env": environment}
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], **run)
            if name == "ai-sdk":
                # Its lock file has two versions of its peer `ai`; it is compiled with the newer one.
                (clients / name / "node_modules/ai").symlink_to("ai7")
            subprocess.run(["npm", "run", "--silent", "build"], **run)
            manifest = clients / name / "package.json"
            manifest.write_text(client_json(name, manifest.read_text("utf-8")), "utf-8")
            pack = ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", str(out.resolve())]
            subprocess.run(pack, **run)
            package = json.loads(manifest.read_text("utf-8"))
            written.append(out / f"{package['name']}-{package['version']}.tgz")
    return written


def client_json(name: str, text: str) -> str:
    """package.json of a client as it is packed."""
    return json.dumps({**json.loads(text), **repository(f"clients/{name}")}, indent=2) + "\n"


def write_package(entries: list[Entry], path: Path, level: int = 9) -> Path:
    with path.open("wb") as file, gzip.GzipFile("", "wb", level, file, mtime=0) as stream:
        # Registries read package.json first.
        write_tar(stream, sorted(entries, key=lambda entry: (entry[0] != "package/package.json", entry[0])))
    return path
