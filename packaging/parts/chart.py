"""The Helm chart as a file of a release."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from . import ROOT, PackagingError, version
from .tar import entry_of, write_tar

CHART = ROOT / "deploy/helm/lukasa"


def chart_name() -> str:
    return f"lukasa-chart-{version()}.tgz"


def chart_faults(text: str) -> list[str]:
    """The versions in Chart.yaml that are not the version of Lukasa."""
    found = dict(re.findall(r'(?m)^(version|appVersion): "?([^"\s]+)"?$', text))
    return [
        f"Chart.yaml: {name} is {found.get(name)}, and Cargo.toml says {version()}"
        for name in ("version", "appVersion")
        if found.get(name) != version()
    ]


def build_chart(out: Path) -> list[Path]:
    if faults := chart_faults((CHART / "Chart.yaml").read_text("utf-8")):
        raise PackagingError("; ".join(faults))
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    entries = [(f"lukasa/{path.relative_to(CHART).as_posix()}", path.read_bytes(), 0o644) for path in files]
    entries.append(entry_of("lukasa/LICENSE", ROOT / "LICENSE"))
    path = out / chart_name()
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as stream:
        # Helm reads Chart.yaml first.
        write_tar(stream, sorted(entries, key=lambda entry: (entry[0] != "lukasa/Chart.yaml", entry[0])))
    return [path]
