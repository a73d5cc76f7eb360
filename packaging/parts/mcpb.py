"""The MCP bundle: the tree with a manifest, which Claude Desktop installs with a double click."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from . import ROOT, SUMMARY, homepage, version
from .tree import Tree
from .zip import entry_of

#: Where the tree is in the bundle.
FOLDER = "server"


def manifest(tree: Tree) -> dict[str, object]:
    program = f"{FOLDER}/{tree.target.program}"
    entry: dict[str, object] = {
        "manifest_version": "0.3",
        "name": "lukasa",
        "display_name": "Lukasa",
        "version": version(),
        "description": SUMMARY,
        "long_description": (
            "Lukasa remembers what you tell your assistants. Everything is stored on this computer. The server is "
            "started when an assistant needs it, and its console at http://127.0.0.1:7777 shows every memory, to read, "
            "correct, undo and erase."
        ),
        "author": {"name": "The Lukasa authors"},
        "icon": "icon.png",
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": {"command": "${__dirname}/" + program, "args": ["mcp"]},
        },
        # The server says which tools and prompts it has.
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": ["memory", "personal", "local"],
        "license": "Apache-2.0",
        "compatibility": {"platforms": [tree.target.npm[0]]},
    }
    if address := homepage():
        entry["repository"] = {"type": "git", "url": address}
        entry["documentation"] = f"{address}#readme"
    return entry


def build_bundle(tree: Tree, out: Path) -> Path:
    path = out / f"lukasa-{version()}-{tree.target.name}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=tree.deflate_level) as archive:

        def add(place: str, data: bytes, mode: int = 0o644) -> None:
            archive.writestr(entry_of(place, mode), data)

        add("manifest.json", (json.dumps(manifest(tree), indent=2) + "\n").encode())
        add("icon.png", (ROOT / "packaging/icon.png").read_bytes())
        add("LICENSE", (ROOT / "LICENSE").read_bytes())
        for place, file in tree.files():
            add(f"{FOLDER}/{place}", file.read_bytes(), file.stat().st_mode & 0o777)
    return path
