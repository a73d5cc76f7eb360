"""The archive for any system: the tree, on Unix with an installer that needs no root."""

from __future__ import annotations

import lzma
import zipfile
from pathlib import Path

from . import ROOT, PackagingError, version
from .tar import entry_of, write_tar
from .target import Target
from .tree import Tree
from .zip import entry_of as zip_entry_of


def archive_file_name(target: Target) -> str:
    return f"lukasa-{version()}-{target.name}.{'zip' if target.is_windows else 'tar.xz'}"


def build_archive(tree: Tree, out: Path) -> Path:
    name = f"lukasa-{version()}-{tree.target.name}"
    path = out / archive_file_name(tree.target)
    if tree.target.is_windows:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=tree.deflate_level) as archive:
            for place, file in [*tree.files(), ("LICENSE", ROOT / "LICENSE")]:
                archive.writestr(zip_entry_of(f"{name}/{place}"), file.read_bytes())
        return path
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
