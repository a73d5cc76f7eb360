"""The tree with the licences of everything in it, as packages and images contain it."""

from __future__ import annotations

from pathlib import Path

from .components import Component, components
from .notices import notices
from .target import Target
from .tree import DOC, Tree, build_tree


def complete_tree(
    binary: Path, target: Target, model: Path, cache: Path, folder: Path, runner: list[str]
) -> tuple[Tree, list[Component]]:
    tree = build_tree(binary, target, model, cache, folder, runner)
    found = components(target)
    (tree.folder / DOC / "THIRD-PARTY.txt").write_text(notices(found), "utf-8")
    return tree, found
