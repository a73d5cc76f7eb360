"""The archive for any system: the tree with an installer that needs no root."""

from __future__ import annotations

import lzma
from pathlib import Path

from . import ROOT, version
from .tar import entry_of, write_tar
from .tree import Tree


def build_archive(tree: Tree, out: Path) -> Path:
    name = f"lukasa-{version()}-{tree.target.name}"
    path = out / f"{name}.tar.xz"
    entries = [entry_of(f"{name}/{place}", file) for place, file in tree.files()]
    installer = (ROOT / "packaging/install.sh").read_bytes()
    entries += [(f"{name}/install.sh", installer, 0o755), entry_of(f"{name}/LICENSE", ROOT / "LICENSE")]
    with lzma.open(path, "wb", preset=tree.xz_preset) as file:
        write_tar(file, sorted(entries))
    return path
