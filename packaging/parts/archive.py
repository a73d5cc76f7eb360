"""The archive for any system: the tree with an installer that needs no root."""

from __future__ import annotations

import lzma
from pathlib import Path

from . import ROOT, PackagingError, version
from .tar import entry_of, write_tar
from .tree import Tree


def build_archive(tree: Tree, out: Path) -> Path:
    name = f"lukasa-{version()}-{tree.target.name}"
    path = out / f"{name}.tar.xz"
    entries = [entry_of(f"{name}/{place}", file) for place, file in tree.files()]
    entries += [(f"{name}/install.sh", installer(tree), 0o755), entry_of(f"{name}/LICENSE", ROOT / "LICENSE")]
    with lzma.open(path, "wb", preset=tree.xz_preset) as file:
        write_tar(file, sorted(entries))
    return path


def installer(tree: Tree) -> bytes:
    """install.sh, which names what it was built for if the program does not run."""
    needs = f" with glibc {tree.glibc[0]}.{tree.glibc[1]} or later" if tree.target.is_linux else ""
    text = (ROOT / "packaging/install.sh").read_text("utf-8")
    marked = 'built_for="another system"'
    if text.count(marked) != 1:
        raise PackagingError(f"install.sh has no line {marked}")
    return text.replace(marked, f'built_for="{tree.target.name}{needs}"').encode()
