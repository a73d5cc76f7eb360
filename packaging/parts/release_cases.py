"""Tests of what a release checks and publishes; packaging/test runs them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import unittest.mock

from . import ROOT, PackagingError, tree, version
from .cases import HERE, Case, load
from .chart import build_chart, chart_faults
from .npm import CLIENTS, build_main_package, build_platform_package, client_json, write_package
from .target import TARGETS
from .unpublished import unpublished_sentences


class Release(Case):
    def test_release_refuses_missing_unknown_and_changed_files(self) -> None:
        release = load("release")
        packages = self.folder / "packages"
        packages.mkdir()
        names = [name.replace("*", "2_28") for name in release.expected()]
        files = [name for name in names if not name.startswith("SHA256SUMS")]
        for name in files:
            (packages / name).write_text(name)
        for name in set(names) - set(files):
            (packages / name).write_text("")
        sums = packages / "SHA256SUMS-shared"
        sums.write_text("".join(f"{tree.sha256(packages / name)}  {name}\n" for name in files))
        self.assertEqual(len(release.check_files(packages)), len(files))

        def refused(fault: str) -> None:
            with self.assertRaisesRegex(PackagingError, fault):
                release.check_files(packages)

        (packages / files[0]).write_text("changed")
        refused("another hash")
        (packages / files[0]).write_text(files[0])
        (packages / "core").write_text("")
        refused("not part of a release: core")
        (packages / "core").unlink()
        recorded = sums.read_text().splitlines(keepends=True)
        sums.write_text("".join(recorded[1:]))
        refused("without a recorded hash")
        sums.write_text("".join(recorded))
        (packages / files[-1]).unlink()
        refused("0 files are called")

    def test_release_lists_the_hash_of_every_file_that_is_published(self) -> None:
        release = load("release")
        packages = self.folder / "packages"
        packages.mkdir()
        names = [name.replace("*", "2_28") for name in release.expected()]
        files = [name for name in names if not name.startswith("SHA256SUMS")]
        for name in names:
            (packages / name).write_text(name if name in files else "")
        sums = "".join(f"{tree.sha256(packages / name)}  {name}\n" for name in files)
        (packages / "SHA256SUMS-shared").write_text(sums)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(release.main([str(packages)]), 0)
        listed = dict(line.split("  ")[::-1] for line in (packages / "SHA256SUMS").read_text().splitlines())
        published = {path.name for path in packages.iterdir() if path.is_file()} - {"SHA256SUMS"}
        self.assertEqual(set(listed), published)
        self.assertIn("server.json", listed)
        for name, digest in listed.items():
            self.assertEqual(tree.sha256(packages / name), digest)

    def test_release_refuses_another_version(self) -> None:
        check = load("release").check_version
        tag, log = f"v{version()}", f"# Changelog\n\n## {version()} (2026-01-01)\n"
        versions = f'version: {version()}\nappVersion: "{version()}"\n'
        check(None, "", "", ["README.md:33: not published"])
        check(tag, log, versions, [])
        for arguments, fault in (
            (("v9.9.9", log, versions, []), "the tag is v9.9.9"),
            ((tag, "## Unreleased\n", versions, []), "CHANGELOG.md has no section"),
            ((tag, log, versions.replace(f'"{version()}"', '"9.9.9"'), []), "appVersion is 9.9.9"),
            ((tag, log, f"version: 9.9.9\n{versions}".replace(f"\nversion: {version()}", ""), []), "version is 9.9.9"),
            ((tag, log, "", []), "appVersion is None"),
            ((tag, log, versions, ["README.md:33: not published"]), "wrong in a release:\n  README.md:33"),
        ):
            with self.assertRaisesRegex(PackagingError, fault):
                check(*arguments)

    def test_release_finds_sentences_of_an_unpublished_version(self) -> None:
        for text in (
            "**Version 0.1.0 is not published yet.**", "They are not published yet.", "It is not on npm yet.",
            "Neither is on PyPI yet: install it from a clone", "They are not on npm\nyet; with a clone",
            "- **No release.** Version 0.1.0", "Until the\nfirst release, install them", "Nothing has been released yet.",
            "deb (not published yet)", "<!-- not run: nothing is published yet -->", "It has not run yet: x",
            "The clients will be `lukasa-client` on PyPI", "- You want a published release, or Windows",
        ):  # fmt: skip
            self.assertTrue(unpublished_sentences("a.md", f"One line.\n{text}"), text)
            self.assertIn("a.md:2: ", unpublished_sentences("a.md", f"One line.\n{text}")[0])
        for text in (
            "Port 7777 is published on this machine only", "A release has `SHA256SUMS`", "not yet with ChatGPT itself",
            "From the first release on a migration runs", "Nothing was released under another name",
        ):
            self.assertEqual(unpublished_sentences("a.md", text), [], text)

    def test_npm_packages_name_the_repository_that_builds_them(self) -> None:
        release = load("release")
        packages = self.folder / "packages"
        packages.mkdir()
        with unittest.mock.patch.dict(os.environ, {"GITHUB_REPOSITORY": "Owner/lukasa"}):
            build_main_package(packages)
            build_platform_package(self.small_tree(), packages)
            build_chart(packages)
            for name in CLIENTS:
                text = (ROOT / f"clients/{name}/package.json").read_text("utf-8")
                content = json.loads(client_json(name, text))
                self.assertEqual(content["repository"]["directory"], f"clients/{name}")
                self.assertEqual({**content, "repository": None}, {**json.loads(text), "repository": None})
                entry = ("package/package.json", json.dumps(content).encode(), 0o644)
                write_package([entry], packages / f"{content['name']}-{version()}.tgz")
            self.assertEqual(len(release.npm_packages(packages)), 2 + len(CLIENTS))
            release.check_repository(packages)
            # As it is in the clone, without the address.
            wrong = [("package/package.json", text.encode(), 0o644)]
            write_package(wrong, packages / f"lukasa-client-{version()}.tgz")
            with self.assertRaisesRegex(PackagingError, "lukasa-client-.* has the repository None"):
                release.check_repository(packages)

    def test_publication_to_npm_can_be_repeated(self) -> None:
        folder, registry = self.folder / "npm", self.folder / "registry"
        folder.mkdir()
        registry.mkdir()
        for name, more in (("lukasa", {}), ("lukasa-ai-sdk", {"peerDependencies": {}}), ("lukasa-client", {}),
                           ("lukasa-linux-x64", {})):  # fmt: skip
            content = json.dumps({"name": name, "version": "1.0.0", **more}).encode()
            write_package([("package/package.json", content, 0o644)], folder / f"{name}-1.0.0.tgz")
        # A registry of files: `view` answers a hash, `publish` fails for the package in BROKEN.
        fake = self.folder / "tools/npm"
        fake.parent.mkdir()
        fake.write_text(
            f"#!{sys.executable}\nimport base64, hashlib, os, pathlib, sys\n"
            f"place = pathlib.Path({str(registry)!r})\n"
            "if sys.argv[1] == 'view':\n"
            "    entry = place / sys.argv[2]\n"
            "    print(entry.read_text() if entry.exists() else '')\n"
            "else:\n"
            "    path = pathlib.Path(sys.argv[-1])\n"
            "    name = path.name.removesuffix('.tgz').replace('-1.0.0', '@1.0.0')\n"
            "    if name == os.environ.get('BROKEN') or (place / name).exists(): sys.exit(1)\n"
            "    (place / name).write_text('sha512-'"
            " + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode())\n"
            "    with (place / 'order').open('a') as order: order.write(name + ' ')\n"
        )
        fake.chmod(0o755)

        def publish(**more: str) -> subprocess.CompletedProcess:
            environment = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}", **more}
            command = [sys.executable, str(HERE / "publish-npm"), str(folder)]
            return subprocess.run(command, env=environment, capture_output=True, text=True)

        self.assertEqual(publish(BROKEN="lukasa-linux-x64@1.0.0").returncode, 1)
        self.assertNotIn("lukasa@1.0.0", (registry / "order").read_text().split())
        again = publish()
        self.assertEqual((again.returncode, "lukasa-client 1.0.0 is published already" in again.stdout), (0, True))
        order = (registry / "order").read_text().split()
        self.assertEqual((sorted(order), order[-1]), (sorted(set(order)), "lukasa@1.0.0"))
        self.assertLess(order.index("lukasa-client@1.0.0"), order.index("lukasa-ai-sdk@1.0.0"))
        (registry / "lukasa-client@1.0.0").write_text("sha512-other")
        self.assertIn("another content", publish().stderr)

    def test_chart_has_the_version_and_is_reproducible(self) -> None:
        [path] = build_chart(self.folder)
        first = path.read_bytes()
        self.assertEqual(build_chart(self.folder)[0].read_bytes(), first)
        with tarfile.open(path) as archive:
            names = archive.getnames()
            self.assertEqual(chart_faults(archive.extractfile("lukasa/Chart.yaml").read().decode()), [])
        self.assertEqual(names[0], "lukasa/Chart.yaml")
        self.assertIn("lukasa/templates/deployment.yaml", names)

    def test_readme_has_every_name_on_npm(self) -> None:
        """They have to exist before the workflow may publish to them."""
        text = (HERE / "README.md").read_text("utf-8")
        clients = [json.loads((ROOT / f"clients/{name}/package.json").read_text("utf-8"))["name"] for name in CLIENTS]
        listed = re.search(r"for name in ([^;]+); do", text.replace("\\\n", ""))[1].split()
        self.assertEqual(sorted(listed), sorted(["lukasa", *clients, *(one.npm_package for one in TARGETS.values())]))
