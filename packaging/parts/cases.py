"""What the tests of packaging/ share: a folder for each test, a small tree, and the programs as modules."""

from __future__ import annotations

import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from . import ROOT, tree
from .target import TARGETS

HERE = ROOT / "packaging"


def load(name: str):
    loader = SourceFileLoader(name, str(HERE / name))
    module = module_from_spec(spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)

    def small_tree(self) -> tree.Tree:
        folder = self.folder / "tree"
        for place, mode in (
            ("bin/lukasa", 0o755),
            ("lib/lukasa/postgres/bin/postgres", 0o755),
            ("share/lukasa/models/potion/config.json", 0o644),
            ("share/man/man1/lukasa.1", 0o644),
        ):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(place)
            (folder / place).chmod(mode)
        return tree.Tree(folder, TARGETS["linux-x86_64"], (2, 31), fast=True)
