"""What a package contains by other authors: crates, the console's npm packages, PostgreSQL, pgvector, the model.

Each component has its licence expression and the texts of its licence files.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import ROOT, PackagingError
from .target import Target
from .tree import model_hashes, pins

RUST_TARGETS = {
    "linux-x86_64": "x86_64-unknown-linux-gnu",
    "linux-aarch64": "aarch64-unknown-linux-gnu",
    "macos-arm64": "aarch64-apple-darwin",
    "macos-x86_64": "x86_64-apple-darwin",
    "windows-x86_64": "x86_64-pc-windows-gnu",
}
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
#: Folders whose locked packages are bundled into the program.
BUNDLED = ("web", "clients/elements")
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


@dataclass
class Component:
    name: str
    version: str
    licence: str
    #: The package URL, such as pkg:cargo/serde@1.0.0.
    purl: str
    authors: str = ""
    sha256: str | None = None
    sha512: str | None = None
    texts: list[str] = field(default_factory=list)


def licence_texts(folder: Path) -> list[str]:
    files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
    return [path.read_text("utf-8", errors="replace").strip() for path in files]


def crates(target: Target) -> list[Component]:
    """The crates that are linked into the program, or used by a macro in it, from Cargo's own resolution."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", RUST_TARGETS[target.name]]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    data = json.loads(shown)
    locked = (ROOT / "Cargo.lock").read_text("utf-8")
    checksums = {
        (name, version): checksum
        for name, version, checksum in re.findall(
            r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = [^\n]+\nchecksum = "(\w+)"', locked
        )
    }
    packages = {package["id"]: package for package in data["packages"]}
    found = []
    for identifier in linked(data):
        package = packages[identifier]
        if package["source"] is None:
            continue
        name, version = package["name"], package["version"]
        texts = licence_texts(Path(package["manifest_path"]).parent)
        # A crate may name a file instead of an expression.
        is_mit = any(text.startswith("MIT License") for text in texts)
        licence = (package["license"] or ("MIT" if is_mit else "")).replace("/", " OR ")
        found.append(
            Component(
                name,
                version,
                licence,
                f"pkg:cargo/{name}@{version}",
                ", ".join(re.sub(r"\s*<[^>]*>", "", author) for author in package["authors"]),
                sha256=checksums.get((name, version)),
                texts=texts,
            )
        )
    return sorted(found, key=lambda component: (component.name, component.version))


def linked(metadata: dict) -> set[str]:
    """The packages that `lukasa-server` reaches by dependencies that are not for tests or build scripts."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    [start] = [package["id"] for package in metadata["packages"] if package["name"] == "lukasa-server"]
    reached, left = set(), [start]
    while left:
        identifier = left.pop()
        if identifier in reached:
            continue
        reached.add(identifier)
        for dependency in nodes[identifier]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return reached


def console_packages() -> list[Component]:
    """The npm packages of the console and the panel, installed for their licence files, without scripts."""
    found: dict[tuple[str, str], Component] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for place in BUNDLED:
            folder = Path(scratch) / place
            folder.mkdir(parents=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(ROOT / place / name, folder / name)
            command = ["npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(command, cwd=folder, check=True)
            lock = json.loads((folder / "package-lock.json").read_text("utf-8"))
            for key, entry in lock["packages"].items():
                name = key.rpartition("node_modules/")[2]
                if not name or entry.get("dev") or entry.get("link") or not (folder / key).is_dir():
                    continue
                version = entry["version"]
                found[name, version] = Component(
                    name,
                    version,
                    entry.get("license", ""),
                    f"pkg:npm/{name.replace('@', '%40')}@{version}",
                    sha512=integrity_hex(entry.get("integrity", "")),
                    texts=licence_texts(folder / key),
                )
    return sorted(found.values(), key=lambda component: component.name)


def integrity_hex(integrity: str) -> str | None:
    kind, _, digest = integrity.partition("-")
    return base64.b64decode(digest).hex() if kind == "sha512" else None


def packed(target: Target) -> list[Component]:
    """PostgreSQL, pgvector and the model. PostgreSQL's licence is in the folder `postgresql` beside the notices."""
    pin = pins()["postgres"]
    beside = ["The text is in the folder postgresql beside this file, in THIRD_PARTY_NOTICES.md."]
    postgres, vector = pin["contains"]["postgresql"], pin["contains"]["pgvector"]
    model = model_hashes()["model.safetensors"]
    return [
        Component(
            pin["package"],
            pin["version"],
            "Apache-2.0",
            f"pkg:pypi/{pin['package']}@{pin['version']}",
            sha256=pin["sha256"][target.name],
            texts=["The text is in the folder postgresql beside this file, in LICENSE and NOTICE."],
        ),
        Component("postgresql", postgres, "PostgreSQL", f"pkg:generic/postgresql@{postgres}", texts=beside),
        Component("pgvector", vector, "PostgreSQL", f"pkg:github/pgvector/pgvector@v{vector}", texts=beside),
        Component(
            "potion-base-8M",
            "bf8b056651a2c21b8d2565580b8569da283cab23",
            "MIT",
            "pkg:huggingface/minishlab/potion-base-8M@bf8b056651a2c21b8d2565580b8569da283cab23",
            "MinishLab",
            sha256=model,
            texts=[f"Copyright (c) MinishLab\n\n{MIT}"],
        ),
    ]


def components(target: Target) -> list[Component]:
    found = packed(target) + crates(target) + console_packages()
    without = [component.name for component in found if not component.licence]
    if without:
        raise PackagingError(f"components without a licence: {', '.join(without)}")
    return found
